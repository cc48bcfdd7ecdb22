"""Messages in every version: what they carry, what they refuse, and that hostile bytes raise ProtocolError alone."""

from __future__ import annotations

import dataclasses
import importlib
import pickle
import struct
import tracemalloc
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.errors import ProtocolError, UsageError
from pykclient.protocol.messages.alter_user_scram_credentials import ScramCredentialUpsertion
from pykclient.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from pykclient.protocol.messages.create_topics import CreateTopicsRequest
from pykclient.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.list_groups import ListGroupsRequest
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from pykclient.protocol.specs.generate import load_tables
from pykclient.protocol.specs.layout import SIZES, Attribute, StructClass, classes_of

SAMPLE = (
    "add_partitions_to_txn",
    "api_versions",
    "consumer_group_heartbeat",
    "consumer_group_member_metadata_value",
    "consumer_protocol_subscription",
    "describe_topic_partitions",
    "fetch",
    "join_group",
    "metadata",
    "offset_fetch",
    "partition_change_record",
    "produce",
    "request_header",
    "share_fetch",
    "streams_group_heartbeat",
    "transaction_log_value",
)
MESSAGES = {
    struct.name: (struct, importlib.import_module(f"pykclient.protocol.messages.{module}"))
    for module, specs in load_tables().items()
    if module in SAMPLE
    for struct in classes_of(specs)
    if struct.spec is not None
}
SMALL_TEXT = st.text(max_size=4)


# ---- any message, any version ----


def number(kind: str) -> st.SearchStrategy[Any]:
    if kind == "bool":
        return st.booleans()
    if kind == "float64":
        return st.floats(allow_nan=False)
    if kind == "uuid":
        return st.uuids() | st.just(UUID(int=0))
    bits = 8 * SIZES[kind]
    if kind.startswith("uint"):
        return st.integers(0, 2**bits - 1)
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) | st.sampled_from([-1, 0, 1])


def values_of(a: Attribute, module: Any, version: int) -> st.SearchStrategy[Any]:
    element: st.SearchStrategy[Any]
    if a.struct is not None:
        element = structs(a.struct, module, version)
    elif a.field.element_type == "string":
        element = SMALL_TEXT
    elif a.field.element_type in ("bytes", "records"):
        element = st.binary(max_size=8)
    else:
        element = number(a.field.element_type)
    value = st.lists(element, max_size=2) if a.field.is_array else element
    return st.none() | value if version in a.field.nullable else value


def structs(struct_class: StructClass, module: Any, version: int) -> st.SearchStrategy[Any]:
    """Instances with every field that the version carries set to something."""
    fields = {a.name: values_of(a, module, version) for a in struct_class.attributes if version in a.range}
    if version in struct_class.flexible:
        tags = st.dictionaries(st.integers(100, 2**31 - 2), st.binary(max_size=4), min_size=1, max_size=2)
        fields["unknown_tags"] = st.none() | tags.map(lambda found: dict(sorted(found.items())))
    return st.builds(getattr(module, struct_class.name), **fields)


@st.composite
def messages(draw: st.DrawFn) -> tuple[Any, int]:
    struct_class, module = MESSAGES[draw(st.sampled_from(sorted(MESSAGES)))]
    version = draw(st.integers(struct_class.range.low, struct_class.range.high))
    return draw(structs(struct_class, module, version)), version


@given(messages())
@settings(max_examples=150, deadline=None)
def test_message_survives_the_round_trip_in_every_version(drawn: tuple[Any, int]) -> None:
    message, version = drawn
    raw = message.write(version)
    for buffer in (raw, bytearray(raw), memoryview(raw)):
        assert type(message).read(buffer, version) == message
    assert type(message).read(b"xyz" + raw, version, position=3) == message


@given(messages(), st.data())
@settings(max_examples=150, deadline=None)
def test_truncated_or_changed_bytes_raise_nothing_but_protocol_error(
    drawn: tuple[Any, int], data: st.DataObject
) -> None:
    message, version = drawn
    raw = message.write(version)
    if raw:
        cut = data.draw(st.integers(0, len(raw) - 1))
        with pytest.raises(ProtocolError):
            type(message).read(raw[:cut], version)
    with pytest.raises(ProtocolError):
        type(message).read(raw + b"\0", version)
    changed = bytearray(raw)
    for _ in range(data.draw(st.integers(1, 4)) if raw else 0):
        changed[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(type(message), bytes(changed), version)


@given(st.sampled_from(sorted(MESSAGES)), st.binary(max_size=64), st.integers(-2, 20))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused_with_protocol_error(name: str, raw: bytes, version: int) -> None:
    struct_class, module = MESSAGES[name]
    read_or_refuse(getattr(module, struct_class.name), raw, version)


def read_or_refuse(message_class: Any, raw: bytes, version: int) -> None:
    """What was read can also be written, and reads the same again."""
    try:
        message = message_class.read(raw, version)
    except ProtocolError:
        return
    written = message.write(version)
    assert message_class.read(written, version).write(version) == written


# ---- counts and lengths against the bytes that are there ----


@pytest.mark.parametrize(
    ("raw", "version"),
    [
        (struct.pack(">ii", 0, 2**31 - 1), 4),  # as many topics as an int32 can announce
        (struct.pack(">ih", 0, 1) + struct.pack(">h", 0) + struct.pack(">i", 2**31 - 1) + bytes(64), 4),
        (struct.pack(">ihi", 0, 0, 0) + b"\xff\xff\xff\xff\x0f", 12),  # the same in compact form
        (struct.pack(">ihi", 0, 0, 0) + b"\x01" + b"\xff\xff\xff\xff\x0f", 12),  # four billion tags
        (struct.pack(">ihi", 0, 0, 0) + b"\x01\x01\x05\xff\xff\xff\x7f", 12),  # one tag of 256 MB
    ],
)
def test_count_beyond_the_bytes_is_refused_before_anything_is_built(raw: bytes, version: int) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            FetchResponse.read(raw, version)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_count_just_beyond_what_the_smallest_elements_need_is_refused() -> None:
    """Two partitions fit in their bytes; announcing three is refused by the count, not by running off the end."""
    topics = [FetchTopic(topic="t", partitions=[FetchPartition(partition=1), FetchPartition(partition=2)])]
    raw = FetchRequest(topics=topics, max_bytes=1).write(4)
    assert raw.count(struct.pack(">i", 2)) == 2
    broken = raw.replace(struct.pack(">i", 2), struct.pack(">i", 3), 1)
    with pytest.raises(ProtocolError, match="3 elements of at least"):
        FetchRequest.read(broken, 4)


@pytest.mark.parametrize("tags", [b"\x02\x05\x00\x05\x00", b"\x02\x05\x00\x04\x00"])
def test_tags_that_repeat_or_descend_are_refused(tags: bytes) -> None:
    raw = HeartbeatResponse().write(4)
    assert raw.endswith(b"\0")
    with pytest.raises(ProtocolError, match="tag"):
        HeartbeatResponse.read(raw[:-1] + tags, 4)


def test_tag_whose_content_is_longer_than_its_field_is_refused() -> None:
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(diverging_epoch=EpochEndOffset(1, 2))])]
    )
    raw = response.write(12)
    tag = b"\x01\x00\x0d" + struct.pack(">iq", 1, 2) + b"\0"
    assert tag in raw
    with pytest.raises(ProtocolError, match="tag 0"):
        FetchResponse.read(raw.replace(tag, b"\x01\x00\x0e" + tag[3:] + b"\0"), 12)


def test_text_that_is_not_utf8_is_a_protocol_error() -> None:
    raw = HeartbeatRequest(group_id="abc").write(0).replace(b"abc", b"\xff\xfe\xfd")
    with pytest.raises(ProtocolError):
        HeartbeatRequest.read(raw, 0)


# ---- what a version can carry ----


def test_field_that_the_version_lacks_raises_when_it_is_set() -> None:
    request = ListGroupsRequest(states_filter=["Stable"])
    assert ListGroupsRequest.read(request.write(4), 4) == request
    with pytest.raises(UsageError, match=r"ListGroupsRequest version 3 cannot carry states_filter"):
        request.write(3)
    assert ListGroupsRequest().write(3) == b"\0"


def test_ignorable_field_is_left_out_of_versions_that_lack_it() -> None:
    response = HeartbeatResponse(throttle_time_ms=100, error_code=16)
    assert response.write(0) == struct.pack(">h", 16)
    assert HeartbeatResponse.read(response.write(0), 0) == HeartbeatResponse(error_code=16)


def test_null_in_a_version_that_has_no_null_raises() -> None:
    with pytest.raises(UsageError, match="topics"):
        MetadataRequest(topics=None).write(0)
    assert MetadataRequest.read(MetadataRequest(topics=None).write(1), 1).topics is None


def test_null_where_no_version_has_one_is_a_usage_error() -> None:
    broken: Any = None
    with pytest.raises(UsageError):
        HeartbeatRequest(group_id=broken).write(0)
    with pytest.raises(UsageError):
        HeartbeatRequest(group_id=broken).write(4)


@pytest.mark.parametrize("value", [2**31, "1", None])
def test_value_of_the_wrong_size_or_type_is_a_usage_error(value: Any) -> None:
    with pytest.raises(UsageError, match="HeartbeatRequest version 0"):
        HeartbeatRequest(generation_id=value).write(0)


def test_lone_surrogate_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        HeartbeatRequest(group_id="\ud800").write(4)


@pytest.mark.parametrize("version", [-1, 5])
def test_unknown_version_is_refused_both_ways(version: int) -> None:
    with pytest.raises(UsageError, match="versions 0 to 4"):
        HeartbeatRequest().write(version)
    with pytest.raises(ProtocolError, match="versions 0 to 4"):
        HeartbeatRequest.read(b"", version)


def test_nullable_struct_is_one_byte_when_null_and_marked_when_present() -> None:
    absent = ConsumerGroupHeartbeatResponse(assignment=None).write(0)
    assert absent.endswith(b"\xff\0")
    assert ConsumerGroupHeartbeatResponse.read(absent, 0).assignment is None


# ---- unknown tags ----


def test_unknown_tags_are_kept_in_order_and_written_again() -> None:
    response = HeartbeatResponse(unknown_tags={3: b"c", 70000: b""})
    raw = response.write(4)
    assert raw.endswith(b"\x02\x03\x01c\xf0\xa2\x04\x00")
    assert HeartbeatResponse.read(raw, 4).unknown_tags == {3: b"c", 70000: b""}


def test_unknown_tag_below_a_known_one_is_written_before_it() -> None:
    """A tag that a later version defines is unknown in this one, and its number may be lower."""
    response = FetchResponse(node_endpoints=[], unknown_tags={5: b"x", 2: b"y"})
    assert response.write(12).endswith(b"\x02\x02\x01y\x05\x01x")
    partition = FetchPartition(high_watermark=5, unknown_tags={0: b"z" * 16})
    raw = FetchRequest(topics=[FetchTopic(partitions=[partition])]).write(18)
    with_directory = FetchRequest.read(raw, 18).topics[0].partitions[0]
    assert with_directory.high_watermark == 5
    assert with_directory.replica_directory_id == UUID(bytes=b"z" * 16)


def test_unknown_tag_that_repeats_a_field_of_its_own_raises() -> None:
    with pytest.raises(UsageError, match="unknown_tags"):
        FetchRequest(cluster_id="c", unknown_tags={0: b"x"}).write(12)


def test_unknown_tags_in_a_version_without_tags_raise() -> None:
    with pytest.raises(UsageError, match="unknown_tags"):
        HeartbeatResponse(unknown_tags={3: b"c"}).write(3)


# ---- the objects ----


def test_records_are_a_view_into_the_buffer() -> None:
    partition = PartitionData(partition_index=1, records=b"some records")
    raw = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])]).write(12)
    buffer = bytearray(raw)
    records = FetchResponse.read(buffer, 12).responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    buffer[buffer.index(b"some")] = ord("S")
    assert bytes(records) == b"Some records"


def test_defaults_are_fresh_for_every_object() -> None:
    first, second = FetchRequest(), FetchRequest()
    first.topics.append(FetchTopic(topic="t"))
    first.replica_state.replica_id = 9
    assert second == FetchRequest()
    read = FetchRequest.read(FetchRequest().write(12), 12)
    read.topics.append(FetchTopic())
    assert FetchRequest() == second


def test_messages_compare_copy_and_pickle_by_value() -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    assert pickle.loads(pickle.dumps(request)) == request
    assert dataclasses.replace(request, topics=None) == MetadataRequest(topics=None)
    assert request != MetadataRequest(topics=[MetadataRequestTopic(name="u")])
    assert request != MetadataResponse()
    assert [field.name for field in dataclasses.fields(MetadataRequestTopic)] == ["topic_id", "name", "unknown_tags"]
    with pytest.raises(AttributeError):
        request.topic = "misspelt"  # type: ignore[attr-defined]


def test_repr_names_the_fields_but_shows_no_secret() -> None:
    assert repr(MetadataRequestTopic(name="t")).startswith("MetadataRequestTopic(topic_id=")
    assert "hunter2" not in repr(SaslAuthenticateRequest(auth_bytes=b"\0user\0hunter2"))
    assert "hunter2" not in repr(ScramCredentialUpsertion(name="u", salt=b"hunter2", salted_password=b"hunter2"))


def test_class_attributes_tell_key_and_versions() -> None:
    assert (CreateTopicsRequest.API_KEY, CreateTopicsRequest.MIN_VERSION, CreateTopicsRequest.MAX_VERSION) == (19, 2, 7)
    assert CreateTopicsRequest.FLEXIBLE_FROM == 5
    assert (
        importlib.import_module("pykclient.protocol.messages.sasl_handshake").SaslHandshakeRequest.FLEXIBLE_FROM is None
    )
