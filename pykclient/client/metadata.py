"""What the cluster looks like, kept fresh: a manager that asks when a view is old, wanted or proven wrong.

Owns the current Cluster view, the topics of interest, who waits for them, and the way back to the bootstrap servers
when the known brokers are gone (KIP-899, KIP-1102). Runs on the reactor thread; ``cluster`` alone may be read from
any thread, as views never change. It must never mix two clusters, and never keep a caller waiting for a topic that
does not exist.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pykclient.client.cluster import (
    BROKERS_MAX,
    Cluster,
    LeaderHint,
    PartitionState,
    TopicState,
    is_final,
    merge,
    with_hints,
)
from pykclient.client.engine import Poll
from pykclient.errors import (
    BrokerError,
    KafkaError,
    KafkaTimeoutError,
    ProtocolError,
    RebootstrapRequired,
    UnknownTopicOrPartition,
    broker_error,
)
from pykclient.net.client_request import Request
from pykclient.net.completion import Completion
from pykclient.net.connection import Random
from pykclient.net.failures import ConnectTimedOut
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykclient.types import Node, TopicPartition

if TYPE_CHECKING:
    from pykclient.net.network_client import NetworkClient

logger = logging.getLogger(__name__)

JITTER = 0.2
# A broker that does not answer a metadata request for this long gets no second chance before another was asked. Its
# connection stays: it may only be busy with a large request that stands before ours.
ANSWER_PATIENCE_S = 2.0
# A topic that was just made may be unknown to some brokers for a moment; after this it counts as not there.
UNKNOWN_TOPIC_PATIENCE_S = 1.5


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    """In seconds; clients fill it from their configuration."""

    bootstrap: tuple[Endpoint, ...]
    max_age_s: float = 300.0
    topic_idle_s: float = math.inf
    """Forget a topic nobody asked for in this time (metadata.max.idle.ms of the producer)."""
    retry_backoff_s: float = 0.1
    retry_backoff_max_s: float = 1.0
    allow_auto_topic_creation: bool = True
    rebootstrap: bool = True
    """metadata.recovery.strategy."""
    rebootstrap_trigger_s: float = 300.0
    brokers_max: int = BROKERS_MAX
    bootstrap_patience_s: float = 3.0
    """While no broker was ever reached, waiters learn why after this long instead of at their own deadline."""


@dataclass(slots=True, eq=False)
class _Waiter:
    topics: frozenset[str]
    deadline: float
    update_count: int
    """Of the view when the wait began: only news count as "there is no such topic"."""
    wants_news: bool = False
    completion: Completion[Cluster] = field(default_factory=Completion)


class MetadataManager:
    """See the module."""

    def __init__(self, settings: MetadataSettings, network: NetworkClient, *, rng: Random) -> None:
        self.cluster = Cluster()
        """The current view; may be read from any thread."""
        self.listeners: list[Callable[[Cluster], None]] = []
        """Called on the reactor thread with every new view."""
        self.all_topics = False
        """Ask for every topic (a consumer that subscribes by pattern)."""
        self.last_error: Exception | None = None
        self.answered_by: str | None = None
        """Whose answer came last, as host:port."""
        self.unreachable: Exception | None = None
        """Why there is no cluster to talk to: set when no broker was ever reached and patience is over, or when we are
        refused for good. For those who wait for something else than metadata; any thread may read and clear it."""
        self._settings = settings
        self._network = network
        self._rng = rng
        # When each was last asked for; None until the next poll says what time it is.
        self._topics: dict[str, float | None] = {}
        self._waiters: list[_Waiter] = []
        self._unknown_since: dict[str, float] = {}
        self._wanted = True
        self._request: Request[MetadataResponse] | None = None
        self._asked_at = 0.0
        self._asked_all = False
        self._asked_topics: frozenset[str] = frozenset()
        self._avoid: set[int] = set()
        self._updated_at = -math.inf
        self._attempts = 0
        self._unsettled = 0
        self._attempts_since: float | None = None
        self._retry_at = -math.inf
        self._bootstrapping = True
        self._now = 0.0
        network.set_nodes(self._bootstrap_nodes())

    # ---- asking ----

    def request_update(self, topics: Iterable[str] = ()) -> None:
        """Something is stale: ask again, as soon as the back-off allows. Topics named are of interest from now on."""
        self.add_topics(topics)
        self._wanted = True

    def add_topics(self, topics: Iterable[str]) -> None:
        """Keep these fresh; unknown ones are asked for at once."""
        for topic in topics:
            if topic not in self._topics:
                self._wanted = True
                if not self._attempts:
                    self._retry_at = -math.inf  # The back-off is for questions that were answered, not for new ones.
            self._topics[topic] = None

    def set_topics(self, topics: Iterable[str]) -> None:
        """Keep these fresh and no others."""
        wanted = set(topics)
        for topic in list(self._topics):
            if topic not in wanted:
                del self._topics[topic]
        self.add_topics(wanted)

    def wait_for_topics(self, topics: Iterable[str], deadline: float) -> Completion[Cluster]:
        """Completes when all of them are known. Fails with the topic's error when it cannot be had, or
        KafkaTimeoutError."""
        waiter = _Waiter(frozenset(topics), deadline, self.cluster.update_count)
        self.add_topics(waiter.topics)
        if any(topic not in self.cluster.topics for topic in waiter.topics):
            self._wanted = True
        return self._wait(waiter)

    def wait_for_update(self, deadline: float) -> Completion[Cluster]:
        """Completes with the next answer, whatever it says."""
        self._wanted = True
        return self._wait(_Waiter(frozenset(), deadline, self.cluster.update_count, wants_news=True))

    def missing(self, topic_partition: TopicPartition, waited_s: float) -> BrokerError | None:
        """What the brokers say of a partition that is not there for us; None when it is, or when it may yet come: news
        of a topic take a moment to spread. Any thread."""
        cluster, (topic, partition) = self.cluster, topic_partition
        count, error = cluster.partition_count(topic), cluster.errors.get(topic)
        if count is not None:
            if cluster.partition(topic_partition) is not None:
                return None
            text = f"the topic has {count} partitions, numbered from 0; create more, or name one of these"
            error = UnknownTopicOrPartition(text, topic=topic, partition=partition, node=self.answered_by)
        if isinstance(error, UnknownTopicOrPartition) and waited_s < UNKNOWN_TOPIC_PATIENCE_S:
            return None
        return error if isinstance(error, UnknownTopicOrPartition) or (error and is_final(error)) else None

    def raise_if_missing(self, topic_partition: TopicPartition, waited_s: float) -> None:
        """What ``missing`` says, raised."""
        error = self.missing(topic_partition, waited_s)
        if error is not None:
            raise error

    def note_error(self, error: BaseException) -> None:
        """Some answer carried this error: act when it says that our view is wrong."""
        if isinstance(error, RebootstrapRequired):
            self._rebootstrap("a broker asked for it")
        else:
            self._wanted = True

    # ---- what others learned ----

    def apply(self, response: MetadataResponse, now: float, node: str | None) -> None:
        """An answer that somebody else got from ``node``, for some topics."""
        self._now = now
        self._take(response, keep=None, node=node)

    def apply_leader_hints(self, hints: Iterable[LeaderHint], nodes: Iterable[Node]) -> None:
        """Newer leaders that a broker mentioned (KIP-951)."""
        view = with_hints(self.cluster, hints, nodes)
        if view is not self.cluster:
            self._show(view)

    # ---- Manager ----

    def poll(self, now: float) -> Poll:
        """See Manager."""
        self._now = now
        self._forget_idle_topics(now)
        self._settle_waiters(now)
        if self._request is not None:
            overdue_at = self._asked_at + ANSWER_PATIENCE_S
            if now < overdue_at:
                return Poll(wake_at=min(overdue_at, self._next_deadline()))
            self._ask_elsewhere()
        due_at = self._due_at()
        if now < due_at:
            return Poll(wake_at=min(due_at, self._next_deadline()))
        request = self._ask(now)
        return Poll([request], min(now + ANSWER_PATIENCE_S, self._next_deadline()))

    def fail(self, error: BaseException) -> None:
        """See Manager."""
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.completion.fail(error)

    # ---- the request ----

    def _due_at(self) -> float:
        wanted = self._wanted or bool(self._waiters)
        due_at = -math.inf if wanted else self._updated_at + self._settings.max_age_s
        return max(due_at, self._retry_at)

    def _ask(self, now: float) -> Request[MetadataResponse]:
        self._wanted = False
        self._asked_at = now
        self._asked_all = self.all_topics
        self._asked_topics = frozenset(self._topics)
        if self._attempts_since is None:
            self._attempts_since = now
        names = None if self._asked_all else sorted(self._asked_topics)
        request = Request[MetadataResponse](
            api_key=ApiKey.METADATA,
            build=lambda version: self._message(names, version),
            tried=set(self._avoid) or None,
        )
        self._request = request
        request.completion.add_callback(lambda completion: self._answered(request, completion))
        return request

    def _message(self, names: list[str] | None, version: int) -> MetadataRequest:
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        if version == 0:
            topics = topics or []  # Before version 1 an empty list means all.
        message = MetadataRequest(topics=topics)
        if version >= 4:
            message.allow_auto_topic_creation = self._settings.allow_auto_topic_creation
        return message

    def _ask_elsewhere(self) -> None:
        request, self._request = self._request, None
        assert request is not None, "a request is under way"
        request.completion.withdraw()
        self._wanted = True
        if request.routed_to is not None:
            self._avoid.add(request.routed_to)
        if not self._avoid >= set(self._network.nodes):
            self._retry_at = self._now
            return
        endpoint = self._network.nodes.get(request.routed_to) if request.routed_to is not None else None
        self._attempt_failed(
            ConnectTimedOut(
                f"no answer within {ANSWER_PATIENCE_S:g} s; check firewalls and security_protocol",
                host=None if endpoint is None else endpoint.host,
                port=None if endpoint is None else endpoint.port,
            )
        )

    def _answered(self, request: Request[MetadataResponse], completion: Completion[MetadataResponse]) -> None:
        if self._request is not request:
            return
        self._request = None
        self._now = max(self._now, self._network.now)
        error = completion.error
        if error is None:
            keep = None if self._asked_all is not self.all_topics else self._topics.keys() - self._asked_topics
            self._take(
                completion.result(), keep=() if self._asked_all and self.all_topics else keep, node=request.address
            )
            if not self._attempts and not self._asked_all and self._topics.keys() - self._asked_topics:
                self._retry_at = -math.inf  # Asked for while the question was on its way: the answer is not about them.
        elif isinstance(error, KafkaError):
            self._attempt_failed(error)
        else:
            raise error

    def _take(self, response: MetadataResponse, *, keep: Iterable[str] | None, node: str | None) -> None:
        if response.error_code != 0:
            error = broker_error(response.error_code, api="Metadata", node=node)
            if isinstance(error, RebootstrapRequired) and self._settings.rebootstrap:
                self._rebootstrap("a broker asked for it")
            else:
                self._attempt_failed(error)
            return
        if not response.brokers:
            # A broker that has just started knows nobody yet.
            self._attempt_failed(ProtocolError("the broker knows of no brokers yet", api="Metadata", node=node))
            return
        known_id = self.cluster.cluster_id
        if known_id is not None and response.cluster_id is not None and response.cluster_id != known_id:
            logger.warning("the brokers now speak for cluster %s instead of %s", response.cluster_id, known_id)
            self._rebootstrap("the cluster id changed", forget=True)
            return
        try:
            view = merge(self.cluster, response, keep=keep, brokers_max=self._settings.brokers_max)
        except ProtocolError as error:
            self._attempt_failed(error)
            return
        for said in view.errors.values():
            said.node = said.node or node
        self.answered_by = node
        self._bootstrapping = False
        self._attempts = 0
        self._attempts_since = None
        self._updated_at = self._now
        self._avoid.clear()
        self.last_error = None
        self.unreachable = None
        self._note_unknown(view)
        self._show(view)

    def _note_unknown(self, view: Cluster) -> None:
        """Remember since when a topic is unknown; ask again soon when an error may pass or a partition has no
        leader."""
        unknown = {name for name, error in view.errors.items() if isinstance(error, UnknownTopicOrPartition)}
        self._unknown_since = {name: self._unknown_since.get(name, self._now) for name in unknown}
        passing = any(not is_final(error) and name not in unknown for name, error in view.errors.items())
        leaderless = any(
            partition.leader_id < 0
            for name in self._topics
            if name in view.topics
            for partition in view.topics[name].partitions.values()
        )
        self._retry_at = self._now + self._backoff_s(self._unsettled)
        self._unsettled = self._unsettled + 1 if passing or leaderless else 0
        if self._unsettled:
            self._wanted = True

    def _show(self, view: Cluster) -> None:
        self.cluster = view
        endpoints = view.endpoints()
        if endpoints != self._network.nodes:
            self._network.set_nodes(endpoints)
        for listener in self.listeners:
            listener(view)
        self._settle_waiters(self._now)

    # ---- failures ----

    def _attempt_failed(self, error: Exception) -> None:
        settings = self._settings
        self.last_error = error
        # Those passed over for being slow are asked again: the rest did no better, and may all be gone.
        self._avoid.clear()
        self._retry_at = self._now + self._backoff_s(self._attempts)
        self._attempts += 1
        since = self._now if self._attempts_since is None else self._attempts_since
        self._attempts_since = since
        if getattr(error, "fatal", False):
            # Wrong credentials do not get better by repetition; the next one who asks starts a new attempt.
            self._retry_at = max(self._retry_at, self._now + settings.retry_backoff_max_s)
            self._updated_at = self._now
            self._tell(error)
            return
        self._wanted = True
        if self._bootstrapping:
            if self._now - since >= settings.bootstrap_patience_s:
                self._tell(error)
            return
        # Not merely that no connection is open now: each known broker must have been tried in vain, or we would forget
        # brokers that are well and fall back on bootstrap servers that may be long gone.
        nobody = all(
            not self._network.connected(node_id) and self._network.connection_error(node_id) is not None
            for node_id in self._network.nodes
        )
        if settings.rebootstrap and (nobody or self._now - since >= settings.rebootstrap_trigger_s):
            self._rebootstrap("no known broker answers")

    def _tell(self, error: Exception) -> None:
        # A cluster that was there and is gone comes back: that is no reason to stop a consumer that could wait.
        if getattr(error, "fatal", False) or not self.cluster.update_count:
            self.unreachable = error
        self.fail(error)

    def _backoff_s(self, attempts: int) -> float:
        settings = self._settings
        backoff_s = min(settings.retry_backoff_s * 2.0 ** min(attempts, 16), settings.retry_backoff_max_s)
        return backoff_s * (1 + JITTER * self._rng.random())

    def _rebootstrap(self, why: str, *, forget: bool = False) -> None:
        logger.warning("starting again from the bootstrap servers: %s", why)
        for node_id in list(self._network.nodes):
            self._network.disconnect(node_id, f"starting again from the bootstrap servers: {why}")
        self._bootstrapping = True
        self._wanted = True
        self._avoid.clear()
        self._attempts_since = None
        if self._request is not None:
            self._request.completion.withdraw()
            self._request = None
        # What is known of topics stays, so that epochs do not go back; without brokers none of it has a leader.
        known = self.cluster
        self.cluster = (
            Cluster(update_count=known.update_count)
            if forget
            else replace(known, brokers=MappingProxyType({}), controller_id=None)
        )
        self._network.set_nodes(self._bootstrap_nodes())
        for listener in self.listeners:
            listener(self.cluster)

    def _bootstrap_nodes(self) -> dict[int, Endpoint]:
        # Negative ids, as in Java: no broker has them, so a request for "node 0" can never reach a bootstrap server.
        return {-1 - index: endpoint for index, endpoint in enumerate(self._settings.bootstrap)}

    # ---- waiters and topics ----

    def _wait(self, waiter: _Waiter) -> Completion[Cluster]:
        waiter.completion.on_withdraw = lambda: self._waiters.remove(waiter)
        self._waiters.append(waiter)
        self._settle(waiter, self._now)
        return waiter.completion

    def _settle_waiters(self, now: float) -> None:
        for waiter in list(self._waiters):
            self._settle(waiter, now)

    def _settle(self, waiter: _Waiter, now: float) -> None:
        outcome = self._outcome(waiter, now)
        if outcome is None or waiter not in self._waiters:
            return
        self._waiters.remove(waiter)
        if isinstance(outcome, Cluster):
            waiter.completion.succeed(outcome)
        else:
            waiter.completion.fail(outcome)

    def _outcome(self, waiter: _Waiter, now: float) -> Cluster | Exception | None:
        cluster = self.cluster
        missing = [topic for topic in waiter.topics if topic not in cluster.topics]
        has_news = cluster.update_count > waiter.update_count
        if not missing and cluster.brokers and (has_news or not waiter.wants_news):
            return cluster
        for topic in missing if has_news else ():
            error = cluster.errors.get(topic)
            since = self._unknown_since.get(topic)
            if error is not None and (
                is_final(error) or (since is not None and now - since >= UNKNOWN_TOPIC_PATIENCE_S)
            ):
                return error
        if now >= waiter.deadline:
            what = f"topic {', '.join(sorted(missing))}" if missing else "the cluster"
            timeout = KafkaTimeoutError(f"no metadata of {what} in time{self._because()}")
            timeout.__cause__ = self.last_error
            return timeout
        return None

    def _because(self) -> str:
        return "" if self.last_error is None else f"; last problem: {self.last_error}"

    def _next_deadline(self) -> float:
        wake_at = min((waiter.deadline for waiter in self._waiters), default=math.inf)
        if self._waiters and self._unknown_since:
            wake_at = min(wake_at, min(self._unknown_since.values()) + UNKNOWN_TOPIC_PATIENCE_S)
        return max(wake_at, self._now)

    def _forget_idle_topics(self, now: float) -> None:
        if self._settings.topic_idle_s == math.inf:
            return
        waited_for = {topic for waiter in self._waiters for topic in waiter.topics}
        for topic, used_at in list(self._topics.items()):
            if used_at is None or topic in waited_for:
                self._topics[topic] = now
            elif now - used_at >= self._settings.topic_idle_s:
                del self._topics[topic]


__all__ = ["Cluster", "LeaderHint", "MetadataManager", "MetadataSettings", "PartitionState", "TopicState"]
