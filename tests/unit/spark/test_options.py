"""Options mean what they mean to Spark's own connector, and what is wrong is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from pykclient import TopicPartition, UsageError
from pykclient.spark.options import (
    NAMES,
    Bound,
    consumer_settings,
    sink_options,
    source_columns,
    source_options,
)

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}
BASE = {**SERVERS, "subscribe": "a"}


def read(streaming: Any = False, **options: Any) -> Any:
    return source_options({**BASE, **options}, streaming=streaming)


def test_defaults() -> None:
    batch, stream = read(), read(streaming=True)
    assert (batch.starting, batch.ending) == (Bound(special=-2), Bound(special=-1))
    assert stream.starting == Bound(special=-1)
    assert batch.columns == ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
    assert (batch.fail_on_data_loss, batch.poll_timeout_s, batch.retries, batch.retry_interval_s) == (True, 120, 3, 1)
    assert (stream.rows_max_per_trigger, stream.rows_min_per_trigger, stream.trigger_delay_max_s) == (None, None, 900)
    assert batch.client == {"bootstrap.servers": "localhost:9092"}


def test_names_are_taken_in_any_case() -> None:
    assert read(MAXOFFSETSPERTRIGGER="5", failondataloss="FALSE").rows_max_per_trigger == 5
    assert read(failondataloss="False").fail_on_data_loss is False


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": "EARLIEST"}, Bound(special=-2)),
        (
            {"startingOffsets": '{"a":{"0":23,"1":-2}}'},
            Bound(offsets={TopicPartition("a", 0): 23, TopicPartition("a", 1): -2}),
        ),
        ({"startingOffsetsByTimestamp": '{"a":{"0":1000}}'}, Bound(timestamps={TopicPartition("a", 0): 1000})),
        ({"startingTimestamp": "1700"}, Bound(timestamp_ms=1700)),
        (
            {"startingTimestamp": "1700", "startingOffsetsByTimestamp": "{}", "startingOffsets": "earliest"},
            Bound(timestamp_ms=1700),
        ),
        (
            {"startingOffsetsByTimestamp": '{"a":{"0":5}}', "startingOffsets": "earliest"},
            Bound(timestamps={TopicPartition("a", 0): 5}),
        ),
    ],
)
def test_where_to_start(options: dict[str, str], expected: Bound) -> None:
    assert read(streaming=True, **options).starting == expected
    assert read(**options).starting == expected


def test_which_topics() -> None:
    assert read(subscribe=" a, b ,,a").subscribe == ("a", "b")
    assigned = source_options({**SERVERS, "assign": '{"t":[1,0]}'}, streaming=False)
    assert assigned.assign == (TopicPartition("t", 0), TopicPartition("t", 1))
    assert source_options({**SERVERS, "subscribePattern": "a.*"}, streaming=False).pattern == "a.*"


@pytest.mark.parametrize(
    ("options", "streaming", "complaint"),
    [
        ({"subscribe": None}, False, "one of the options assign, subscribe, subscribePattern must be given"),
        ({"assign": '{"a":[0]}'}, False, "only one of the options .* not assign and subscribe"),
        ({"subscribe": " , "}, False, "subscribe names no topic"),
        ({"subscribe": None, "assign": ""}, False, "assign names no partition"),
        ({"subscribe": None, "assign": "a"}, False, "assign: expected"),
        ({"subscribe": None, "subscribePattern": " "}, False, "subscribePattern is empty"),
        ({"subscribe": None, "subscribePattern": "("}, False, "not a regular expression"),
        ({"kafka.bootstrap.servers": None}, False, "kafka.bootstrap.servers is missing"),
        ({"startingOffsets": "latest"}, False, "can't be latest for batch queries"),
        ({"startingOffsets": '{"a":{"0":-1}}'}, False, "startingOffsets for a-0 can't be latest"),
        ({"endingOffsets": "earliest"}, False, "can't be earliest for batch queries"),
        ({"endingOffsets": '{"a":{"0":-2}}'}, False, "endingOffsets for a-0 can't be earliest"),
        ({"endingOffsets": "latest"}, True, "not valid in streaming queries"),
        ({"endingOffsetsByTimestamp": "{}"}, True, "not valid in streaming queries"),
        ({"endingTimestamp": "5"}, True, "not valid in streaming queries"),
        ({"startingOffsets": "tomorrow"}, True, "startingOffsets: expected e.g."),
        ({"startingOffsetsByTimestamp": '{"a":{"0":-2}}'}, True, "milliseconds, 0 or more"),
        ({"startingOffsetsByTimestampStrategy": "guess"}, True, "must be error or latest"),
        ({"minPartitions": "0"}, False, "minPartitions must be positive"),
        ({"maxRecordsPerPartition": "0"}, False, "maxRecordsPerPartition must be positive"),
        ({"maxOffsetsPerTrigger": "many"}, True, "maxOffsetsPerTrigger must be a whole number, not 'many'"),
        ({"minOffsetsPerTrigger": "10", "maxOffsetsPerTrigger": "5"}, True, "is more than maxOffsetsPerTrigger"),
        ({"maxTriggerDelay": "soon"}, True, "maxTriggerDelay must be a time"),
        ({"failOnDataLoss": "maybe"}, False, "failOnDataLoss must be true or false"),
        ({"kafka.auto.offset.reset": "earliest"}, False, "kafka.auto.offset.reset is not supported: .*startingOffsets"),
        ({"kafka.key.deserializer": "x"}, False, "kafka.key.deserializer is not supported"),
        ({"kafka.value.deserializer": "x"}, False, "kafka.value.deserializer is not supported"),
        ({"kafka.enable.auto.commit": "true"}, False, "kafka.enable.auto.commit is not supported: .*commitGroup"),
        ({"kafka.interceptor.classes": "x"}, False, "kafka.interceptor.classes is not supported"),
        ({"columns": "value,wrong"}, False, "columns names 'wrong'"),
        ({"columns": ","}, False, "columns names no column"),
        ({"startingOfsets": "earliest"}, False, "not known .* did you mean 'startingOffsets'"),
        ({"subscibe": "a"}, False, "did you mean 'subscribe'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_name(options: dict[str, Any], streaming: bool, complaint: str) -> None:
    given = {name: value for name, value in {**BASE, **options}.items() if value is not None}
    with pytest.raises(UsageError, match=complaint):
        source_options(given, streaming=streaming)


def test_only_the_options_of_a_table_count_not_its_properties() -> None:
    given = {f"option.{name}": value for name, value in BASE.items()} | BASE | {"provider": "pykclient", "owner": "me"}
    assert source_options({**given, "anything": "x"}, streaming=False).subscribe == ("a",)
    with pytest.raises(UsageError, match="did you mean 'subscribe'"):
        source_options({**given, "subscirbe": "x", "option.subscirbe": "x"}, streaming=False)


def test_sparks_own_options_pass() -> None:
    assert read(streaming=True, checkpointLocation="/x", path="/y").subscribe == ("a",)


@pytest.mark.parametrize(("text", "seconds"), [("15m", 900), ("500ms", 0.5), ("2 h", 7200), ("30", 0.03), ("1min", 60)])
def test_times_with_units(text: str, seconds: float) -> None:
    assert read(maxTriggerDelay=text).trigger_delay_max_s == seconds


def test_columns_can_be_fewer() -> None:
    assert source_columns({"columns": "VALUE, offset,value"}) == ("value", "offset")
    assert source_columns({"includeHeaders": "true"})[-1] == "headers"
    assert source_columns({"includeHeaders": "true", "columns": "key"}) == ("key", "headers")


def test_one_set_of_options_serves_a_table_that_is_read_and_written() -> None:
    options = {
        **BASE,
        "topic": "out",
        "kafka.isolation.level": "read_committed",
        "kafka.linger.ms": "20",
        "kafka.client.id": "x",
    }
    assert source_options(options, streaming=False).client == {
        "bootstrap.servers": "localhost:9092", "isolation.level": "read_committed", "client.id": "x",
    }  # fmt: skip
    assert sink_options(options).client == {"bootstrap.servers": "localhost:9092", "linger.ms": "20", "client.id": "x"}


def test_a_reader_never_resets_or_commits_by_itself() -> None:
    settings = consumer_settings(read(**{"kafka.max.partition.fetch.bytes": "1000"}))
    assert settings["auto.offset.reset"] == "none"
    assert settings["enable.auto.commit"] == "false"
    assert settings["max.partition.fetch.bytes"] == "1000"


def test_every_documented_name_is_known() -> None:
    numbers = {"kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs"}
    assert numbers < set(NAMES)
    assert read(**dict.fromkeys(numbers, "7")).poll_timeout_s == 0.007
