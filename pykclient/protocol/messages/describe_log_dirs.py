"""DescribeLogDirsRequest, DescribeLogDirsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_numbers,
    encode_compact_string,
    encode_numbers,
    encode_string,
    read_compact_numbers,
    read_compact_string,
    read_numbers,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_nullable_structs,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")
_i = Struct(">i")
_ih = Struct(">ih")
_iqqt = Struct(">iqq?")
_qq = Struct(">qq")
_qqt = Struct(">qq?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribableLogDirTopic:
    """DescribableLogDirTopic, versions 1 to 5."""

    __slots__ = ("topic", "partitions", "unknown_tags")

    topic: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.topic))
        else:
            append(encode_string(self.topic))
        if version >= 2:
            append(encode_compact_numbers(self.partitions, "i"))
        else:
            append(encode_numbers(self.partitions, "i"))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribableLogDirTopic, int]:
        if version >= 2:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 2:
            partitions, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            partitions, position = read_numbers(buffer, position, "i", 4)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribableLogDirTopic(topic, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeLogDirsRequest:
    """DescribeLogDirsRequest, versions 1 to 5."""

    __slots__ = ("topics", "unknown_tags")

    topics: list[DescribableLogDirTopic] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        topics: list[DescribableLogDirTopic] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeLogDirsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            if self.topics is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.topics, version)
        else:
            if self.topics is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.topics, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeLogDirsRequest, int]:
        if version >= 2:
            topics, position = read_compact_nullable_structs(
                buffer, position, version, DescribableLogDirTopic._read, 3,
            )
        else:
            topics, position = read_nullable_structs(
                buffer, position, version, DescribableLogDirTopic._read, 3,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeLogDirsRequest(topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeLogDirsPartition:
    """DescribeLogDirsPartition, versions 1 to 5."""

    __slots__ = ("partition_index", "partition_size", "offset_lag", "is_future_key", "unknown_tags")

    partition_index: int
    partition_size: int
    offset_lag: int
    is_future_key: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iqqt.pack(self.partition_index, self.partition_size, self.offset_lag, self.is_future_key))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeLogDirsPartition, int]:
        partition_index, partition_size, offset_lag, is_future_key = _iqqt.unpack_from(buffer, position)
        position += 21
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeLogDirsPartition(partition_index, partition_size, offset_lag, is_future_key, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeLogDirsTopic:
    """DescribeLogDirsTopic, versions 1 to 5."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[DescribeLogDirsPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 2:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeLogDirsTopic, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 2:
            partitions, position = read_compact_structs(
                buffer, position, version, DescribeLogDirsPartition._read, 21,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, DescribeLogDirsPartition._read, 21,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeLogDirsTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeLogDirsResult:
    """DescribeLogDirsResult, versions 1 to 5."""

    __slots__ = (
        "error_code", "log_dir", "topics", "total_bytes", "usable_bytes", "is_cordoned", "unknown_tags",
    )

    error_code: int
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: int
    usable_bytes: int
    is_cordoned: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = EMPTY,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is EMPTY else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_string(self.log_dir))
        else:
            append(encode_string(self.log_dir))
        if version >= 2:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 5:
            append(_qqt.pack(self.total_bytes, self.usable_bytes, self.is_cordoned))
        elif version >= 4:
            append(_qq.pack(self.total_bytes, self.usable_bytes))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeLogDirsResult, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            log_dir, position = read_compact_string(buffer, position)
        else:
            log_dir, position = read_string(buffer, position)
        if version >= 2:
            topics, position = read_compact_structs(
                buffer, position, version, DescribeLogDirsTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, DescribeLogDirsTopic._read, 3)
        if version >= 5:
            total_bytes, usable_bytes, is_cordoned = _qqt.unpack_from(buffer, position)
            position += 17
        elif version >= 4:
            total_bytes, usable_bytes = _qq.unpack_from(buffer, position)
            position += 16
            is_cordoned = False
        else:
            total_bytes = -1
            usable_bytes = -1
            is_cordoned = False
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeLogDirsResult(
            error_code, log_dir, topics, total_bytes, usable_bytes, is_cordoned, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeLogDirsResponse:
    """DescribeLogDirsResponse, versions 1 to 5."""

    __slots__ = ("throttle_time_ms", "error_code", "results", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    results: list[DescribeLogDirsResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeLogDirsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append_compact_structs(out, self.results, version)
        else:
            append_structs(out, self.results, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeLogDirsResponse, int]:
        if version >= 3:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
        if version >= 2:
            results, position = read_compact_structs(
                buffer, position, version, DescribeLogDirsResult._read, 5,
            )
        else:
            results, position = read_structs(buffer, position, version, DescribeLogDirsResult._read, 5)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeLogDirsResponse(throttle_time_ms, error_code, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribableLogDirTopic",
    "DescribeLogDirsPartition",
    "DescribeLogDirsRequest",
    "DescribeLogDirsResponse",
    "DescribeLogDirsResult",
    "DescribeLogDirsTopic",
]
