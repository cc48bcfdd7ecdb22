"""Error answers put where each API has errors, and the rules that decide which request meets which fault."""

from __future__ import annotations

import random
import typing
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.broker.error_replies import (
    MIRRORS,
    error_response,
    groups_of,
    merge,
    split_by_topic,
    topics_of,
    transactional_ids_of,
)
from pykclient.broker.faults import FaultKind, Faults, api_key
from pykclient.broker.request import ANONYMOUS, RequestContext
from pykclient.errors import ErrorCode, UsageError
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

TOPIC_ID = uuid.UUID(int=77)
CODE = ErrorCode.KAFKA_STORAGE_ERROR


# ---- a request with something in every field that its version carries ----


def sample(hint: Any, version: int) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return [sample(arguments[0], version)]
    if type(None) in arguments:
        return sample(next(each for each in arguments if each is not type(None)), version)
    if hint is str:
        return "x"
    if hint is uuid.UUID:
        return TOPIC_ID
    if hint in (int, float, bool):
        return hint(1)
    if hint in (bytes, memoryview) or "bytes" in str(hint):
        return b""
    return filled(hint, version)


def filled(message_class: Any, version: int) -> Any:
    """An instance whose fields are set as far as this version can carry them."""
    message = message_class()
    for name, hint in typing.get_type_hints(message_class).items():
        if name == "unknown_tags" or typing.get_origin(hint) is typing.ClassVar or name.isupper():
            continue
        before = getattr(message, name)
        setattr(message, name, sample(hint, version))
        try:
            message._write([], version)
        except UsageError:
            setattr(message, name, before)
    return message


def values(message: Any, name: str) -> Iterator[Any]:
    """Every value of a field of this name, at any depth."""
    for slot in getattr(message, "__slots__", ()):
        value = getattr(message, slot)
        if slot == name:
            yield value
        for item in value if isinstance(value, list) else [value]:
            if hasattr(item, "__slots__") and hasattr(type(item), "_write"):
                yield from values(item, name)


EVERY_VERSION = [
    pytest.param(key, version, id=f"{key.name}-v{version}")
    for key in sorted(MIRRORS)
    for version in range(api(key).min_version, api(key).max_version + 1)
]


@pytest.mark.parametrize(("key", "version"), EVERY_VERSION)
def test_every_version_of_every_api_can_say_an_error_about_everything_asked(key: ApiKey, version: int) -> None:
    info = api(key)
    request = info.request_class().read(filled(info.request_class(), version).write(version), version)
    response = info.response_class().read(error_response(key, version, request, CODE).write(version), version)
    codes = [*values(response, "error_code"), *values(response, "partition_error_code")]
    assert CODE in codes
    assert set(codes) <= {CODE, ErrorCode.NONE}
    for mirror in MIRRORS[key]:
        assert len(getattr(response, mirror.answered)) in (0, 1)


@pytest.mark.parametrize(
    "key",
    [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.INIT_PRODUCER_ID, ApiKey.END_TXN,
     ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.LIST_GROUPS, ApiKey.DESCRIBE_CLUSTER],
)  # fmt: skip
def test_flat_answers_carry_the_error_in_every_version(key: ApiKey) -> None:
    info = api(key)
    for version in range(info.min_version, info.max_version + 1):
        request = filled(info.request_class(), version)
        answer = info.response_class().read(error_response(key, version, request, CODE).write(version), version)
        assert answer.error_code == CODE


def test_a_failed_produce_and_fetch_say_it_per_partition_with_nothing_in_the_other_fields() -> None:
    produce = ProduceRequest(topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(4)])])
    answered = error_response(ApiKey.PRODUCE, 9, produce, CODE).responses[0].partition_responses[0]
    assert (answered.index, answered.error_code, answered.base_offset) == (4, CODE, -1)
    fetch = FetchRequest(topics=[FetchTopic("t", partitions=[FetchPartition(4)])])
    response = error_response(ApiKey.FETCH, 11, fetch, CODE)
    assert response.error_code == 0, "an error in front would reset the client's session"
    assert (response.responses[0].partitions[0].partition_index, response.responses[0].partitions[0].error_code) == (
        4,
        CODE,
    )


def test_fetch_session_errors_stand_in_front() -> None:
    fetch = FetchRequest(topics=[FetchTopic("t", partitions=[FetchPartition(4)])])
    response = error_response(ApiKey.FETCH, 11, fetch, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert response.responses == []


# ---- what a request is about ----


def test_topics_groups_and_transactional_ids_are_found() -> None:
    by_id = FetchRequest(topics=[FetchTopic(topic_id=TOPIC_ID)])
    assert list(topics_of(by_id, {TOPIC_ID: "orders"})) == ["orders"]
    assert list(topics_of(by_id, {})) == []
    assert list(groups_of(ApiKey.HEARTBEAT, HeartbeatRequest(group_id="g"))) == ["g"]
    batch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("a"), OffsetFetchRequestGroup("b")])
    assert list(groups_of(ApiKey.OFFSET_FETCH, batch)) == ["a", "b"]
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"])
    assert list(groups_of(ApiKey.FIND_COORDINATOR, find)) == []
    assert list(transactional_ids_of(ApiKey.FIND_COORDINATOR, find)) == ["tx"]


def test_a_request_is_cut_by_topic_and_its_answers_are_joined() -> None:
    request = ProduceRequest(acks=1, topic_data=[TopicProduceData("a"), TopicProduceData("b"), TopicProduceData("c")])
    hit, rest = split_by_topic(ApiKey.PRODUCE, request, {}, lambda name: name == "b")
    assert [topic.name for topic in hit.topic_data] == ["b"]  # type: ignore[union-attr]
    assert [topic.name for topic in rest.topic_data] == ["a", "c"]  # type: ignore[union-attr]
    assert len(request.topic_data) == 3, "the request itself stays whole"
    answer = error_response(ApiKey.PRODUCE, 9, rest, ErrorCode.NONE)
    joined = merge(ApiKey.PRODUCE, answer, error_response(ApiKey.PRODUCE, 9, hit, CODE))
    assert [topic.name for topic in joined.responses] == ["a", "c", "b"]
    assert split_by_topic(ApiKey.PRODUCE, request, {}, lambda name: name == "z") == (None, request)
    assert split_by_topic(ApiKey.PRODUCE, request, {}, lambda name: True) == (request, None)


# ---- rules ----


def context(key: ApiKey = ApiKey.HEARTBEAT, client_id: str | None = "c") -> RequestContext:
    return RequestContext(key, 4, client_id, ANONYMOUS, Endpoint("127.0.0.1", 1), "PLAINTEXT", 1, 0.0, 0)


def hits(faults: Faults, *, node: int = 1, request: Any = None, **fields: Any) -> FaultKind | None:
    rule = faults.hit(node, context(**fields), request or HeartbeatRequest(group_id="g"), {TOPIC_ID: "orders"})
    return None if rule is None else rule.kind


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({}, True),
        ({"node": 1}, True),
        ({"node": 2}, False),
        ({"group": "g"}, True),
        ({"group": "h"}, False),
        ({"topic": "orders"}, False),
        ({"transactional_id": "t"}, False),
        ({"client_id": "c"}, True),
        ({"client_id": "d"}, False),
        ({"node": 1, "group": "h"}, False),
        ({"when": lambda context, request: request.generation_id == 0}, True),
        ({"when": lambda context, request: False}, False),
    ],
)
def test_every_condition_must_hold(conditions: dict[str, Any], matches: bool) -> None:
    faults = Faults(random.Random(1))
    rule = faults.stall("Heartbeat", **conditions)
    assert (hits(faults) is FaultKind.STALL) == matches
    assert rule.hits == int(matches)


def test_rules_are_by_api_in_any_spelling() -> None:
    assert api_key("ListOffsets") == api_key("LIST_OFFSETS") == api_key("list-offsets") == api_key(2)
    with pytest.raises(UsageError, match="not the name of an API"):
        api_key("Fetsch")
    faults = Faults(random.Random(1))
    faults.drop(["Fetch", ApiKey.HEARTBEAT])
    assert hits(faults) is FaultKind.DROP_BEFORE
    assert hits(faults, key=ApiKey.JOIN_GROUP) is None


def test_a_topic_is_recognised_by_its_id() -> None:
    faults = Faults(random.Random(1))
    faults.error("Fetch", "NOT_LEADER_OR_FOLLOWER", topic="orders")
    request = FetchRequest(topics=[FetchTopic(topic_id=TOPIC_ID)])
    assert hits(faults, key=ApiKey.FETCH, request=request) is FaultKind.ERROR


def test_count_and_skip_limit_a_rule() -> None:
    faults = Faults(random.Random(1))
    rule = faults.stall("Heartbeat", count=2, skip=1)
    assert [hits(faults) is not None for _ in range(5)] == [False, True, True, False, False]
    assert (rule.hits, rule.used_up) == (2, True)


def test_probability_follows_the_seed() -> None:
    def pattern(seed: int) -> list[bool]:
        faults = Faults(random.Random(seed))
        faults.stall("Heartbeat", probability=0.3)
        return [hits(faults) is not None for _ in range(200)]

    assert pattern(5) == pattern(5) != pattern(6)
    assert 30 <= sum(pattern(5)) <= 90


def test_the_first_rule_wins_and_observers_see_everything() -> None:
    faults = Faults(random.Random(1))
    before = faults.observe("Heartbeat")
    first = faults.delay("Heartbeat", 1.0, count=1)
    second = faults.drop("Heartbeat", after=True)
    after = faults.observe()
    assert [hits(faults) for _ in range(2)] == [FaultKind.DELAY, FaultKind.DROP_AFTER]
    assert (before.hits, first.hits, second.hits, after.hits) == (2, 1, 1, 2)


def test_removing_and_clearing() -> None:
    faults = Faults(random.Random(1))
    rule = faults.stall("Heartbeat")
    other = faults.truncate("Heartbeat")
    rule.remove()
    assert faults.rules == (other,)
    faults.clear()
    assert hits(faults) is None


def test_waiting_says_how_often_it_was_applied() -> None:
    faults = Faults(random.Random(1))
    rule = faults.corrupt("Heartbeat")
    hits(faults)
    rule.wait_for(1)
    with pytest.raises(TimeoutError, match="applied 1 of 2 times"):
        rule.wait_for(2, timeout_s=0.01)


def test_an_error_rule_needs_an_error() -> None:
    with pytest.raises(UsageError, match="needs an error"):
        Faults(random.Random(1)).error("Fetch", ErrorCode.NONE)
