"""Frames, headers and primitive values, with bytes in and bytes out."""

from __future__ import annotations

import random
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykclient.errors import FrameTooLarge, ProtocolError, UsageError
from pykclient.protocol import primitives
from pykclient.protocol.messages import APIS, ApiKey, api
from pykclient.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.messages.request_header import RequestHeader
from pykclient.protocol.messages.response_header import ResponseHeader
from pykclient.protocol.wire import (
    ROOM_BYTES_MAX,
    Buffer,
    FrameSplitter,
    decode_request_header,
    decode_response_header,
    encode_request,
    encode_response,
    peek_correlation_id,
)


def framed(*frames: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


# ---- frames ----


@given(st.lists(st.binary(max_size=40), max_size=8), st.data())
def test_frames_come_out_whole_however_the_stream_is_cut(frames: list[bytes], data: st.DataObject) -> None:
    stream = framed(*frames)
    splitter, found, position = FrameSplitter(64), list[Buffer](), 0
    while position < len(stream):
        size = data.draw(st.integers(1, len(stream) - position))
        found += splitter.feed(stream[position : position + size])
        position += size
    assert [bytes(frame) for frame in found] == frames
    assert splitter.buffered_bytes == 0


def test_empty_chunks_change_nothing() -> None:
    splitter = FrameSplitter(64)
    assert splitter.feed(b"") == []
    assert splitter.feed(framed(b"abc")[:5]) == []
    assert splitter.feed(b"") == []
    assert splitter.feed(framed(b"abc")[5:]) == [b"abc"]


def test_buffered_bytes_tells_what_is_held_of_an_unfinished_frame() -> None:
    splitter = FrameSplitter(64)
    splitter.feed(b"\0\0")
    assert splitter.buffered_bytes == 2
    splitter.feed(b"\0\x08abc")
    assert splitter.buffered_bytes == 3


@pytest.mark.parametrize("size", [-1, -(2**31)])
def test_negative_frame_size_is_a_protocol_error(size: int) -> None:
    with pytest.raises(ProtocolError):
        FrameSplitter(64).feed(struct.pack(">i", size))


def test_frame_of_exactly_the_limit_passes_and_one_byte_more_is_refused() -> None:
    splitter = FrameSplitter(5)
    assert splitter.feed(framed(b"12345")) == [b"12345"]
    with pytest.raises(FrameTooLarge) as caught:
        splitter.feed(framed(b"123456"))
    assert (caught.value.size, caught.value.limit) == (6, 5)


def test_limit_can_be_raised_between_frames() -> None:
    splitter = FrameSplitter(2)
    splitter.feed(framed(b"12"))
    splitter.bytes_max = 6
    assert splitter.feed(framed(b"123456")) == [b"123456"]


def test_oversize_frame_is_refused_before_any_of_it_is_kept() -> None:
    splitter = FrameSplitter(1024)
    payload = bytes(8 * 1024 * 1024)
    tracemalloc.start()
    try:
        with pytest.raises(FrameTooLarge):
            splitter.feed(b"\x7f\xff\xff\xff" + payload[:16])
        with pytest.raises(ProtocolError):
            splitter.feed(b"\x7f\xff\xff\xff")
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert splitter.buffered_bytes == 0


def test_large_announced_frame_takes_no_more_memory_than_has_arrived() -> None:
    splitter = FrameSplitter(2**31 - 1)
    tracemalloc.start()
    try:
        splitter.feed(b"\x7f\xff\xff\xff" + b"x" * 100)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert splitter.buffered_bytes == 100


def test_frame_may_be_received_in_its_place_in_any_pieces() -> None:
    payload = bytes(range(256)) * 40_000  # more than is laid out at once
    stream = framed(payload) + framed(b"next")
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    splitter, position, found, places = FrameSplitter(2**31 - 1), 0, list[Buffer](), 0
    while position < len(stream):
        room = splitter.room()
        if room is not None and rng.random() < 0.8:
            count = min(rng.choice([1, 50_000, 700_000, len(room)]), len(room))
            room[:count] = stream[position : position + count]
            del room
            found += splitter.filled(count)
            places += 1
        else:
            count = rng.choice([1, 3, 40_000, 300_000])
            room = None
            found += splitter.feed(stream[position : position + count])
        position += min(count, len(stream) - position)
    assert [bytes(frame) for frame in found] == [payload, b"next"], seed
    assert places > 0, seed
    assert splitter.buffered_bytes == 0


def test_room_grows_with_what_has_arrived() -> None:
    splitter = FrameSplitter(2**31 - 1)
    splitter.feed(b"\x7f\xff\xff\xff" + b"x" * 100)
    room = splitter.room()
    assert room is not None
    assert len(room) < ROOM_BYTES_MAX
    assert splitter.buffered_bytes == 100
    size = len(room)
    del room
    splitter.filled(size)
    room = splitter.room()
    assert room is not None
    assert len(room) <= splitter.buffered_bytes


def test_small_rest_of_a_frame_is_not_worth_a_place_of_its_own() -> None:
    splitter = FrameSplitter(2**31 - 1)
    assert splitter.room() is None
    splitter.feed(framed(bytes(1000))[:100])
    assert splitter.room() is None


def test_frame_in_many_small_chunks_is_not_copied_for_each() -> None:
    """A frame's bytes may move when its buffer grows, a logarithmic number of times, not with every chunk."""
    splitter = FrameSplitter(10_000_000)
    payload = bytes(range(256)) * 400
    stream = framed(payload)
    found: list[Buffer] = []
    buffers = set()
    for position in range(0, len(stream), 10):
        found += splitter.feed(stream[position : position + 10])
        buffers.add(id(splitter._partial))
    assert found == [payload]
    assert len(buffers) <= 2


# ---- headers ----


@pytest.mark.parametrize("version", [0, 3, 4])
@pytest.mark.parametrize("client_id", [None, "", "a client", "ключ"])
def test_request_header_is_the_one_that_kafka_specifies(version: int, client_id: str | None) -> None:
    message = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")
    raw = b"".join(encode_request(ApiKey.HEARTBEAT, version, 77, client_id, message))
    header = RequestHeader(
        request_api_key=ApiKey.HEARTBEAT, request_api_version=version, correlation_id=77, client_id=client_id
    )
    expected = header.write(api(ApiKey.HEARTBEAT).request_header_version(version)) + message.write(version)
    assert raw == struct.pack(">i", len(expected)) + expected

    head = decode_request_header(raw[4:])
    assert head[:4] == (ApiKey.HEARTBEAT, version, 77, client_id)
    assert HeartbeatRequest.read(raw[4:], version, head.position) == message


@pytest.mark.parametrize("version", [0, 3, 4])
def test_response_header_is_the_one_that_kafka_specifies(version: int) -> None:
    message = HeartbeatResponse(error_code=27)
    raw = b"".join(encode_response(ApiKey.HEARTBEAT, version, 78, message))
    header = ResponseHeader(correlation_id=78)
    expected = header.write(api(ApiKey.HEARTBEAT).response_header_version(version)) + message.write(version)
    assert raw == struct.pack(">i", len(expected)) + expected

    assert peek_correlation_id(raw[4:]) == 78
    correlation_id, position = decode_response_header(raw[4:], ApiKey.HEARTBEAT, version)
    assert correlation_id == 78
    assert HeartbeatResponse.read(raw[4:], version, position) == message


def test_api_versions_response_keeps_the_old_header_in_flexible_versions() -> None:
    message = ApiVersionsResponse(error_code=35)
    raw = b"".join(encode_response(ApiKey.API_VERSIONS, 3, 1, message))
    assert raw[8:] == message.write(3)
    assert decode_response_header(raw[4:], ApiKey.API_VERSIONS, 3) == (1, 4)


def test_unknown_tags_in_headers_are_passed_over() -> None:
    header = RequestHeader(
        request_api_key=18, request_api_version=4, correlation_id=5, client_id="c", unknown_tags={9: b"abc"}
    )
    body = ApiVersionsRequest(client_software_name="x", client_software_version="1").write(4)
    head = decode_request_header(header.write(2) + body)
    assert (head.correlation_id, head.position) == (5, len(header.write(2)))
    response = ResponseHeader(correlation_id=6, unknown_tags={1: b"zz"})
    assert decode_response_header(response.write(1) + b"..", ApiKey.HEARTBEAT, 4) == (6, len(response.write(1)))


def test_request_header_of_a_version_from_the_future_is_still_read() -> None:
    """The broker must be able to answer "unsupported version" to the right correlation id."""
    raw = struct.pack(">hhih", ApiKey.API_VERSIONS, 999, 12, 1) + b"c\0"
    assert decode_request_header(raw) == (ApiKey.API_VERSIONS, 999, 12, "c", len(raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\1",
        struct.pack(">hhi", 1, 12, 1),
        struct.pack(">hhih", 1, 12, 1, 500),
        struct.pack(">hhih", 5000, 0, 1, 0),
    ],
)
def test_broken_request_header_is_a_protocol_error(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_request_header(raw)


@pytest.mark.parametrize("raw", [b"", b"\0\0\0", b"\0\0\0\1", b"\0\0\0\1\x05"])
def test_broken_response_header_is_a_protocol_error(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_response_header(raw, ApiKey.HEARTBEAT, 4)


def test_large_records_are_sent_without_a_copy_and_small_parts_are_joined() -> None:
    large = memoryview(bytearray(200_000))
    records: list[Buffer] = [b"ab", large, b"cd"]
    partitions = [PartitionProduceData(index=index, records=part) for index, part in enumerate(records)]
    request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=partitions)])
    parts = encode_request(ApiKey.PRODUCE, 9, 1, "c", request)
    assert len(parts) == 3
    assert parts[1] is large
    raw = b"".join(parts)
    assert struct.unpack_from(">i", raw)[0] == len(raw) - 4
    assert raw.endswith(request.write(9))


def test_every_api_has_a_header_version_for_each_of_its_versions() -> None:
    assert len(APIS) == 89
    for info in APIS:
        for version in range(info.min_version, info.max_version + 1):
            flexible = info.flexible_from is not None and version >= info.flexible_from
            assert info.request_header_version(version) == (2 if flexible else 1)
            assert info.response_header_version(version) == int(flexible and info.key is not ApiKey.API_VERSIONS)


# ---- primitive values ----

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(max_size=300)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("varint", INT32),
        ("varlong", INT64),
        ("uvarint", st.integers(0, 2**32 - 1)),
        ("uvarlong", st.integers(0, 2**64 - 1)),
        ("string", TEXT),
        ("nullable_string", st.none() | TEXT),
        ("compact_string", TEXT),
        ("compact_nullable_string", st.none() | TEXT),
        ("strings", st.lists(TEXT, max_size=5)),
        ("compact_strings", st.lists(TEXT, max_size=200)),
        ("uuids", st.lists(st.uuids(), max_size=5)),
        ("compact_uuids", st.lists(st.uuids(), max_size=5)),
    ],
)
def test_primitive_survives_the_round_trip_and_refuses_every_truncation(name: str, values: Any) -> None:
    encode: Callable[[Any], bytes] = getattr(primitives, f"encode_{name}")
    read: Callable[[Buffer, int], tuple[Any, int]] = getattr(primitives, f"read_{name}")

    @given(values, st.binary(max_size=3), st.data())
    def check(value: Any, before: bytes, data: st.DataObject) -> None:
        raw = encode(value)
        assert read(before + raw + b"\x01", len(before)) == (value, len(before) + len(raw))
        cut = data.draw(st.integers(0, len(raw) - 1))
        with pytest.raises((ProtocolError, *primitives.DECODE_ERRORS)):
            read(raw[:cut], 0)

    check()


@pytest.mark.parametrize("code", ["b", "h", "i", "q"])
@pytest.mark.parametrize("count", [0, 1, 126, 127, 128, 300])
def test_arrays_of_numbers_survive_the_round_trip(code: str, count: int) -> None:
    size = struct.calcsize(code)
    numbers = [(-1) ** i * (i % 100) for i in range(count)]
    raw = primitives.encode_numbers(numbers, code)
    assert primitives.read_numbers(raw, 0, code, size) == (numbers, len(raw))
    raw = primitives.encode_compact_numbers(numbers, code)
    assert primitives.read_compact_numbers(raw, 0, code, size) == (numbers, len(raw))


def test_varint_longer_than_its_type_is_refused() -> None:
    with pytest.raises(ProtocolError):
        primitives.read_uvarint(b"\x80" * 5 + b"\x01", 0)
    with pytest.raises(ProtocolError):
        primitives.read_uvarlong(b"\x80" * 10 + b"\x01", 0)


def test_strings_longer_than_kafka_allows_cannot_be_written_or_read() -> None:
    with pytest.raises(UsageError):
        primitives.encode_compact_string("x" * 32768)
    with pytest.raises((UsageError, struct.error)):
        primitives.encode_string("x" * 32768)
    longest = primitives.encode_compact_string("x" * 32767)
    assert primitives.read_compact_string(longest, 0) == ("x" * 32767, len(longest))
    with pytest.raises(ProtocolError):
        primitives.read_compact_string(primitives.encode_uvarint(32769) + b"x" * 32768, 0)


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (primitives.read_string, b"\xff\xff"),
        (primitives.read_compact_string, b"\0"),
        (primitives.read_bytes, b"\xff\xff\xff\xff"),
        (primitives.read_compact_bytes, b"\0"),
        (primitives.read_strings, b"\xff\xff\xff\xff"),
        (primitives.read_compact_strings, b"\0"),
        (primitives.read_records, b"\xff\xff\xff\xff"),
        (primitives.read_compact_records, b"\0"),
    ],
)
def test_null_where_none_is_allowed_is_a_protocol_error(
    read: Callable[[Buffer, int], tuple[Any, int]], raw: bytes
) -> None:
    with pytest.raises(ProtocolError):
        read(raw, 0)
