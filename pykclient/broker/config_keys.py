"""The tables of topic and broker options: Kafka's names, types, defaults and synonyms.

Data, usable from any thread; configs.py says how the layers override each other. Where the embedded broker's default
differs from Kafka's the text says so. A value is never imported, evaluated or interpolated (R13).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

LONG_MAX = 2**63 - 1
INT_MAX = 2**31 - 1
DAY_MS = 86_400_000


class ConfigType(enum.IntEnum):
    """The type of a value; numbers as in DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(enum.IntEnum):
    """Where a value comes from; numbers as in DescribeConfigs."""

    UNKNOWN = 0
    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5


NUMBER_RANGES: dict[ConfigType, tuple[int, int]] = {
    ConfigType.INT: (-(2**31), INT_MAX),
    ConfigType.SHORT: (-(2**15), 2**15 - 1),
    ConfigType.LONG: (-(2**63), LONG_MAX),
}


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One option. ``synonym`` is the broker option that gives a topic option its default."""

    name: str
    type: ConfigType
    default: str
    doc: str
    synonym: str | None = None
    at_least: int | None = None
    choices: tuple[str, ...] = ()
    dynamic: bool = False

    def problem(self, value: str) -> str | None:
        """What is wrong with the value, as a sentence, or None."""
        if self.type in NUMBER_RANGES:
            low, high = NUMBER_RANGES[self.type]
            return self._number_problem(value, max(low, self.at_least if self.at_least is not None else low), high)
        if self.type == ConfigType.DOUBLE:
            return self._ratio_problem(value)
        if self.type == ConfigType.BOOLEAN and value.lower() not in ("true", "false"):
            return self._invalid(value, "expected true or false")
        if self.choices:
            parts = split_list(value) if self.type == ConfigType.LIST else [value]
            wrong = [part for part in parts if part not in self.choices]
            if wrong:
                return self._invalid(value, f"{wrong[0]!r} is not one of {', '.join(self.choices)}")
        return None

    def _number_problem(self, value: str, low: int, high: int) -> str | None:
        try:
            number = int(value)
        except ValueError:
            return self._invalid(value, "not a number")
        if not low <= number <= high:
            return self._invalid(value, f"must be between {low} and {high}")
        return None

    def _ratio_problem(self, value: str) -> str | None:
        try:
            number = float(value)
        except ValueError:
            return self._invalid(value, "not a number")
        return None if 0 <= number <= 1 else self._invalid(value, "must be between 0 and 1")

    def _invalid(self, value: str, why: str) -> str:
        return f"Invalid value {value} for configuration {self.name}: {why}"

    @property
    def sensitive(self) -> bool:
        """Whether the value must never be shown."""
        return self.type == ConfigType.PASSWORD


def _topic(
    name: str,
    type_: ConfigType,
    default: object,
    doc: str,
    *,
    synonym: str | None = None,
    at_least: int | None = None,
    choices: tuple[str, ...] = (),
) -> ConfigKey:
    return ConfigKey(name, type_, str(default), doc, synonym or f"log.{name}", at_least, choices, dynamic=True)


def _broker(
    name: str,
    type_: ConfigType,
    default: object,
    doc: str,
    *,
    at_least: int | None = None,
    choices: tuple[str, ...] = (),
    dynamic: bool = False,
) -> ConfigKey:
    return ConfigKey(name, type_, str(default), doc, None, at_least, choices, dynamic)


T = ConfigType
CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")

_TOPIC_KEYS = (
    _topic(
        "cleanup.policy",
        T.LIST,
        "delete",
        "Drop old segments, keep the last value of each key, or both.",
        choices=("delete", "compact"),
    ),
    _topic(
        "compression.gzip.level",
        T.INT,
        -1,
        "The gzip level used when the broker compresses.",
        synonym="compression.gzip.level",
    ),
    _topic(
        "compression.lz4.level",
        T.INT,
        9,
        "The lz4 level used when the broker compresses.",
        synonym="compression.lz4.level",
    ),
    _topic(
        "compression.type",
        T.STRING,
        "producer",
        "The codec of the log; producer keeps what was sent.",
        synonym="compression.type",
        choices=CODECS,
    ),
    _topic(
        "compression.zstd.level",
        T.INT,
        3,
        "The zstd level used when the broker compresses.",
        synonym="compression.zstd.level",
    ),
    _topic(
        "delete.retention.ms",
        T.LONG,
        DAY_MS,
        "How long a tombstone stays after compaction.",
        synonym="log.cleaner.delete.retention.ms",
        at_least=0,
    ),
    _topic(
        "file.delete.delay.ms",
        T.LONG,
        60_000,
        "How long a deleted segment's file stays.",
        synonym="log.segment.delete.delay.ms",
        at_least=0,
    ),
    _topic(
        "flush.messages",
        T.LONG,
        LONG_MAX,
        "Sync the log after this many records.",
        synonym="log.flush.interval.messages",
        at_least=1,
    ),
    _topic("flush.ms", T.LONG, LONG_MAX, "Sync the log after this long.", synonym="log.flush.interval.ms", at_least=0),
    _topic("index.interval.bytes", T.INT, 4096, "One index entry for this many bytes of log.", at_least=0),
    _topic(
        "max.compaction.lag.ms",
        T.LONG,
        LONG_MAX,
        "A record is compacted at the latest after this long.",
        synonym="log.cleaner.max.compaction.lag.ms",
        at_least=1,
    ),
    _topic("max.message.bytes", T.INT, 1_048_588, "The largest record batch.", synonym="message.max.bytes", at_least=0),
    _topic(
        "message.timestamp.after.max.ms",
        T.LONG,
        3_600_000,
        "How far a timestamp may be ahead of the broker's clock.",
        at_least=0,
    ),
    _topic(
        "message.timestamp.before.max.ms",
        T.LONG,
        LONG_MAX,
        "How far a timestamp may be behind the broker's clock.",
        at_least=0,
    ),
    _topic(
        "message.timestamp.type",
        T.STRING,
        "CreateTime",
        "Whose clock a record carries.",
        choices=("CreateTime", "LogAppendTime"),
    ),
    _topic(
        "min.cleanable.dirty.ratio",
        T.DOUBLE,
        0.5,
        "Compact when this share of the log is not compacted.",
        synonym="log.cleaner.min.cleanable.ratio",
    ),
    _topic(
        "min.compaction.lag.ms",
        T.LONG,
        0,
        "A record stays uncompacted at least this long.",
        synonym="log.cleaner.min.compaction.lag.ms",
        at_least=0,
    ),
    _topic(
        "min.insync.replicas",
        T.INT,
        1,
        "How many replicas must have a record of acks=all.",
        synonym="min.insync.replicas",
        at_least=1,
    ),
    _topic("preallocate", T.BOOLEAN, "false", "Allocate segment files in full when they are made."),
    _topic("retention.bytes", T.LONG, -1, "Keep at most this much of a partition; -1 has no limit.", at_least=-1),
    _topic("retention.ms", T.LONG, 7 * DAY_MS, "Keep records at most this long; -1 has no limit.", at_least=-1),
    _topic("segment.bytes", T.INT, 1_073_741_824, "The size at which a new segment starts.", at_least=1024),
    _topic(
        "segment.index.bytes",
        T.INT,
        10_485_760,
        "The largest index of a segment.",
        synonym="log.index.size.max.bytes",
        at_least=4,
    ),
    _topic(
        "segment.jitter.ms",
        T.LONG,
        0,
        "Rolling by time is spread by up to this much.",
        synonym="log.roll.jitter.ms",
        at_least=0,
    ),
    _topic(
        "segment.ms", T.LONG, 7 * DAY_MS, "The age at which a new segment starts.", synonym="log.roll.ms", at_least=1
    ),
    _topic(
        "unclean.leader.election.enable",
        T.BOOLEAN,
        "false",
        "Whether a replica that lags may lead.",
        synonym="unclean.leader.election.enable",
    ),
)

_BROKER_KEYS = (
    _broker("advertised.listeners", T.LIST, "", "The addresses given to clients."),
    _broker(
        "allow.everyone.if.no.acl.found", T.BOOLEAN, "false", "Whether a resource without any ACL is open to everybody."
    ),
    _broker(
        "authorizer.enable",
        T.BOOLEAN,
        "false",
        "Whether ACLs are enforced (our own name: there is no authorizer class to choose).",
    ),
    _broker(
        "auto.create.topics.enable", T.BOOLEAN, "true", "Whether a Metadata request creates the topics it asks for."
    ),
    _broker("broker.id", T.INT, -1, "The id of this broker."),
    _broker(
        "connections.max.idle.ms",
        T.LONG,
        600_000,
        "A connection without requests is closed after this long.",
        at_least=1,
    ),
    _broker("connections.max.reauth.ms", T.LONG, 0, "A SASL session lasts this long; 0 has no limit.", at_least=0),
    _broker("default.replication.factor", T.INT, 1, "The replication factor of a topic that names none.", at_least=1),
    _broker("delete.topic.enable", T.BOOLEAN, "true", "Whether topics can be deleted."),
    _broker("fetch.max.bytes", T.INT, 57_671_680, "The most that one fetch returns.", at_least=1024),
    _broker("group.consumer.assignors", T.LIST, "uniform,range", "The server-side assignors of KIP-848 groups."),
    _broker("group.consumer.heartbeat.interval.ms", T.INT, 5_000, "How often a KIP-848 member reports.", at_least=1),
    _broker("group.consumer.max.size", T.INT, INT_MAX, "The most members of a KIP-848 group.", at_least=1),
    _broker(
        "group.consumer.migration.policy",
        T.STRING,
        "bidirectional",
        "Whether groups may change their protocol while in use.",
        choices=("disabled", "upgrade", "downgrade", "bidirectional"),
    ),
    _broker(
        "group.consumer.regex.refresh.interval.ms",
        T.INT,
        600_000,
        "How often a regex subscription is resolved again.",
        at_least=10_000,
    ),
    _broker(
        "group.consumer.session.timeout.ms",
        T.INT,
        45_000,
        "A KIP-848 member that is silent this long is dropped.",
        at_least=1,
    ),
    _broker(
        "group.initial.rebalance.delay.ms",
        T.INT,
        0,
        "How long a new group waits for more members. Kafka: 3000.",
        at_least=0,
    ),
    _broker(
        "group.max.session.timeout.ms",
        T.INT,
        1_800_000,
        "The longest session time-out a classic member may ask for.",
        at_least=1,
    ),
    _broker("group.max.size", T.INT, INT_MAX, "The most members of a classic group.", at_least=1),
    _broker(
        "group.min.session.timeout.ms",
        T.INT,
        6_000,
        "The shortest session time-out a classic member may ask for.",
        at_least=1,
    ),
    _broker("listeners", T.LIST, "", "The addresses this broker listens on."),
    _broker("log.dirs", T.STRING, "", "Where the data is; empty is in memory."),
    _broker("log.retention.check.interval.ms", T.LONG, 300_000, "How often old segments are looked for.", at_least=1),
    _broker("max.connections", T.INT, INT_MAX, "The most connections in total.", at_least=0, dynamic=True),
    _broker(
        "max.connections.per.ip", T.INT, INT_MAX, "The most connections from one address.", at_least=0, dynamic=True
    ),
    _broker("node.id", T.INT, -1, "The id of this broker."),
    _broker("num.partitions", T.INT, 1, "The partition count of a topic that names none.", at_least=1),
    _broker(
        "offset.metadata.max.bytes", T.INT, 4096, "The largest note that goes with a committed offset.", at_least=0
    ),
    _broker(
        "offsets.retention.check.interval.ms", T.LONG, 600_000, "How often expired offsets are looked for.", at_least=1
    ),
    _broker("offsets.retention.minutes", T.INT, 10_080, "How long the offsets of an empty group are kept.", at_least=1),
    _broker("offsets.topic.num.partitions", T.INT, 5, "The partitions of __consumer_offsets. Kafka: 50.", at_least=1),
    _broker("offsets.topic.segment.bytes", T.INT, 104_857_600, "The segment size of __consumer_offsets.", at_least=1),
    _broker(
        "producer.id.expiration.ms",
        T.INT,
        DAY_MS,
        "A producer id that is silent this long is forgotten.",
        at_least=1,
        dynamic=True,
    ),
    _broker("queued.max.request.bytes", T.LONG, -1, "Bytes of requests that may wait; -1 has no limit."),
    _broker(
        "sasl.enabled.mechanisms",
        T.LIST,
        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "The mechanisms offered on SASL listeners.",
    ),
    _broker(
        "sasl.server.max.receive.size",
        T.INT,
        524_288,
        "The largest request before a client has authenticated.",
        at_least=1,
    ),
    _broker("socket.request.max.bytes", T.INT, 104_857_600, "The largest request.", at_least=1),
    _broker("ssl.keystore.password", T.PASSWORD, "", "Never shown."),
    _broker("super.users", T.STRING, "", "Principals that may do everything, separated by semicolons."),
    _broker(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        T.INT,
        10_000,
        "How often timed-out transactions are looked for.",
        at_least=1,
    ),
    _broker(
        "transaction.max.timeout.ms", T.INT, 900_000, "The longest transaction a producer may ask for.", at_least=1
    ),
    _broker(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        T.INT,
        3_600_000,
        "How often unused transactional ids are looked for.",
        at_least=1,
    ),
    _broker(
        "transaction.state.log.num.partitions",
        T.INT,
        5,
        "The partitions of __transaction_state. Kafka: 50.",
        at_least=1,
    ),
    _broker(
        "transaction.state.log.segment.bytes",
        T.INT,
        104_857_600,
        "The segment size of __transaction_state.",
        at_least=1,
    ),
    _broker(
        "transactional.id.expiration.ms",
        T.INT,
        7 * DAY_MS,
        "A transactional id that is silent this long is forgotten.",
        at_least=1,
    ),
)

TOPIC_KEYS: dict[str, ConfigKey] = {key.name: key for key in _TOPIC_KEYS}
BROKER_KEYS: dict[str, ConfigKey] = {
    **{key.name: key for key in _BROKER_KEYS},
    **{
        key.synonym: ConfigKey(key.synonym, key.type, key.default, key.doc, None, key.at_least, key.choices, True)
        for key in _TOPIC_KEYS
        if key.synonym is not None
    },
}
# Only readable at start: who a broker is and where it listens cannot change under its connections.
READ_ONLY_BROKER_KEYS = frozenset(name for name, key in BROKER_KEYS.items() if not key.dynamic)


def split_list(value: str) -> list[str]:
    """The parts of a comma-separated value."""
    return [part.strip() for part in value.split(",") if part.strip()]
