"""A Kafka cluster inside the test process, on real sockets: ``with EmbeddedCluster() as cluster: ...``.

Any client of any language can use it at ``cluster.bootstrap_servers``. Methods belong to the thread that made the
cluster; they wait for the brokers' threads. Loopback only unless asked otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pykclient.broker.authorizer import AclBinding
from pykclient.broker.clock import AdjustableClock
from pykclient.broker.cluster import Cluster, ClusterOptions
from pykclient.broker.cluster_info import coordinator_partition
from pykclient.broker.configs import dotted
from pykclient.broker.faults import Faults
from pykclient.broker.image import TopicImage
from pykclient.broker.listeners import ListenerSpec, parse_listener
from pykclient.broker.topic_changes import GROUP_TOPIC, TRANSACTION_TOPIC, TopicSpec, internal_topic
from pykclient.errors import UsageError
from pykclient.testing.clock import frozen_clock, running_clock

if TYPE_CHECKING:
    from ssl import SSLContext
    from tempfile import TemporaryDirectory

    from pykclient.broker.group_coordinator import GroupView
    from pykclient.testing.certificates import TestCertificates

T = TypeVar("T")
POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition as its leader has it."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    log_end_offset: int
    size: int


class EmbeddedCluster:
    """A cluster of ``brokers`` nodes.

    - ``data_dir``: keep the data there; without it everything is in memory and gone at the end.
    - ``topics``: names, or a mapping from name to partition count, made before the first client connects.
    - ``listeners``: one or several of ``"PLAINTEXT"``, ``"SSL"``, ``"SASL_PLAINTEXT"``, ``"SASL_SSL"``, optionally
      with ``://host:port``.
    - ``ports``: the port of each broker (one number: of the first); 0, or none given, takes a free one.
    - ``users``: name to password, for PLAIN and SCRAM.
    - ``acls``: switches ACLs on; ``super_users`` pass them.
    - ``clock``: ``"frozen"`` stands still until ``cluster.clock.advance(seconds)``; the default runs and can be
      advanced too.
    - ``max_versions``: API name to highest version (None: not served), to pose as an older broker.
    - ``tls``: a server's context for the encrypted listeners; without it certificates are made (``certificates``).
    - ``racks``: the rack of each broker.
    - ``seed``: makes ids and the choices of the cluster repeatable.
    - ``allow_open_network``: allows a listener without authentication that other machines can reach.
    - ``token_verifier``: who checks the tokens of OAUTHBEARER; given one, the mechanism is offered.
    - anything else is a broker option, as ``num_partitions=3`` or ``**{"num.partitions": 3}``.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        data_dir: str | Path | None = None,
        topics: Iterable[str] | Mapping[str, int] = (),
        listeners: str | Sequence[str | ListenerSpec] = ("PLAINTEXT",),
        ports: int | Sequence[int] = (),
        users: Mapping[str, str] | None = None,
        acls: Sequence[AclBinding] = (),
        super_users: Sequence[str] = (),
        clock: AdjustableClock | str | None = None,
        max_versions: Mapping[str, int | None] | None = None,
        tls: SSLContext | None = None,
        racks: Sequence[str | None] = (),
        seed: int | None = None,
        cluster_id: str | None = None,
        allow_open_network: bool = False,
        token_verifier: Any = None,
        **broker_config: object,
    ) -> None:
        config = dotted(broker_config)
        if acls or super_users:
            config.setdefault("authorizer.enable", True)
            config.setdefault("super.users", ";".join(super_users))
        if token_verifier is not None:
            config.setdefault("sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER")
        self._temporary: TemporaryDirectory[str] | None = None
        self._certificates: TestCertificates | None = None
        self._topics = topics
        if isinstance(clock, str) and clock != "frozen":
            raise UsageError("clock is 'frozen', an AdjustableClock, or not given")
        chosen = frozen_clock() if clock == "frozen" else clock
        options = ClusterOptions(
            brokers=brokers,
            data_dir=None if data_dir is None else Path(data_dir),
            listeners=self._listeners(listeners, tls),
            ports=[ports] if isinstance(ports, int) else ports,
            config=config,
            users=users or {},
            acls=acls,
            racks=racks,
            max_versions=dict(max_versions) if max_versions else None,
            seed=seed,
            cluster_id=cluster_id,
            allow_open_network=allow_open_network,
            token_verifier=token_verifier,
        )
        assert not isinstance(chosen, str)
        self._cluster = Cluster(options, clock=chosen or running_clock())
        self._started = False

    def _listeners(self, asked: str | Sequence[str | ListenerSpec], tls: SSLContext | None) -> list[ListenerSpec]:
        texts = asked.split(",") if isinstance(asked, str) else list(asked)
        specs = [parse_listener(each) if isinstance(each, str) else each for each in texts]
        if any(spec.encrypted and spec.tls is None for spec in specs):
            context = tls or self.certificates.server_context()
            specs = [_with_tls(spec, context) if spec.encrypted and spec.tls is None else spec for spec in specs]
        return specs

    # ---- life ----

    def start(self, node: int | None = None, *, port: int | None = None) -> EmbeddedCluster:
        """Start the cluster, or one stopped broker; returns when it is ready for its first request."""
        if node is not None:
            self.start_node(node, port=port)
            return self
        if self._started:
            raise UsageError("the cluster has been started already")
        self._started = True
        self._cluster.start()
        names = self._topics.items() if isinstance(self._topics, Mapping) else ((name, -1) for name in self._topics)
        specs = [TopicSpec(name, count) for name, count in names]
        if specs:
            self._cluster.create_topics(specs)
        return self

    def close(self) -> None:
        """Stop everything. Idempotent."""
        self._cluster.close()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def __enter__(self) -> EmbeddedCluster:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- where and who ----

    @property
    def bootstrap_servers(self) -> str:
        """``host:port,...`` of the running brokers, on the first listener."""
        return self.bootstrap_for()

    def bootstrap_for(self, listener: str | None = None) -> str:
        """The same for another listener, by name."""
        return ",".join(str(endpoint) for endpoint in self._cluster.bootstrap(listener))

    @property
    def nodes(self) -> list[int]:
        """The ids of the running brokers."""
        return self._cluster.node_ids

    @property
    def cluster_id(self) -> str:
        """The cluster's id."""
        return self._cluster.image().cluster_id

    @property
    def clock(self) -> AdjustableClock:
        """The brokers' clock; ``advance(seconds)`` makes retention, sessions and transactions time out."""
        return self._cluster.clock

    @property
    def faults(self) -> Faults:
        """Rules that make brokers misbehave."""
        return self._cluster.faults

    @property
    def certificates(self) -> TestCertificates:
        """Test certificates of this cluster, made when first asked for."""
        if self._certificates is None:
            # Here, not at the top: OpenSSL is loaded for those who encrypt.
            from tempfile import TemporaryDirectory

            from pykclient.testing.certificates import make_certificates

            self._temporary = TemporaryDirectory(prefix="pykclient-tls-")
            self._certificates = make_certificates(Path(self._temporary.name))
        return self._certificates

    def connection_count(self, node: int) -> int:
        """How many connections a broker has."""
        running = self._cluster.node(node)
        return self._cluster.call(node, lambda: running.connection_count)

    # ---- topics ----

    def create_topic(
        self,
        name: str,
        partitions: int = -1,
        *,
        config: Mapping[str, object] | None = None,
        assignments: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        """Make a topic; it is known to every broker when this returns."""
        configs = {key: _text(value) for key, value in dotted(dict(config or {})).items()}
        self._cluster.create_topics([TopicSpec(name, partitions, assignments=assignments or {}, configs=configs)])

    def has_topic(self, name: str) -> bool:
        """Whether there is a topic of this name."""
        return name in self._cluster.image().topics

    def topic(self, name: str) -> TopicImage:
        """The topic's metadata."""
        found = self._cluster.image().topics.get(name)
        if found is None:
            raise UsageError(f"there is no topic {name!r}")
        return found

    def leader(self, topic: str, partition: int = 0) -> int:
        """The id of the broker that leads a partition; -1 for none."""
        return self.topic(topic).partitions[partition].leader

    def partition_info(self, topic: str, partition: int = 0) -> PartitionState:
        """A partition as its leader has it."""
        image = self.topic(topic).partitions[partition]
        rooms = self._cluster.rooms(image.leader)

        def look() -> PartitionState:
            log = rooms.log_of(topic, partition)
            return PartitionState(
                topic, partition, image.leader, image.leader_epoch, log.log_start_offset, log.high_watermark,
                log.last_stable_offset, log.log_end_offset, log.size,
            )  # fmt: skip

        return self._cluster.call(image.leader, look)

    # ---- nodes, leaders, coordinators ----

    def stop(self, node: int) -> None:
        """Stop a broker. What only it holds has no leader until it is started again."""
        self._cluster.stop_node(node)

    def start_node(self, node: int, *, port: int | None = None) -> None:
        """Start a stopped broker with its data, on its old port or another (0: any free one)."""
        self._cluster.start_node(node, port=port)

    def restart(self, node: int, *, port: int | None = None) -> None:
        """Stop and start."""
        self.stop(node)
        self.start_node(node, port=port)

    def move_leader(self, topic: str, partition: int, node: int) -> None:
        """Let another broker hold and lead the partition; returns when every broker knows."""
        self._cluster.move_leader(topic, partition, node)

    def move_coordinator(self, node: int, *, group: str | None = None, transactional_id: str | None = None) -> None:
        """Let another broker coordinate a group or a transactional id (and all that share its partition)."""
        if (group is None) == (transactional_id is None):
            raise UsageError("name either a group or a transactional id")
        topic, key = (GROUP_TOPIC, group) if group is not None else (TRANSACTION_TOPIC, transactional_id)
        assert key is not None
        self._ensure_internal(topic)
        self._cluster.move_leader(topic, self._partition_of(topic, key), node)

    def coordinator(self, *, group: str | None = None, transactional_id: str | None = None) -> int:
        """The id of the broker that coordinates a group or a transactional id."""
        topic, key = (GROUP_TOPIC, group) if group is not None else (TRANSACTION_TOPIC, transactional_id)
        assert key is not None
        self._ensure_internal(topic)
        return self.leader(topic, self._partition_of(topic, key))

    def _ensure_internal(self, topic: str) -> None:
        self._cluster.run_on_controller(lambda state: internal_topic(state.image, state.config, state.rng, topic))

    def _partition_of(self, topic: str, key: str) -> int:
        return coordinator_partition(key, len(self.topic(topic).partitions))

    # ---- groups ----

    def group_info(self, group: str) -> GroupView | None:
        """A group as its coordinator has it; None when there is none."""
        if GROUP_TOPIC not in self._cluster.image().topics:
            return None
        node = self.coordinator(group=group)
        rooms = self._cluster.rooms(node)
        return self._cluster.call(node, lambda: rooms.groups.describe(group))

    def wait_group_stable(self, group: str, members: int | None = None, timeout_s: float = 30.0) -> GroupView:
        """Wait until the group is stable, with this many members when given."""

        def stable() -> GroupView | None:
            view = self.group_info(group)
            if view is None or view.state.lower() != "stable":
                return None
            return view if members is None or len(view.members) == members else None

        return self.wait_until(stable, f"group {group!r} stable with {members} member(s)", timeout_s)

    def wait_until(self, condition: Callable[[], T | None], what: str = "the condition", timeout_s: float = 30.0) -> T:
        """Wait until the condition gives something true, and return it."""
        end = time.monotonic() + timeout_s
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: not so after {timeout_s} s")
            time.sleep(POLL_S)


def _with_tls(spec: ListenerSpec, context: SSLContext) -> ListenerSpec:
    return ListenerSpec(
        spec.protocol, spec.host, spec.port, spec.name, spec.advertised_host, spec.advertised_port, context
    )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
