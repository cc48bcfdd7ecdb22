"""The options of the data source: read, checked, refused. Names and meanings are those of Spark's own connector.

Pure: no Spark, no broker. Spark hands options over with names in lower case; messages show them as they are documented.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pykclient.config import ConsumerConfig, ProducerConfig
from pykclient.config.options import nearest
from pykclient.errors import UsageError
from pykclient.spark.offsets import EARLIEST, LATEST, Offsets, from_json, partitions_from_json
from pykclient.types import TopicPartition

COLUMN_NAMES = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")

NAMES = (
    "assign", "subscribe", "subscribePattern",
    "startingOffsets", "startingOffsetsByTimestamp", "startingTimestamp", "startingOffsetsByTimestampStrategy",
    "endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp",
    "failOnDataLoss", "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs",
    "partition.metadata.cache.ttl.ms", "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay",
    "minPartitions", "maxRecordsPerPartition", "groupIdPrefix", "includeHeaders", "topic",
    "columns", "commitGroup", "exactlyOnce", "transactionalIdPrefix", "idempotencyToken",
    "checkReplays", "triggerInterval",
)  # fmt: skip
_CANONICAL = {name.lower(): name for name in NAMES}
# What Spark itself passes along with ours.
_SPARKS_OWN = {"checkpointlocation", "path", "queryname", "outputmode", "serialization.format"}

_REFUSED = {
    "auto.offset.reset": "set the source option startingOffsets to 'earliest' or 'latest' instead; Spark keeps the "
    "offsets itself",
    "key.deserializer": "keys are read as bytes; use DataFrame operations to deserialize them",
    "value.deserializer": "values are read as bytes; use DataFrame operations to deserialize them",
    "key.serializer": "keys are strings or bytes; use DataFrame operations to serialize them",
    "value.serializer": "values are strings or bytes; use DataFrame operations to serialize them",
    "enable.auto.commit": "the source commits nothing by itself; see the option commitGroup",
    "interceptor.classes": "interceptors may change records, which the source cannot take part in",
}

_DURATION = re.compile(r"\s*(\d+)\s*([a-z]*)\s*\Z", re.IGNORECASE)
_UNIT_MS = {
    "us": 0.001, "ms": 1, "": 1, "s": 1000, "sec": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
    "second": 1000, "seconds": 1000, "minute": 60_000, "minutes": 60_000, "hour": 3_600_000, "hours": 3_600_000,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bound:
    """Where reading starts or ends: at the special offset, an offset each, a time each, or one time for all."""

    special: int | None = None
    offsets: Offsets | None = None
    timestamps: Offsets | None = None
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a reader needs to know."""

    client: dict[str, str]
    """The client's configuration: what followed ``kafka.``"""
    assign: tuple[TopicPartition, ...] | None
    subscribe: tuple[str, ...] | None
    pattern: str | None
    starting: Bound
    ending: Bound
    unmatched_is_latest: bool
    fail_on_data_loss: bool
    poll_timeout_s: float
    retries: int
    retry_interval_s: float
    metadata_ttl_s: float
    rows_max_per_trigger: int | None
    rows_min_per_trigger: int | None
    trigger_delay_max_s: float
    min_partitions: int | None
    rows_max_per_partition: int | None
    columns: tuple[str, ...]
    commit_group: str | None


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """What a writer needs to know."""

    client: dict[str, str]
    topic: str | None
    exactly_once: bool
    transactional_id_prefix: str | None
    idempotency_token: str | None
    checkpoint: str | None
    check_replays: bool
    trigger_ms: int | None


def _without_table(options: dict[str, str]) -> dict[str, str]:
    """CREATE TABLE passes the properties of the table along (its provider, its owner, those of the user), and each of
    its OPTIONS twice, once as ``option.<name>``: only these are for us."""
    if "provider" not in options:
        return options
    return {name: value for name, value in options.items() if f"option.{name}" in options}


def table_options(options: Mapping[str, str]) -> dict[str, str] | None:
    """The OPTIONS of a table, while it is made by CREATE TABLE; None otherwise."""
    lower = {name.lower(): value for name, value in options.items()}
    return _without_table(lower) if "provider" in lower else None


class _Given:
    """The options as given, by lower-case name, and how to read each kind."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = _without_table(
            {name.lower(): str(value) for name, value in options.items() if value is not None}
        )
        for name in self._options:
            if name not in _CANONICAL and name not in _SPARKS_OWN and not name.startswith(("kafka.", "__")):
                known = [*_CANONICAL, "kafka.bootstrap.servers"]
                close = nearest(name, known)
                for lower, canonical in _CANONICAL.items():
                    close = close.replace(repr(lower), repr(canonical))
                raise UsageError(f"option {name!r} is not known to the pykclient data source{close}")

    def text(self, name: str) -> str | None:
        return self._options.get(name.lower())

    def boolean(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.strip().lower() not in ("true", "false"):
            raise UsageError(f"option {name} must be true or false, not {text!r}")
        return text.strip().lower() == "true"

    def number(self, name: str, default: int | None = None, *, at_least: int = 0) -> int | None:
        text = self.text(name)
        if text is None:
            return default
        try:
            number = int(text)
        except ValueError:
            raise UsageError(f"option {name} must be a whole number, not {text!r}") from None
        if number < at_least:
            raise UsageError(f"option {name} must be {'positive' if at_least == 1 else f'at least {at_least}'}")
        return number

    def duration_s(self, name: str, default_s: float) -> float:
        text = self.text(name)
        if text is None:
            return default_s
        match = _DURATION.match(text)
        if match is None or match[2].lower() not in _UNIT_MS:
            raise UsageError(f"option {name} must be a time such as 15m, 30s or 500ms, not {text!r}")
        return int(match[1]) * _UNIT_MS[match[2].lower()] / 1000

    def client(self, table: type, other: type) -> dict[str, str]:
        """The ``kafka.*`` options for one kind of client; those that only the other kind has are left out, so that one
        set of options can serve a table that is read and written."""
        found = {name[6:]: value for name, value in self._options.items() if name.startswith("kafka.")}
        for name, instead in _REFUSED.items():
            if name in found:
                raise UsageError(f"option kafka.{name} is not supported: {instead}")
        if "bootstrap.servers" not in found:
            raise UsageError("option kafka.bootstrap.servers is missing")
        mine, others = _field_names(table), _field_names(other)
        return {
            name: value for name, value in found.items() if (key := name.replace(".", "_")) in mine or key not in others
        }


def _field_names(table: type) -> set[str]:
    return {field.name for field in dataclasses.fields(table)}


def source_options(options: Mapping[str, str], *, streaming: bool) -> SourceOptions:
    """Read and check the options of a reader; UsageError says what is wrong."""
    given = _Given(options)
    assign, subscribe, pattern = _strategy(given)
    starting = _bound(given, "starting", LATEST if streaming else EARLIEST)
    ending = _bound(given, "ending", LATEST)
    if streaming:
        for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
            if given.text(name) is not None:
                raise UsageError(f"{name}: an ending is not valid in streaming queries")
    else:
        _check_batch_bounds(starting, ending)
    strategy = (given.text("startingOffsetsByTimestampStrategy") or "error").lower()
    if strategy not in ("error", "latest"):
        raise UsageError(f"option startingOffsetsByTimestampStrategy must be error or latest, not {strategy!r}")
    rows_max = given.number("maxOffsetsPerTrigger", at_least=1)
    rows_min = given.number("minOffsetsPerTrigger", at_least=1)
    if rows_max is not None and rows_min is not None and rows_min > rows_max:
        raise UsageError(f"minOffsetsPerTrigger ({rows_min}) is more than maxOffsetsPerTrigger ({rows_max})")
    poll_timeout_ms = given.number("kafkaConsumer.pollTimeoutMs", 120_000, at_least=1)
    retries = given.number("fetchOffset.numRetries", 3)
    retry_interval_ms = given.number("fetchOffset.retryIntervalMs", 1000)
    ttl_ms = given.number("partition.metadata.cache.ttl.ms", -1, at_least=-1)
    assert poll_timeout_ms is not None
    assert retries is not None
    assert retry_interval_ms is not None
    assert ttl_ms is not None
    return SourceOptions(
        client=given.client(ConsumerConfig, ProducerConfig),
        assign=assign,
        subscribe=subscribe,
        pattern=pattern,
        starting=starting,
        ending=ending,
        unmatched_is_latest=strategy == "latest",
        fail_on_data_loss=given.boolean("failOnDataLoss", True),
        poll_timeout_s=poll_timeout_ms / 1000,
        retries=retries,
        retry_interval_s=retry_interval_ms / 1000,
        metadata_ttl_s=ttl_ms / 1000,
        rows_max_per_trigger=rows_max,
        rows_min_per_trigger=rows_min,
        trigger_delay_max_s=given.duration_s("maxTriggerDelay", 900.0),
        min_partitions=given.number("minPartitions", at_least=1),
        rows_max_per_partition=given.number("maxRecordsPerPartition", at_least=1),
        columns=_columns(given),
        commit_group=given.text("commitGroup"),
    )


def source_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns a reader with these options has."""
    return _columns(_Given(options))


def _strategy(
    given: _Given,
) -> tuple[tuple[TopicPartition, ...] | None, tuple[str, ...] | None, str | None]:
    names = ("assign", "subscribe", "subscribePattern")
    chosen = [name for name in names if given.text(name) is not None]
    if len(chosen) != 1:
        what = "one of the options" if not chosen else "only one of the options"
        raise UsageError(
            f"{what} {', '.join(names)} must be given" + (f", not {' and '.join(chosen)}" if chosen else "")
        )
    text = given.text(chosen[0]) or ""
    if chosen[0] == "assign":
        partitions = partitions_from_json(text, "assign") if text.strip() else []
        if not partitions:
            raise UsageError(f"assign names no partition: {text!r}")
        return tuple(partitions), None, None
    if chosen[0] == "subscribe":
        topics = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        if not topics:
            raise UsageError(f"subscribe names no topic: {text!r}")
        return None, topics, None
    if not text.strip():
        raise UsageError("subscribePattern is empty")
    try:
        re.compile(text)
    except re.error as error:
        raise UsageError(f"subscribePattern {text!r} is not a regular expression: {error}") from None
    return None, None, text


def _bound(given: _Given, which: str, default: int) -> Bound:
    """As in Spark, one time for all goes before times, and times before offsets."""
    timestamp = given.number(f"{which}Timestamp")
    if timestamp is not None:
        return Bound(timestamp_ms=timestamp)
    by_timestamp = given.text(f"{which}OffsetsByTimestamp")
    if by_timestamp is not None:
        times = from_json(by_timestamp, f"{which}OffsetsByTimestamp")
        if any(moment < 0 for moment in times.values()):
            raise UsageError(f"{which}OffsetsByTimestamp: times are milliseconds, 0 or more")
        return Bound(timestamps=times)
    text = given.text(f"{which}Offsets")
    if text is None:
        return Bound(special=default)
    word = text.strip().lower()
    if word in ("earliest", "latest"):
        return Bound(special=EARLIEST if word == "earliest" else LATEST)
    return Bound(offsets=from_json(text, f"{which}Offsets"))


def _check_batch_bounds(starting: Bound, ending: Bound) -> None:
    if starting.special == LATEST:
        raise UsageError("startingOffsets can't be latest for batch queries on Kafka")
    for tp, offset in (starting.offsets or {}).items():
        if offset == LATEST:
            raise UsageError(
                f"startingOffsets for {tp.topic}-{tp.partition} can't be latest for batch queries on Kafka"
            )
    if ending.special == EARLIEST:
        raise UsageError("endingOffsets can't be earliest for batch queries on Kafka")
    for tp, offset in (ending.offsets or {}).items():
        if offset == EARLIEST:
            raise UsageError(
                f"endingOffsets for {tp.topic}-{tp.partition} can't be earliest for batch queries on Kafka"
            )


def _columns(given: _Given) -> tuple[str, ...]:
    text = given.text("columns")
    if text is None:
        return COLUMN_NAMES if given.boolean("includeHeaders", False) else COLUMN_NAMES[:-1]
    by_lower = {name.lower(): name for name in COLUMN_NAMES}
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name.lower() not in by_lower:
            raise UsageError(f"columns names {name!r}; there are {', '.join(COLUMN_NAMES)}")
    if not names:
        raise UsageError("columns names no column")
    chosen = tuple(dict.fromkeys(by_lower[name.lower()] for name in names))
    return (*chosen, "headers") if given.boolean("includeHeaders", False) and "headers" not in chosen else chosen


def sink_options(options: Mapping[str, str]) -> SinkOptions:
    """Read and check the options of a writer."""
    given = _Given(options)
    topic = given.text("topic")
    if topic is not None:
        topic = topic.strip()
    given.boolean("includeHeaders", False)
    trigger_ms = None
    if given.text("triggerInterval") is not None:
        trigger_ms = int(given.duration_s("triggerInterval", 0.0) * 1000)
    if given.text("kafka.transactional.id") is not None:
        raise UsageError("option kafka.transactional.id is not supported: see exactlyOnce and transactionalIdPrefix")
    return SinkOptions(
        client=given.client(ProducerConfig, ConsumerConfig),
        topic=topic,
        exactly_once=given.boolean("exactlyOnce", False),
        transactional_id_prefix=given.text("transactionalIdPrefix"),
        idempotency_token=given.text("idempotencyToken"),
        checkpoint=given.text("checkpointLocation"),
        check_replays=given.boolean("checkReplays", True),
        trigger_ms=trigger_ms,
    )


def consumer_settings(options: SourceOptions) -> dict[str, Any]:
    """The configuration of a consumer that reads for Spark: the user's, and what makes large reads quick."""
    defaults: dict[str, Any] = {
        "auto.offset.reset": "none",
        "enable.auto.commit": "false",
        "max.partition.fetch.bytes": 8 * 1024 * 1024,
        "allow.auto.create.topics": "false",
    }
    return {**defaults, **options.client}


__all__ = [
    "COLUMN_NAMES",
    "Bound",
    "SinkOptions",
    "SourceOptions",
    "consumer_settings",
    "sink_options",
    "source_columns",
    "source_options",
    "table_options",
]
