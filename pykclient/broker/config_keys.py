"""The tables of topic and broker options: Kafka's names, types, defaults and synonyms.

Data, usable from any thread; configs.py says how the layers override each other. The topic options belong to
log_config.py; the broker's are here, and where a default differs from Kafka's the text says so. A value is never
imported, evaluated or interpolated (R13).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import replace

from pykclient.broker.log_config import LOG_CONFIG_OPTIONS, ConfigType, LogOption
from pykclient.errors import InvalidConfig

INT_MAX = 2**31 - 1
DAY_MS = 86_400_000


class ConfigSource(enum.IntEnum):
    """Where a value comes from; numbers as in DescribeConfigs."""

    UNKNOWN = 0
    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5


def _broker(
    name: str,
    kind: ConfigType,
    default: object,
    doc: str,
    *,
    at_least: int | None = None,
    choices: tuple[str, ...] = (),
) -> LogOption:
    return LogOption(name, kind, str(default), doc, at_least=at_least, choices=choices)


T = ConfigType

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
    _broker(
        "group.consumer.assignment.interval.ms",
        T.INT,
        0,
        "A KIP-848 group is assigned anew at most this often; 0 is at once (KIP-1263). Kafka: 1000.",
        at_least=0,
    ),
    _broker("group.consumer.heartbeat.interval.ms", T.INT, 5_000, "How often a KIP-848 member reports.", at_least=1),
    _broker(
        "group.consumer.max.heartbeat.interval.ms",
        T.INT,
        15_000,
        "The most that group.consumer.heartbeat.interval.ms may be.",
        at_least=1,
    ),
    _broker(
        "group.consumer.max.session.timeout.ms",
        T.INT,
        60_000,
        "The most that group.consumer.session.timeout.ms may be.",
        at_least=1,
    ),
    _broker("group.consumer.max.size", T.INT, INT_MAX, "The most members of a KIP-848 group.", at_least=1),
    _broker(
        "group.consumer.migration.policy",
        T.STRING,
        "bidirectional",
        "Whether groups may change their protocol while in use.",
        choices=("disabled", "upgrade", "downgrade", "bidirectional"),
    ),
    _broker(
        "group.consumer.min.heartbeat.interval.ms",
        T.INT,
        1,
        "The least that group.consumer.heartbeat.interval.ms may be. Kafka: 5000.",
        at_least=1,
    ),
    _broker(
        "group.consumer.min.session.timeout.ms",
        T.INT,
        1,
        "The least that group.consumer.session.timeout.ms may be. Kafka: 45000.",
        at_least=1,
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
    _broker("log.cleaner.backoff.ms", T.LONG, 15_000, "How often compaction is looked for.", at_least=0),
    _broker("log.dirs", T.STRING, "", "Where the data is; empty is in memory."),
    _broker("log.retention.check.interval.ms", T.LONG, 300_000, "How often old segments are looked for.", at_least=1),
    _broker("max.connections", T.INT, INT_MAX, "The most connections in total.", at_least=0),
    _broker("max.connections.per.ip", T.INT, INT_MAX, "The most connections from one address.", at_least=0),
    _broker(
        "max.incremental.fetch.session.cache.slots", T.INT, 1000, "The most fetch sessions kept (KIP-227).", at_least=0
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
    ),
    _broker(
        "sasl.enabled.mechanisms",
        T.LIST,
        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "The mechanisms offered on SASL listeners.",
    ),
    _broker("socket.request.max.bytes", T.INT, 104_857_600, "The largest request.", at_least=1),
    _broker("ssl.keystore.password", T.PASSWORD, "", "Never shown."),
    _broker("super.users", T.STRING, "", "Principals that may do everything, separated by semicolons."),
    _broker(
        "transaction.max.timeout.ms", T.INT, 900_000, "The longest transaction a producer may ask for.", at_least=1
    ),
    _broker(
        "transaction.partition.verification.enable",
        T.BOOLEAN,
        "true",
        "Whether a write is checked against its transaction (KIP-890); what a client of the second transaction "
        "protocol sends always is.",
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

TOPIC_KEYS: dict[str, LogOption] = dict(LOG_CONFIG_OPTIONS)
_SYNONYMS = {
    option.broker_name: replace(option, name=option.broker_name)
    for option in LOG_CONFIG_OPTIONS.values()
    if option.broker_name is not None
}
BROKER_KEYS: dict[str, LogOption] = {**{key.name: key for key in _BROKER_KEYS}, **_SYNONYMS}
# Who a broker is and where it listens cannot change under its connections: only these can be altered while it runs.
DYNAMIC_BROKER_KEYS = frozenset({*_SYNONYMS, "max.connections", "max.connections.per.ip"})


def problem_with(option: LogOption, value: str) -> str | None:
    """What is wrong with a value, as a sentence, or None."""
    try:
        option.parse(value)
    except InvalidConfig as error:
        return str(error)
    return None


def contradiction(number: Callable[[str], int]) -> str | None:
    """What is wrong between options that each are well, as a sentence, or None. ``number`` gives their values."""
    for name in ("heartbeat.interval.ms", "session.timeout.ms"):
        low, value, high = (f"group.consumer.{which}{name}" for which in ("min.", "", "max."))
        if not number(low) <= number(value) <= number(high):
            return f"{value} must be between {low} and {high}: {number(low)} <= {number(value)} <= {number(high)}"
    return None


def sensitive(option: LogOption) -> bool:
    """Whether the value must never be shown."""
    return option.type == ConfigType.PASSWORD


def split_list(value: str) -> list[str]:
    """The parts of a comma-separated value."""
    return [part.strip() for part in value.split(",") if part.strip()]
