"""The nouns of administration: what calls take and give. Plain frozen data, usable from any thread; no I/O.

Names follow Kafka's own; numbers of the wire stay inside the enums.
"""

from __future__ import annotations

import enum
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from pykclient.types import Node, OffsetAndMetadata, TopicPartition

# ---- topics ----


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to make. ``partitions`` and ``replication_factor`` -1: the broker's default. ``assignments`` (partition
    to broker ids, the first leads) replaces both."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignments: Mapping[int, Sequence[int]] | None = None
    configs: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """A topic as it was made. Older brokers do not say how many partitions and replicas: -1 then."""

    name: str
    topic_id: UUID | None
    partitions: int
    replication_factor: int
    configs: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    """A topic that is gone."""

    name: str | None
    topic_id: UUID | None


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """How many partitions a topic shall have in all, and where the added ones go (the broker decides when None)."""

    total: int
    assignments: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class TopicListing:
    """A topic by name and id."""

    name: str
    topic_id: UUID | None
    internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition: broker ids by role. ``leader`` None: there is none now. The last two are KIP-966's, empty where the
    broker does not keep them."""

    partition: int
    leader: Node | None
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    offline: tuple[int, ...] = ()
    eligible_leaders: tuple[int, ...] = ()
    last_known_eligible: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic and its partitions, in order."""

    name: str
    topic_id: UUID | None
    internal: bool
    partitions: tuple[PartitionDescription, ...]
    authorized_operations: frozenset[AclOperation] | None = None


# ---- configs ----


class ConfigResourceType(enum.IntEnum):
    """What can be configured."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True)
class ConfigResource:
    """A thing with a configuration. For brokers the name is the id, or empty for the cluster-wide defaults."""

    type: ConfigResourceType
    name: str

    @classmethod
    def topic(cls, name: str) -> ConfigResource:
        """A topic's configuration."""
        return cls(ConfigResourceType.TOPIC, name)

    @classmethod
    def broker(cls, node_id: int | None = None) -> ConfigResource:
        """A broker's, or the default of all brokers."""
        return cls(ConfigResourceType.BROKER, "" if node_id is None else str(node_id))

    @classmethod
    def group(cls, name: str) -> ConfigResource:
        """A group's."""
        return cls(ConfigResourceType.GROUP, name)

    @classmethod
    def broker_logger(cls, node_id: int) -> ConfigResource:
        """A broker's log levels."""
        return cls(ConfigResourceType.BROKER_LOGGER, str(node_id))

    def __str__(self) -> str:
        return f"{self.type.name.lower()} {self.name or '(default)'}"


class ConfigSource(enum.IntEnum):
    """Where a value comes from."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    DYNAMIC_CLIENT_METRICS = 7
    DYNAMIC_GROUP = 8

    @classmethod
    def _missing_(cls, value: object) -> ConfigSource:
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One option. ``value`` is None when it is sensitive or not set."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool = False
    sensitive: bool = False
    synonyms: tuple[tuple[str, str | None, ConfigSource], ...] = ()
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether nobody set it."""
        return self.source is ConfigSource.DEFAULT


@dataclass(frozen=True, slots=True)
class Append:
    """Add these to a list option."""

    value: str


@dataclass(frozen=True, slots=True)
class Subtract:
    """Take these out of a list option."""

    value: str


# ---- groups ----


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group. ``type`` and ``state`` are Kafka's words (``Classic``, ``Consumer``, ``Share``; ``Stable``, ``Empty``),
    empty where the broker is too old to say."""

    group_id: str
    type: str
    state: str
    protocol_type: str


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member and what it owns. ``target`` is what a KIP-848 member is moving to; it equals ``assignment`` when it has
    arrived. ``member_epoch`` None: a classic member."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    assignment: frozenset[TopicPartition]
    target: frozenset[TopicPartition]
    subscription: frozenset[str] = frozenset()
    member_epoch: int | None = None
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group of any protocol. Epochs are None for classic groups."""

    group_id: str
    type: str
    state: str
    protocol_type: str
    assignor: str
    members: tuple[GroupMember, ...]
    coordinator: Node | None
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    authorized_operations: frozenset[AclOperation] | None = None


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """What a reset does, or would do, to one partition. ``before`` None: nothing was committed."""

    before: int | None
    after: int
    earliest: int
    latest: int

    @property
    def shift(self) -> int | None:
        """How far it moves; negative is back."""
        return None if self.before is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """How far a group is behind in one partition.

    ``lag`` is None when nothing is committed. ``oldest_unread`` is the timestamp (milliseconds) of the first record the
    group has not committed, ``age_s`` how long ago that was; both None when there is none. ``owner`` is the member that
    reads the partition now.
    """

    committed: int | None
    start: int
    end: int
    lag: int | None
    oldest_unread: int | None = None
    age_s: float | None = None
    owner: GroupMember | None = None
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class ShareOffset:
    """Where a share group starts in a partition; None: nowhere yet. ``lag`` None: the broker does not say."""

    start: int | None
    lag: int | None


# ---- offsets ----


class OffsetSpec(enum.IntEnum):
    """Offsets that are known by a name instead of a time."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


OffsetTarget = OffsetSpec | str | int | datetime
"""For look-ups: a spec or its name in any case, a time as milliseconds since the epoch, or a datetime."""

ResetTarget = str | int | datetime | timedelta | Mapping[TopicPartition, int | OffsetAndMetadata]
"""For resets: ``"earliest"``, ``"latest"``, ``"current"``, an offset, a moment, how long ago, or offsets one by one."""


# ---- the cluster ----


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """The cluster. ``fenced`` are brokers that are registered and not serving."""

    cluster_id: str | None
    controller: Node | None
    brokers: tuple[Node, ...]
    fenced: tuple[Node, ...] = ()
    authorized_operations: frozenset[AclOperation] | None = None


@dataclass(frozen=True, slots=True)
class Features:
    """Feature levels: what is in force, and what the broker that answered could do."""

    finalized: Mapping[str, int]
    supported: Mapping[str, tuple[int, int]]
    epoch: int | None


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A voter or an observer of the metadata log. Timestamps in milliseconds, None when not known."""

    node_id: int
    log_end_offset: int
    last_fetch: int | None
    last_caught_up: int | None
    directory_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class QuorumDescription:
    """The controllers' quorum."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]


@dataclass(frozen=True, slots=True)
class ReplicaLog:
    """A replica on a disk. ``future``: it is being moved here."""

    size: int
    offset_lag: int
    future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory of a broker. ``total_bytes`` and ``usable_bytes`` are None where the broker does not say."""

    path: str
    replicas: Mapping[TopicPartition, ReplicaLog]
    total_bytes: int | None
    usable_bytes: int | None


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A partition on the move."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


# ---- ACLs ----


class AclResourceType(enum.IntEnum):
    """What a right is about."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7

    @classmethod
    def _missing_(cls, value: object) -> AclResourceType:
        return cls.UNKNOWN


class AclPatternType(enum.IntEnum):
    """How the resource's name is meant. ANY and MATCH are for filters."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4

    @classmethod
    def _missing_(cls, value: object) -> AclPatternType:
        return cls.UNKNOWN


class AclOperation(enum.IntEnum):
    """What may be done."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15

    @classmethod
    def _missing_(cls, value: object) -> AclOperation:
        return cls.UNKNOWN


class AclPermission(enum.IntEnum):
    """Allowed or denied."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3

    @classmethod
    def _missing_(cls, value: object) -> AclPermission:
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class Acl:
    """A right: this principal, from this host, may (or may not) do this to that."""

    principal: str
    operation: AclOperation
    resource_type: AclResourceType
    resource_name: str
    permission: AclPermission = AclPermission.ALLOW
    pattern: AclPatternType = AclPatternType.LITERAL
    host: str = "*"


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Which rights are meant; what is not given matches everything."""

    principal: str | None = None
    operation: AclOperation = AclOperation.ANY
    resource_type: AclResourceType = AclResourceType.ANY
    resource_name: str | None = None
    permission: AclPermission = AclPermission.ANY
    pattern: AclPatternType = AclPatternType.ANY
    host: str | None = None


# ---- users and quotas ----


@dataclass(frozen=True, slots=True)
class ScramUpsertion:
    """Make a SCRAM user, or give one a new password. The password is salted and hashed here and never sent."""

    user: str
    password: str = field(repr=False)
    mechanism: str = "SCRAM-SHA-512"
    iterations: int = 8192
    salt: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ScramDeletion:
    """Take a user's credential for one mechanism away."""

    user: str
    mechanism: str = "SCRAM-SHA-512"


QuotaEntity = Mapping[str, "str | None"]
"""Whose quota: ``{"user": "alice", "client-id": None}``; None is the default of that kind (``ip`` is the third)."""


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token: log in with SCRAM, ``sasl_username=token_id``, ``sasl_password=password``, ``sasl_token_auth=True``.
    Times in milliseconds since the epoch."""

    token_id: str
    hmac: bytes = field(repr=False)
    owner: str
    issued: int
    expires: int
    expires_at_the_latest: int
    renewers: tuple[str, ...] = ()

    @property
    def password(self) -> str:
        """The HMAC as brokers expect it for a password."""
        return b64encode(self.hmac).decode()


# ---- transactions ----


@dataclass(frozen=True, slots=True)
class TransactionListing:
    """A transactional id as its coordinator lists it."""

    transactional_id: str
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """A transactional id in full. ``started`` in milliseconds, None when no transaction is open."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started: int | None
    partitions: frozenset[TopicPartition]
    coordinator_id: int | None = None


@dataclass(frozen=True, slots=True)
class ProducerState:
    """A producer that writes to a partition. ``transaction_start_offset`` None: no transaction is open there."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    transaction_start_offset: int | None


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """An open transaction in a partition that its coordinator no longer knows: nothing ends it but
    ``abort_transaction``. ``transactional_id`` is None when no coordinator knows the producer."""

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp: int
    transactional_id: str | None = None


@dataclass(frozen=True, slots=True)
class FencedProducer:
    """The identity that fenced the older ones."""

    producer_id: int
    producer_epoch: int


def operations_in(bits: int) -> frozenset[AclOperation] | None:
    """Authorized operations from their bit field; None when the broker did not say."""
    if bits == -(2**31):
        return None
    return frozenset(operation for operation in AclOperation if operation > AclOperation.ALL and bits >> operation & 1)
