"""A group coordinator on a bench: topics from a dictionary, a log in memory, a clock moved by hand, clients as plain
calls.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, TypeVar

from pykclient.broker.authorizer import Authorizer
from pykclient.broker.classic_group import ClassicGroup
from pykclient.broker.group_access import GROUP_TOPIC
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_coordinator import GroupCoordinator
from pykclient.broker.group_shard import GroupShard
from pykclient.broker.group_topics import TopicInfo
from pykclient.broker.kip848_group import ConsumerGroup
from pykclient.broker.request import ANONYMOUS, Principal, RequestContext
from pykclient.net.completion import Completion
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey, api
from tests.unit.broker_fakes import FakeLog, FakeTimers

R = TypeVar("R")

GROUP = "g"


class FakeCatalog:
    """Topics by name and partition count."""

    def __init__(self, topics: dict[str, int]) -> None:
        self.topics: dict[str, TopicInfo] = {}
        for name, count in topics.items():
            self.put(name, count)

    def put(self, name: str, count: int) -> None:
        old = self.topics.get(name)
        topic_id = old.topic_id if old is not None else uuid.uuid5(uuid.NAMESPACE_URL, name)
        self.topics[name] = TopicInfo(name, topic_id, count)

    def topic(self, name: str) -> TopicInfo | None:
        return self.topics.get(name)

    def topic_by_id(self, topic_id: uuid.UUID) -> TopicInfo | None:
        return next((topic for topic in self.topics.values() if topic.topic_id == topic_id), None)

    def topic_names(self) -> Iterable[str]:
        return self.topics.keys()

    def id(self, name: str) -> uuid.UUID:
        return self.topics[name].topic_id


class GroupBench:
    def __init__(
        self,
        *,
        topics: dict[str, int] | None = None,
        config: GroupConfig | None = None,
        authorizer: Authorizer | None = None,
        log: FakeLog | None = None,
    ) -> None:
        self.log = log or FakeLog()
        self.timers = FakeTimers()
        self.catalog = FakeCatalog(topics if topics is not None else {"t": 4})
        self.config = config or GroupConfig(group_initial_rebalance_delay_ms=0, offsets_topic_num_partitions=1)
        self.authorizer = authorizer or Authorizer()
        self.principal: Principal = ANONYMOUS
        self._ids = 0
        self.epoch = 0
        self.coordinator = self.new_coordinator()
        self.elect()

    def _new_id(self) -> str:
        self._ids += 1
        return f"id{self._ids}"

    def new_coordinator(self) -> GroupCoordinator:
        return GroupCoordinator(
            log=self.log,
            timers=self.timers,
            catalog=self.catalog,
            authorizer=self.authorizer,
            new_id=self._new_id,
            config=self.config,
        )

    def elect(self) -> None:
        self.epoch += 1
        for partition in range(self.config.offsets_topic_num_partitions):
            self.coordinator.on_partition_elected(
                partition, self.epoch, now=self.timers.now, wall_ms=self.timers.wall_ms
            )

    def fail_over(self) -> None:
        """Another coordinator loads the log."""
        for partition in range(self.config.offsets_topic_num_partitions):
            self.coordinator.on_partition_resigned(partition)
        self.coordinator = self.new_coordinator()
        self.elect()

    def context(self, key: ApiKey, version: int | None, client_id: str = "c") -> RequestContext:
        return RequestContext(
            api_key=key,
            api_version=api(key).max_version if version is None else version,
            client_id=client_id,
            principal=self.principal,
            peer=Endpoint("127.0.0.1", 1),
            listener_name="PLAINTEXT",
            connection_id=1,
            now=self.timers.now,
            wall_ms=self.timers.wall_ms,
        )

    def send(self, request: Any, version: int | None = None, *, client_id: str = "c") -> Completion[Any]:
        """Through the wire form of the version and back, as a client's request comes."""
        key = ApiKey(request.API_KEY)
        context = self.context(key, version, client_id)
        decoded = type(request).read(bytes(request.write(context.api_version)), context.api_version)
        handler = getattr(self.coordinator, self.coordinator.HANDLERS[key])
        reply: Completion[Any] = handler(context, decoded)
        over_the_wire: Completion[Any] = Completion()

        def answer(done: Completion[Any]) -> None:
            if done.error is not None:
                over_the_wire.fail(done.error)
                return
            response = done.result()
            body = bytes(response.write(context.api_version))
            over_the_wire.succeed(type(response).read(body, context.api_version))

        reply.add_callback(answer)
        return over_the_wire

    def call(self, request: Any, version: int | None = None, *, client_id: str = "c") -> Any:
        """Send, and expect the answer at once."""
        reply = self.send(request, version, client_id=client_id)
        assert reply.done, "the answer is held"
        return reply.result()

    def shard(self, group_id: str = GROUP) -> GroupShard:
        return self.coordinator.runtime.shard(self.coordinator.partition_for(group_id))

    def classic(self, group_id: str = GROUP) -> ClassicGroup:
        group = self.shard(group_id).groups[group_id]
        assert isinstance(group, ClassicGroup)
        return group

    def consumer(self, group_id: str = GROUP) -> ConsumerGroup:
        group = self.shard(group_id).groups[group_id]
        assert isinstance(group, ConsumerGroup)
        return group

    def records(self) -> int:
        return len(self.log.records(GROUP_TOPIC, 0))
