"""Answers that say one error, put where each API puts it; and requests cut in two by topic.

For every API a small table says how the lists of the request come back in the response (Produce's ``topic_data`` as
``responses``, and so on), so that an error answer names every topic, partition or group that was asked about. Pure
functions over messages; used for injected faults and for failures of our own.
"""

from __future__ import annotations

import copy
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from pykclient.errors import ErrorCode
from pykclient.protocol.messages import ApiKey, api


@dataclass(frozen=True, slots=True)
class Mirror:
    """A list of the request and the list of the response that answers it item by item.

    ``keys`` maps fields of a request item to fields of a response item; the field ``""`` is the item itself, where
    the list has plain values.
    """

    asked: str
    answered: str
    keys: dict[str, str]
    inner: Mirror | None = None


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_BY_NAME_AND_INDEX = Mirror(
    "topics", "topics", _same("name"), Mirror("partitions", "partitions", _same("partition_index"))
)
_OFFSET_FETCH_PARTITIONS = Mirror("partition_indexes", "partitions", {"": "partition_index"})
_TXN_TOPIC_PARTITIONS = Mirror("partitions", "results_by_partition", {"": "partition_index"})

MIRRORS: dict[ApiKey, tuple[Mirror, ...]] = {
    ApiKey.PRODUCE: (
        Mirror(
            "topic_data",
            "responses",
            _same("name", "topic_id"),
            Mirror("partition_data", "partition_responses", _same("index")),
        ),
    ),
    ApiKey.FETCH: (
        Mirror(
            "topics",
            "responses",
            _same("topic", "topic_id"),
            Mirror("partitions", "partitions", {"partition": "partition_index"}),
        ),
    ),
    ApiKey.LIST_OFFSETS: (_BY_NAME_AND_INDEX,),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (
        Mirror("topics", "topics", _same("topic"), Mirror("partitions", "partitions", _same("partition"))),
    ),
    ApiKey.DELETE_RECORDS: (_BY_NAME_AND_INDEX,),
    ApiKey.DESCRIBE_PRODUCERS: (
        Mirror("topics", "topics", _same("name"), Mirror("partition_indexes", "partitions", {"": "partition_index"})),
    ),
    ApiKey.OFFSET_COMMIT: (
        Mirror(
            "topics", "topics", _same("name", "topic_id"), Mirror("partitions", "partitions", _same("partition_index"))
        ),
    ),
    ApiKey.TXN_OFFSET_COMMIT: (_BY_NAME_AND_INDEX,),
    ApiKey.OFFSET_DELETE: (_BY_NAME_AND_INDEX,),
    ApiKey.OFFSET_FETCH: (
        Mirror("topics", "topics", _same("name"), _OFFSET_FETCH_PARTITIONS),
        Mirror("groups", "groups", _same("group_id")),
    ),
    ApiKey.FIND_COORDINATOR: (Mirror("coordinator_keys", "coordinators", {"": "key"}),),
    ApiKey.DESCRIBE_GROUPS: (Mirror("groups", "groups", {"": "group_id"}),),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (Mirror("group_ids", "groups", {"": "group_id"}),),
    ApiKey.DELETE_GROUPS: (Mirror("groups_names", "results", {"": "group_id"}),),
    ApiKey.LEAVE_GROUP: (Mirror("members", "members", _same("member_id", "group_instance_id")),),
    ApiKey.CREATE_TOPICS: (Mirror("topics", "topics", _same("name")),),
    ApiKey.DELETE_TOPICS: (
        Mirror("topics", "responses", _same("name", "topic_id")),
        Mirror("topic_names", "responses", {"": "name"}),
    ),
    ApiKey.CREATE_PARTITIONS: (Mirror("topics", "results", _same("name")),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (Mirror("topics", "topics", _same("name")),),
    ApiKey.DESCRIBE_CONFIGS: (Mirror("resources", "results", _same("resource_type", "resource_name")),),
    ApiKey.ALTER_CONFIGS: (Mirror("resources", "responses", _same("resource_type", "resource_name")),),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (Mirror("resources", "responses", _same("resource_type", "resource_name")),),
    ApiKey.CREATE_ACLS: (Mirror("creations", "results", {}),),
    ApiKey.DELETE_ACLS: (Mirror("filters", "filter_results", {}),),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        Mirror("v3_and_below_topics", "results_by_topic_v3_and_below", _same("name"), _TXN_TOPIC_PARTITIONS),
        Mirror(
            "transactions",
            "results_by_transaction",
            _same("transactional_id"),
            Mirror("topics", "topic_results", _same("name"), _TXN_TOPIC_PARTITIONS),
        ),
    ),
    ApiKey.WRITE_TXN_MARKERS: (
        Mirror(
            "markers",
            "markers",
            _same("producer_id"),
            Mirror(
                "topics", "topics", _same("name"), Mirror("partition_indexes", "partitions", {"": "partition_index"})
            ),
        ),
    ),
    ApiKey.DESCRIBE_TRANSACTIONS: (Mirror("transactional_ids", "transaction_states", {"": "transactional_id"}),),
    ApiKey.ELECT_LEADERS: (
        Mirror(
            "topic_partitions",
            "replica_election_results",
            _same("topic"),
            Mirror("partitions", "partition_result", {"": "partition_id"}),
        ),
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (
        Mirror("topics", "responses", _same("name"), Mirror("partitions", "partitions", _same("partition_index"))),
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: (Mirror("entries", "entries", {}),),
}

# Errors of a fetch session concern the whole answer; told per partition a client would not understand them.
_WHOLE_ANSWER = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)
# The error goes to each item only: in front it would mean something else, or there is no place for it.
_PER_ITEM = frozenset({ApiKey.FETCH, ApiKey.OFFSET_DELETE, ApiKey.FIND_COORDINATOR, ApiKey.ELECT_LEADERS})
_ERROR_FIELDS = ("error_code", "partition_error_code")
# Flat answers that name the member they go to.
_ECHOED = {ApiKey.JOIN_GROUP: ("member_id",)}
# Where an error says "nothing", the answer must not say "something" in another field.
_NOTHING = {
    "base_offset": -1,
    "log_append_time_ms": -1,
    "log_start_offset": -1,
    "high_watermark": -1,
    "last_stable_offset": -1,
    "offset": -1,
    "timestamp": -1,
    "end_offset": -1,
    "leader_epoch": -1,
    "low_watermark": -1,
    "committed_offset": -1,
    "producer_id": -1,
    "producer_epoch": -1,
    "node_id": -1,
    "port": -1,
}


def error_response(api_key: int, version: int, request: Any, code: int) -> Any:
    """The answer to the request that says this error everywhere it can."""
    key = ApiKey(api_key)
    response_class = api(key).response_class()
    response = response_class()
    told = False
    if code not in _WHOLE_ANSWER:
        for mirror in MIRRORS.get(key, ()):
            told |= _fill(mirror, request, response, code)
    # A Fetch error in front of everything resets the session and is not taken as the partition's.
    if not (told and key in _PER_ITEM):
        _set_error(response, code)
    for name in _ECHOED.get(key, ()):
        setattr(response, name, getattr(request, name))
    return response


def _fill(mirror: Mirror, request: Any, response: Any, code: int) -> bool:
    asked = getattr(request, mirror.asked, None)
    if not asked:
        return False
    item_class = _item_class(response.__class__, mirror.answered)
    answers = getattr(response, mirror.answered)
    for item in asked:
        answer = item_class()
        for source, target in mirror.keys.items():
            setattr(answer, target, item if source == "" else getattr(item, source))
        if mirror.inner is not None:
            _fill(mirror.inner, item, answer, code)
        _set_error(answer, code)
        answers.append(answer)
    return True


def _set_error(target: Any, code: int) -> None:
    fields = _fields(target.__class__)
    for name in _ERROR_FIELDS:
        if name in fields:
            setattr(target, name, code)
    key_like = any(name in fields for name in _ERROR_FIELDS)
    if key_like:
        for name, nothing in _NOTHING.items():
            if name in fields and getattr(target, name) == 0:
                setattr(target, name, nothing)


@cache
def _fields(message_class: type) -> frozenset[str]:
    return frozenset(typing.get_type_hints(message_class))


@cache
def _item_class(message_class: Any, field: str) -> Any:
    hint = typing.get_type_hints(message_class)[field]
    for candidate in (hint, *typing.get_args(hint)):
        if typing.get_origin(candidate) is list:
            return typing.get_args(candidate)[0]
    raise AssertionError(f"{message_class.__name__}.{field} is not a list")


# ---- what a request is about ----


def topics_of(request: Any, topic_names: typing.Mapping[UUID, str]) -> Iterator[str]:
    """The topics that a request names, or means by an id."""
    for field in ("topics", "topic_data", "v3_and_below_topics", "topic_partitions"):
        for item in getattr(request, field, None) or ():
            name = _topic_name(item, topic_names)
            if name is not None:
                yield name
    yield from getattr(request, "topic_names", None) or ()
    yield from getattr(request, "subscribed_topic_names", None) or ()
    for field in ("transactions", "markers", "groups"):
        for item in getattr(request, field, None) or ():
            yield from topics_of(item, topic_names)
    for item in getattr(request, "resources", None) or ():
        if item.resource_type == 2:
            yield item.resource_name


def _topic_name(item: Any, topic_names: typing.Mapping[UUID, str]) -> str | None:
    if isinstance(item, str):
        return item
    name = getattr(item, "name", None) or getattr(item, "topic", None)
    if name:
        return str(name)
    topic_id = getattr(item, "topic_id", None)
    return topic_names.get(topic_id) if topic_id is not None else None


def groups_of(api_key: int, request: Any) -> Iterator[str]:
    """The groups that a request is about."""
    if api_key == ApiKey.FIND_COORDINATOR:
        if request.key_type == 0:
            yield from request.coordinator_keys or [request.key]
        return
    group_id = getattr(request, "group_id", None)
    if group_id:
        yield group_id
    for field in ("groups", "group_ids", "groups_names"):
        for item in getattr(request, field, None) or ():
            yield item if isinstance(item, str) else item.group_id


def transactional_ids_of(api_key: int, request: Any) -> Iterator[str]:
    """The transactional ids that a request is about."""
    if api_key == ApiKey.FIND_COORDINATOR:
        if request.key_type == 1:
            yield from request.coordinator_keys or [request.key]
        return
    for field in ("transactional_id", "v3_and_below_transactional_id"):
        name = getattr(request, field, None)
        if name:
            yield name
    yield from getattr(request, "transactional_ids", None) or ()
    for item in getattr(request, "transactions", None) or ():
        yield item.transactional_id


def split_by_topic(
    api_key: int, request: Any, topic_names: typing.Mapping[UUID, str], chosen: Callable[[str], bool]
) -> tuple[Any | None, Any | None]:
    """Two requests: one with the chosen topics and one with the others; None where nothing is left.

    Requests without a list of topics that comes back in the answer are not cut: they are chosen or not as a whole.
    """
    for mirror in MIRRORS.get(ApiKey(api_key), ()):
        items = getattr(request, mirror.asked, None)
        if not items or not any(name in ("name", "topic", "topic_id") for name in mirror.keys):
            continue
        hit = [item for item in items if chosen(_topic_name(item, topic_names) or "")]
        rest = [item for item in items if not chosen(_topic_name(item, topic_names) or "")]
        if hit and rest:
            return _with(request, mirror.asked, hit), _with(request, mirror.asked, rest)
        return (request, None) if hit else (None, request)
    return (request, None) if any(chosen(name) for name in topics_of(request, topic_names)) else (None, request)


def _with(request: Any, field: str, items: list[Any]) -> Any:
    result = copy.copy(request)
    setattr(result, field, items)
    return result


def merge(api_key: int, response: Any, extra: Any) -> Any:
    """One answer out of the answers to the two halves of a request."""
    for mirror in MIRRORS.get(ApiKey(api_key), ()):
        getattr(response, mirror.answered).extend(getattr(extra, mirror.answered))
    return response
