"""The rooms of one node put together: who is given what, and who is told when the metadata changes.

Runs on the node's thread (but for ``assemble``, which runs before it starts). Nothing is decided here; it must
never reach into a room's state beyond what the room offers.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pykclient.broker.cluster_info import ClusterInfo
from pykclient.broker.config_keys import TOPIC_KEYS, ConfigSource
from pykclient.broker.configs import broker_layers, resolve
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_coordinator import GroupCoordinator
from pykclient.broker.group_topics import ImageCatalog
from pykclient.broker.image import MetadataImage, TopicImage
from pykclient.broker.log import Log
from pykclient.broker.log_config import LogConfig
from pykclient.broker.node_view import BROKER_PRINCIPAL, then
from pykclient.broker.producer_ids import ProducerIdAllocator
from pykclient.broker.replica_manager import LeadershipChange, ReplicaConfig, ReplicaManager
from pykclient.broker.request import RequestContext
from pykclient.broker.security import SecurityAdmin
from pykclient.broker.server import BrokerNode, Room
from pykclient.broker.settings import Settings
from pykclient.broker.storage import Storage
from pykclient.broker.topic_changes import GROUP_TOPIC, TRANSACTION_TOPIC, Randomness, allocate_producer_ids
from pykclient.broker.topics import Topics
from pykclient.broker.transaction_shard import TransactionConfig
from pykclient.broker.transactions import TransactionCoordinator
from pykclient.errors import BrokerNotAvailable, ErrorCode, NotLeaderOrFollower
from pykclient.net.completion import Completion
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from pykclient.protocol.messages.write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from pykclient.types import TopicPartition

HOUSEKEEPING_S = 1.0
HANDLER_TABLES: tuple[Mapping[ApiKey, str], ...] = (
    ReplicaManager.HANDLERS,
    GroupCoordinator.HANDLERS,
    TransactionCoordinator.HANDLERS,
    Topics.HANDLERS,
    ClusterInfo.HANDLERS,
    Settings.HANDLERS,
    SecurityAdmin.HANDLERS,
)
"""What the rooms in ``Rooms.all`` answer, for the documentation."""


class CallPeer(Protocol):
    """Sends bytes to another node and calls back on this node's thread; see ``Cluster``."""

    def __call__(
        self, node_id: int, api_key: ApiKey, version: int, body: bytes, done: Callable[[Completion[Any]], None]
    ) -> None: ...


@dataclass(slots=True)
class MovedLog:
    """A partition on its way to another node: its files, and where it starts."""

    files: Mapping[str, bytes]
    log_start_offset: int


class Rooms:
    """The rooms of a node."""

    def __init__(
        self,
        node: BrokerNode,
        replicas: ReplicaManager,
        groups: GroupCoordinator,
        transactions: TransactionCoordinator,
        config_cache: LogConfigs,
    ) -> None:
        self.node = node
        self.replicas = replicas
        self.groups = groups
        self.transactions = transactions
        self.all: list[Room] = [
            replicas, groups, transactions, Topics(node), ClusterInfo(node), Settings(node), SecurityAdmin(node),
        ]  # fmt: skip
        self._log_configs = config_cache
        self._log_starts: dict[TopicPartition, int] = {}
        node.timers.schedule("housekeeping", HOUSEKEEPING_S, self._housekeeping)

    def take_image(self, image: MetadataImage) -> None:
        """Follow the metadata: first the partitions, then those who live in them."""
        node = self.node
        old = node.image
        now, wall_ms = node.clock.now(), node.clock.wall_ms()
        node.take_image(image)
        if old.topics == image.topics and old.broker_configs == image.broker_configs:
            return
        self._log_configs.refresh(image)
        changes = self.replicas.apply_image(image, now=now, wall_ms=wall_ms)
        for key, offset in list(self._log_starts.items()):
            partition = self.replicas.find(key)
            if partition is not None:
                partition.log.delete_records_before(offset)
                del self._log_starts[key]
        for change in changes:
            self._lead_or_not(change, now, wall_ms)
        deleted = old.topics.keys() - image.topics.keys()
        self.groups.on_topics_changed(now=now, wall_ms=wall_ms, deleted=deleted)

    def _lead_or_not(self, change: LeadershipChange, now: float, wall_ms: int) -> None:
        if change.topic == GROUP_TOPIC:
            if change.leads:
                self.groups.on_partition_elected(change.partition, change.leader_epoch, now=now, wall_ms=wall_ms)
            else:
                self.groups.on_partition_resigned(change.partition)
        elif change.topic == TRANSACTION_TOPIC:
            if change.leads:
                self.transactions.elect(change.partition, change.leader_epoch, now=now, wall_ms=wall_ms)
            else:
                self.transactions.resign(change.partition)

    def _housekeeping(self, now: float) -> None:
        self.replicas.housekeeping(now, self.node.clock.wall_ms())
        self.node.timers.schedule("housekeeping", HOUSEKEEPING_S, self._housekeeping)

    def close(self, wall_ms: int) -> None:
        """Answer whoever waits, flush and close the logs."""
        self.groups.runtime.resign_all()
        self.transactions.runtime.resign_all()
        self.replicas.close(wall_ms)

    # ---- between nodes ----

    def answer_peer(self, api_key: ApiKey, version: int, body: bytes) -> Completion[Any]:
        """Answer another broker, with the handler that clients get too."""
        node = self.node
        message = api(api_key).request_class().read(body, version)
        context = RequestContext(
            api_key=api_key,
            api_version=version,
            client_id="broker",
            principal=BROKER_PRINCIPAL,
            peer=Endpoint("127.0.0.1", 0),
            listener_name=next(iter(node.endpoints), "PLAINTEXT"),
            connection_id=-1,
            now=node.clock.now(),
            wall_ms=node.clock.wall_ms(),
        )
        answer = node.handle(context, message)
        return answer if isinstance(answer, Completion) else Completion.of(answer)

    # ---- moving a partition ----

    def log_of(self, topic: str, partition: int) -> Log:
        """The log of a partition that lives here."""
        return self.replicas.hosted(TopicPartition(topic, partition)).log

    def hand_over(self, topic: str, partition: int) -> MovedLog:
        """Stop leading and give the log away. Until the image says who leads, clients are told to look again."""
        key = TopicPartition(topic, partition)
        hosted = self.replicas.hosted(key)
        if not hosted.stop_leading(hosted.leader_epoch):
            raise NotLeaderOrFollower(f"{key} is not led here")
        self.replicas.changed(hosted)
        now, wall_ms = self.node.clock.now(), self.node.clock.wall_ms()
        self._lead_or_not(LeadershipChange(topic, partition, hosted.leader_epoch, False), now, wall_ms)
        hosted.log.close(wall_ms)
        directory = self.replicas.storage.directory(str(key))
        files = {name: directory.read_all(name) or b"" for name in directory.file_names()}
        return MovedLog(files, hosted.log.log_start_offset)

    def receive(self, topic: str, partition: int, moved: MovedLog) -> None:
        """Take a log that another node gave away; it is opened when the image says that it lives here."""
        key = TopicPartition(topic, partition)
        self.replicas.storage.delete_directory(str(key))
        directory = self.replicas.storage.directory(str(key))
        for name, content in moved.files.items():
            directory.replace(name, content)
        directory.sync()
        if moved.log_start_offset:
            self._log_starts[key] = moved.log_start_offset


class LogConfigs:
    """The effective configuration of each topic's log, worked out once per change."""

    def __init__(self, node: BrokerNode) -> None:
        self._node = node
        self._defaults: dict[str, str] = {}
        self._known: dict[str, tuple[Mapping[str, str], LogConfig]] = {}
        self.refresh(node.image)

    def refresh(self, image: MetadataImage) -> None:
        """Take the broker-wide defaults of an image; when they changed, everything is worked out again."""
        layers = broker_layers(self._node.config, self._node.node_id, image.broker_configs)
        defaults = {}
        for key in TOPIC_KEYS.values():
            if key.broker_name is not None:
                entry = resolve(key, layers, {})
                if entry.source != ConfigSource.DEFAULT_CONFIG:
                    defaults[key.name] = entry.value
        if defaults != self._defaults:
            self._defaults = defaults
            self._known.clear()

    def of(self, topic: TopicImage) -> LogConfig:
        """The configuration of a topic's log."""
        known = self._known.get(topic.name)
        if known is not None and known[0] == topic.configs:
            return known[1]
        config = LogConfig.from_dict(topic.configs, self._defaults)
        self._known[topic.name] = (topic.configs, config)
        return config


class MailboxPeers:
    """The other brokers, for the transaction coordinator. Requests travel as bytes, so that nothing is shared."""

    def __init__(self, call: CallPeer) -> None:
        self._call = call

    def write_txn_markers(self, node_id: int, request: WriteTxnMarkersRequest) -> Completion[WriteTxnMarkersResponse]:
        """Ask the leader of some partitions to append markers."""
        return self._ask(node_id, ApiKey.WRITE_TXN_MARKERS, request)

    def add_partitions_to_txn(
        self, node_id: int, request: AddPartitionsToTxnRequest
    ) -> Completion[AddPartitionsToTxnResponse]:
        """Ask the coordinator of a transactional id to add or verify partitions."""
        return self._ask(node_id, ApiKey.ADD_PARTITIONS_TO_TXN, request)

    def _ask(self, node_id: int, api_key: ApiKey, request: Any) -> Completion[Any]:
        result: Completion[Any] = Completion()
        version = api(api_key).max_version

        def finish(done: Completion[Any]) -> None:
            if done.error is not None:
                result.fail(done.error)
            else:
                result.succeed(done.result())

        self._call(node_id, api_key, version, request.write(version), finish)
        return result


class BlocksAhead:
    """A source of producer ids with one block always fetched in advance.

    A producer that comes while the node has none is told to try again, which costs it a back-off.
    """

    def __init__(self, ask: Callable[[], Completion[range]]) -> None:
        self._ask = ask
        self._ahead: Completion[range] | None = None

    def fetch(self, now: float = 0.0) -> None:
        """Ask for a block unless one is here or on its way."""
        if self._ahead is None:
            self._ahead = self._ask()

    def __call__(self) -> Completion[range]:
        """The block that was fetched; the next one is asked for."""
        self.fetch()
        block, self._ahead = self._ahead, None
        self.fetch()
        assert block is not None
        return block


def not_running(node_id: int) -> BrokerNotAvailable:
    """What a request to a stopped broker fails with."""
    return BrokerNotAvailable(f"broker {node_id} does not run")


def assemble(node: BrokerNode, storage: Storage, rng: Randomness, call_peer: CallPeer) -> Rooms:
    """Make the rooms of a node."""
    log_configs = LogConfigs(node)
    replicas = ReplicaManager(
        node_id=node.node_id,
        storage=storage,
        wheel=node.wheel,
        image=lambda: node.image,
        authorizer=node.authorizer,
        rng=rng,
        log_config=log_configs.of,
        config=node.config.into(ReplicaConfig),
    )

    def ask_for_block() -> Completion[range]:
        pending = node.controller.run(lambda state: allocate_producer_ids(state.image))
        return then(pending, lambda block: range(block[0], block[0] + block[1]))

    verifies = node.config.flag("transaction.partition.verification.enable")

    def verify(
        context: RequestContext,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        supports_v2: bool,
    ) -> Completion[dict[TopicPartition, ErrorCode]]:
        if not verifies and not supports_v2:
            return Completion.of(dict.fromkeys(partitions, ErrorCode.NONE))
        return transactions.verify(
            context, transactional_id, producer_id, producer_epoch, partitions, supports_v2=supports_v2
        )

    groups = GroupCoordinator(
        log=replicas,
        timers=node.timers,
        catalog=ImageCatalog(lambda: node.image),
        authorizer=node.authorizer,
        new_id=lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        verify=verify,
        config=node.config.into(GroupConfig),
    )
    blocks = BlocksAhead(ask_for_block)
    node.timers.schedule("producer-ids", 0.0, blocks.fetch)
    transactions: TransactionCoordinator = TransactionCoordinator(
        node_id=node.node_id,
        log=replicas,
        timers=node.timers,
        producer_ids=ProducerIdAllocator(blocks),
        image=lambda: node.image,
        peers=MailboxPeers(call_peer),
        authorizer=node.authorizer,
        offsets_partition=groups.partition_for,
        end_offsets=groups.complete_transaction,
        config=node.config.into(TransactionConfig),
    )
    replicas.set_verifier(verify)
    node.on_connection_closed = replicas.on_connection_closed
    return Rooms(node, replicas, groups, transactions, log_configs)
