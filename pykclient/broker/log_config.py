"""The configuration of one topic's logs: Kafka's names, types, defaults and limits in one table, and the frozen
values a log works with.

Plain data, any thread. The controller checks CreateTopics and AlterConfigs against the same table
(``LOG_CONFIG_OPTIONS``), and DescribeConfigs shows it;
no default is written anywhere else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pykclient.errors import InvalidConfig
from pykclient.protocol.compression import CompressionType
from pykclient.types import TimestampType

LONG_MAX: Final = 2**63 - 1
INT_MAX: Final = 2**31 - 1


class ConfigType(enum.IntEnum):
    """The type of a value, numbered as in DescribeConfigs answers."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


@dataclass(frozen=True, slots=True)
class LogOption:
    """One option. ``default`` is the text that DescribeConfigs shows; ``choices`` limits strings and the items of
    lists."""

    name: str
    type: ConfigType
    default: str
    doc: str
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()
    broker_name: str | None = None
    """The broker-wide option that sets the default of topics."""
    internal: bool = False

    def parse(self, text: str) -> Any:
        """The value of a text, or InvalidConfig with Kafka's reasons."""
        value = self._convert(text.strip())
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if self.at_least is not None and value < self.at_least:
                raise self._invalid(text, f"Value must be at least {self.at_least:g}")
            if self.at_most is not None and value > self.at_most:
                raise self._invalid(text, f"Value must be no more than {self.at_most:g}")
        if self.choices:
            for item in value if isinstance(value, tuple) else (value,):
                if item not in self.choices:
                    raise self._invalid(text, f"String must be one of: {', '.join(self.choices)}")
        return value

    def _convert(self, text: str) -> Any:
        if self.type is ConfigType.BOOLEAN:
            if text.lower() not in ("true", "false"):
                raise self._invalid(text, "Expected value to be either true or false")
            return text.lower() == "true"
        if self.type in (ConfigType.INT, ConfigType.LONG):
            limit = INT_MAX if self.type is ConfigType.INT else LONG_MAX
            try:
                number = int(text)
            except ValueError:
                raise self._invalid(text, f"Not a number of type {self.type.name}") from None
            if not -limit - 1 <= number <= limit:
                raise self._invalid(text, f"Not a number of type {self.type.name}")
            return number
        if self.type is ConfigType.DOUBLE:
            try:
                return float(text)
            except ValueError:
                raise self._invalid(text, "Not a number of type DOUBLE") from None
        if self.type is ConfigType.LIST:
            return tuple(item.strip() for item in text.split(",") if item.strip())
        return text

    def _invalid(self, text: str, reason: str) -> InvalidConfig:
        return InvalidConfig(f"Invalid value {text} for configuration {self.name}: {reason}")


def _option(name: str, kind: ConfigType, default: object, doc: str, **limits: Any) -> tuple[str, LogOption]:
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return name, LogOption(name, kind, text, doc, **limits)


_BOOLEAN, _INT, _LONG = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG
_STRING, _LIST, _DOUBLE = ConfigType.STRING, ConfigType.LIST, ConfigType.DOUBLE
_DAY_MS = 86_400_000

LOG_CONFIG_OPTIONS: Final[Mapping[str, LogOption]] = dict(
    [
        _option(
            "cleanup.policy",
            _LIST,
            "delete",
            "Drop old segments (delete), keep the last record per key (compact), or both.",
            choices=("compact", "delete"),
            broker_name="log.cleanup.policy",
        ),
        _option(
            "compression.type",
            _STRING,
            "producer",
            "Codec of stored batches; producer keeps what the producer chose.",
            choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
            broker_name="compression.type",
        ),
        _option(
            "compression.gzip.level",
            _INT,
            -1,
            "Level when batches are compressed again with gzip.",
            at_least=-1,
            at_most=9,
        ),
        _option(
            "compression.lz4.level",
            _INT,
            9,
            "Level when batches are compressed again with lz4.",
            at_least=1,
            at_most=17,
        ),
        _option(
            "compression.zstd.level",
            _INT,
            3,
            "Level when batches are compressed again with zstd.",
            at_least=-131072,
            at_most=22,
        ),
        _option(
            "delete.retention.ms",
            _LONG,
            _DAY_MS,
            "How long tombstones and transaction markers stay readable after compaction reached them.",
            at_least=0,
            broker_name="log.cleaner.delete.retention.ms",
        ),
        _option(
            "file.delete.delay.ms",
            _LONG,
            60_000,
            "Accepted; files are deleted at once, no reader holds them open.",
            at_least=0,
            broker_name="log.segment.delete.delay.ms",
        ),
        _option(
            "flush.messages",
            _LONG,
            LONG_MAX,
            "Sync to the disk after this many records, before they are acknowledged.",
            at_least=1,
            broker_name="log.flush.interval.messages",
        ),
        _option(
            "flush.ms",
            _LONG,
            LONG_MAX,
            "Sync to the disk at least this often.",
            at_least=0,
            broker_name="log.flush.interval.ms",
        ),
        _option("follower.replication.throttled.replicas", _LIST, "", "Accepted; followers are not throttled."),
        _option("leader.replication.throttled.replicas", _LIST, "", "Accepted; leaders do not throttle replication."),
        _option(
            "index.interval.bytes",
            _INT,
            4096,
            "Bytes of log between two index entries.",
            at_least=0,
            broker_name="log.index.interval.bytes",
        ),
        _option("local.retention.bytes", _LONG, -2, "Accepted; there is no remote storage.", at_least=-2),
        _option("local.retention.ms", _LONG, -2, "Accepted; there is no remote storage.", at_least=-2),
        _option(
            "max.compaction.lag.ms",
            _LONG,
            LONG_MAX,
            "Compact at the latest after this long.",
            at_least=1,
            broker_name="log.cleaner.max.compaction.lag.ms",
        ),
        _option(
            "max.message.bytes",
            _INT,
            1_048_588,
            "Largest batch that is accepted.",
            at_least=0,
            broker_name="message.max.bytes",
        ),
        _option(
            "message.timestamp.after.max.ms",
            _LONG,
            3_600_000,
            "How far in the future a record's timestamp may lie.",
            at_least=0,
            broker_name="log.message.timestamp.after.max.ms",
        ),
        _option(
            "message.timestamp.before.max.ms",
            _LONG,
            LONG_MAX,
            "How far in the past a record's timestamp may lie.",
            at_least=0,
            broker_name="log.message.timestamp.before.max.ms",
        ),
        _option(
            "message.timestamp.type",
            _STRING,
            "CreateTime",
            "Keep the producer's timestamps, or set the time of arrival.",
            choices=("CreateTime", "LogAppendTime"),
            broker_name="log.message.timestamp.type",
        ),
        _option(
            "min.cleanable.dirty.ratio",
            _DOUBLE,
            0.5,
            "Compact when this share of the log was written since the last time.",
            at_least=0,
            at_most=1,
            broker_name="log.cleaner.min.cleanable.ratio",
        ),
        _option(
            "min.compaction.lag.ms",
            _LONG,
            0,
            "Records younger than this are not compacted.",
            at_least=0,
            broker_name="log.cleaner.min.compaction.lag.ms",
        ),
        _option(
            "min.insync.replicas",
            _INT,
            1,
            "Replicas that must be in sync for acks=all.",
            at_least=1,
            broker_name="min.insync.replicas",
        ),
        _option(
            "preallocate", _BOOLEAN, False, "Accepted; files grow as they are written.", broker_name="log.preallocate"
        ),
        _option("remote.log.copy.disable", _BOOLEAN, False, "Accepted; there is no remote storage."),
        _option("remote.log.delete.on.disable", _BOOLEAN, False, "Accepted; there is no remote storage."),
        _option("remote.storage.enable", _BOOLEAN, False, "There is no remote storage; only false is possible."),
        _option(
            "retention.bytes",
            _LONG,
            -1,
            "Delete the oldest segments beyond this size of a partition; -1 for no limit.",
            broker_name="log.retention.bytes",
        ),
        _option(
            "retention.ms",
            _LONG,
            7 * _DAY_MS,
            "Delete segments whose records are all older than this; -1 for no limit.",
            at_least=-1,
            broker_name="log.retention.ms",
        ),
        _option(
            "segment.bytes",
            _INT,
            1 << 30,
            "Start a new segment before it grows beyond this.",
            at_least=1 << 20,
            broker_name="log.segment.bytes",
        ),
        _option(
            "segment.index.bytes",
            _INT,
            10 << 20,
            "Start a new segment when its index is this large.",
            at_least=4,
            broker_name="log.index.size.max.bytes",
        ),
        _option(
            "segment.jitter.ms",
            _LONG,
            0,
            "Accepted; segments roll without jitter.",
            at_least=0,
            broker_name="log.roll.jitter.ms",
        ),
        _option(
            "segment.ms",
            _LONG,
            7 * _DAY_MS,
            "Start a new segment when the first record of this one is so old.",
            at_least=1,
            broker_name="log.roll.ms",
        ),
        _option(
            "unclean.leader.election.enable",
            _BOOLEAN,
            False,
            "Let a replica that is not in sync become leader, losing records.",
            broker_name="unclean.leader.election.enable",
        ),
        # Kafka's own escape from the 1 MiB floor of segment.bytes, for tests.
        _option("internal.segment.bytes", _INT, -1, "Overrides segment.bytes without its lower limit.", internal=True),
    ]
)


def _attribute(name: str) -> str:
    return name.replace(".", "_")


@dataclass(frozen=True, slots=True)
class LogConfig:
    """The values that a log uses; the rest of the table is accepted and shown only."""

    cleanup_policy: tuple[str, ...] = ("delete",)
    compression_type: str = "producer"
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    delete_retention_ms: int = _DAY_MS
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    index_interval_bytes: int = 4096
    internal_segment_bytes: int = -1
    max_compaction_lag_ms: int = LONG_MAX
    max_message_bytes: int = 1_048_588
    message_timestamp_after_max_ms: int = 3_600_000
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_type: str = "CreateTime"
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    min_insync_replicas: int = 1
    retention_bytes: int = -1
    retention_ms: int = 7 * _DAY_MS
    segment_bytes: int = 1 << 30
    segment_index_bytes: int = 10 << 20
    segment_ms: int = 7 * _DAY_MS
    unclean_leader_election_enable: bool = False

    @classmethod
    def from_dict(cls, overrides: Mapping[str, str], defaults: Mapping[str, str] | None = None) -> LogConfig:
        """From texts by Kafka's names; ``defaults`` holds what the broker sets for topics. Unknown names raise
        InvalidConfig."""
        values: dict[str, Any] = {}
        for name, text in {**(defaults or {}), **overrides}.items():
            option = LOG_CONFIG_OPTIONS.get(name)
            if option is None:
                raise InvalidConfig(f"Unknown topic config name: {name}")
            value = option.parse(text)
            if _attribute(name) in _ATTRIBUTES:
                values[_attribute(name)] = value
        config = cls(**values)
        if values.get("min_compaction_lag_ms", 0) > config.max_compaction_lag_ms:
            raise InvalidConfig("min.compaction.lag.ms must not be larger than max.compaction.lag.ms")
        return config

    @property
    def compact(self) -> bool:
        """Whether the cleaner works on it."""
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        """Whether retention applies."""
        return "delete" in self.cleanup_policy

    @property
    def segment_bytes_max(self) -> int:
        """The size at which a segment rolls."""
        return self.internal_segment_bytes if self.internal_segment_bytes > 0 else self.segment_bytes

    @property
    def timestamp_type(self) -> TimestampType:
        """Who sets the timestamps."""
        if self.message_timestamp_type == "LogAppendTime":
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    def target_compression(self, source: CompressionType) -> tuple[CompressionType, int | None]:
        """The codec and level that a batch which came with ``source`` is stored with."""
        if self.compression_type == "producer":
            return source, None
        if self.compression_type == "uncompressed":
            return CompressionType.NONE, None
        target = CompressionType[self.compression_type.upper()]
        levels = {
            CompressionType.GZIP: self.compression_gzip_level if self.compression_gzip_level >= 0 else None,
            CompressionType.LZ4: self.compression_lz4_level,
            CompressionType.ZSTD: self.compression_zstd_level,
        }
        return target, levels.get(target)


_ATTRIBUTES = frozenset(LogConfig.__dataclass_fields__)


def check_topic_config(name: str, text: str) -> None:
    """Raise InvalidConfig unless the option exists and takes this text."""
    option = LOG_CONFIG_OPTIONS.get(name)
    if option is None:
        raise InvalidConfig(f"Unknown topic config name: {name}")
    option.parse(text)


__all__ = ["LOG_CONFIG_OPTIONS", "ConfigType", "LogConfig", "LogOption", "check_topic_config"]
