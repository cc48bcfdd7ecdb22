"""The controller: the one owner of the cluster's metadata, and the only one that changes it.

It runs on the thread of the node that hosts it. A request comes as an operation (a pure function from the current
image to a Decision); its changes are journalled, applied and delivered to every node, and the reply goes out when
every live node has acknowledged the new image: who is told that a topic exists finds it on every broker. Nodes talk
to it through mailboxes only. It must never touch a node's state.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from pykclient.broker.config_changes import feature_defaults
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.image import NO_LEADER, Change, ControllerMoved, FeaturePut, MetadataImage, apply_changes
from pykclient.broker.journal import Journal
from pykclient.broker.topic_changes import Decision, Randomness, new_cluster_id
from pykclient.net.completion import Completion

R = TypeVar("R")
Deliver: TypeAlias = Callable[[MetadataImage], None]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ControllerState:
    """What an operation may look at: nothing here can be changed by it."""

    image: MetadataImage
    config: BrokerConfig
    rng: Randomness


Operation: TypeAlias = "Callable[[ControllerState], Decision[R]]"


@dataclass(slots=True)
class _Waiting:
    version: int
    release: Callable[[], None]


class Controller:
    """Commits decisions in order, one image version each."""

    def __init__(
        self, *, journal: Journal, config: BrokerConfig, rng: Randomness, cluster_id: str | None = None
    ) -> None:
        self._journal = journal
        self._config = config
        self._rng = rng
        changes = journal.load()
        if journal.cluster_id is None:
            journal.set_cluster_id(cluster_id or new_cluster_id(rng))
        assert journal.cluster_id is not None
        self.image = MetadataImage(cluster_id=journal.cluster_id)
        self._nodes: dict[int, Deliver] = {}
        self._acknowledged: dict[int, int] = {}
        self._waiting: list[_Waiting] = []
        if changes:
            self.image = without_leaders(apply_changes(self.image, changes))
        missing: list[Change] = [
            FeaturePut(name, level) for name, level in feature_defaults().items() if name not in self.image.features
        ]
        if missing:
            self._commit(missing)

    def host(self, node_id: int) -> None:
        """Say which node runs it from now on."""
        self._commit([ControllerMoved(node_id)])

    def attach(self, node_id: int, deliver: Deliver) -> None:
        """Deliver images to this node; the current one at once."""
        self._nodes[node_id] = deliver
        self._acknowledged[node_id] = 0
        deliver(self.image)

    def detach(self, node_id: int) -> None:
        """The node is gone: nobody waits for its acknowledgement any more."""
        self._nodes.pop(node_id, None)
        self._acknowledged.pop(node_id, None)
        self._release()

    def acknowledge(self, node_id: int, version: int) -> None:
        """The node works with this image."""
        if node_id in self._acknowledged:
            self._acknowledged[node_id] = version
            self._release()

    def run(self, operation: Operation[R]) -> Completion[R]:
        """Decide, commit, and complete when every live node knows."""
        completion: Completion[R] = Completion()
        decision = operation(ControllerState(self.image, self._config, self._rng))
        if decision.changes:
            self._commit(decision.changes)
        self._waiting.append(_Waiting(self.image.version, lambda: completion.succeed(decision.reply)))
        self._release()
        return completion

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    def _commit(self, changes: list[Change]) -> None:
        # The journal first: a change that was seen by a client must be found again after a crash.
        self._journal.append(changes)
        self.image = apply_changes(self.image, changes)
        logger.debug("metadata version %d: %d change(s)", self.image.version, len(changes))
        for deliver in list(self._nodes.values()):
            deliver(self.image)

    def _release(self) -> None:
        everywhere = min(self._acknowledged.values(), default=self.image.version)
        ready = [waiting for waiting in self._waiting if waiting.version <= everywhere]
        self._waiting = [waiting for waiting in self._waiting if waiting.version > everywhere]
        for waiting in ready:
            waiting.release()


def without_leaders(image: MetadataImage) -> MetadataImage:
    """The image as it is before any broker has registered: what the journal says about leaders is history."""
    topics = {
        name: replace(topic, partitions=tuple(replace(each, leader=NO_LEADER) for each in topic.partitions))
        for name, topic in image.topics.items()
    }
    return replace(image, topics=topics)


class ControllerLink:
    """How a node reaches the controller: messages there and back, whatever thread it runs on.

    ``to_controller`` and ``to_node`` are the two mailboxes' doors; each runs what it is given on its own thread.
    """

    def __init__(
        self,
        controller: Controller,
        to_controller: Callable[[Callable[[], None]], None],
        to_node: Callable[[Callable[[], None]], None],
    ) -> None:
        self._controller = controller
        self._to_controller = to_controller
        self._to_node = to_node

    def run(self, operation: Operation[R]) -> Completion[R]:
        """Run an operation on the controller; the completion is completed on the node's own thread."""
        completion: Completion[R] = Completion()

        def report(outcome: Completion[Any]) -> None:
            self._to_node(lambda: _copy(outcome, completion))

        def execute() -> None:
            try:
                pending = self._controller.run(operation)
            except Exception as error:  # the waiter must hear of it, whatever it is
                pending = Completion.failed(error)
            pending.add_callback(report)

        self._to_controller(execute)
        return completion


def _copy(source: Completion[R], target: Completion[R]) -> None:
    if source.error is not None:
        target.fail(source.error)
    else:
        target.succeed(source.result())
