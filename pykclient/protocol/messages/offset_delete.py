"""OffsetDeleteRequest, OffsetDeleteResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_string,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_structs,
    read_message,
    read_structs,
    struct_repr,
    structs_equal,
    write_message,
)

_hi = Struct(">hi")
_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetDeleteRequestPartition:
    """OffsetDeleteRequestPartition, version 0."""

    __slots__ = ("partition_index",)

    partition_index: int

    def __init__(self, partition_index: int = 0) -> None:
        self.partition_index = partition_index

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition_index))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetDeleteRequestPartition, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        return OffsetDeleteRequestPartition(partition_index), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetDeleteRequestTopic:
    """OffsetDeleteRequestTopic, version 0."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[OffsetDeleteRequestPartition]

    def __init__(self, name: str = "", partitions: list[OffsetDeleteRequestPartition] = EMPTY) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.name))
        append_structs(out, self.partitions, version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetDeleteRequestTopic, int]:
        name, position = read_string(buffer, position)
        partitions, position = read_structs(
            buffer, position, version, OffsetDeleteRequestPartition._read, 4,
        )
        return OffsetDeleteRequestTopic(name, partitions), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetDeleteRequest:
    """OffsetDeleteRequest, version 0."""

    __slots__ = ("group_id", "topics")

    group_id: str
    topics: list[OffsetDeleteRequestTopic]

    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, group_id: str = "", topics: list[OffsetDeleteRequestTopic] = EMPTY) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetDeleteRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.group_id))
        append_structs(out, self.topics, version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetDeleteRequest, int]:
        group_id, position = read_string(buffer, position)
        topics, position = read_structs(buffer, position, version, OffsetDeleteRequestTopic._read, 6)
        return OffsetDeleteRequest(group_id, topics), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetDeleteResponsePartition:
    """OffsetDeleteResponsePartition, version 0."""

    __slots__ = ("partition_index", "error_code")

    partition_index: int
    error_code: int

    def __init__(self, partition_index: int = 0, error_code: int = 0) -> None:
        self.partition_index = partition_index
        self.error_code = error_code

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetDeleteResponsePartition, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        return OffsetDeleteResponsePartition(partition_index, error_code), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetDeleteResponseTopic:
    """OffsetDeleteResponseTopic, version 0."""

    __slots__ = ("name", "partitions")

    name: str
    partitions: list[OffsetDeleteResponsePartition]

    def __init__(self, name: str = "", partitions: list[OffsetDeleteResponsePartition] = EMPTY) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.name))
        append_structs(out, self.partitions, version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetDeleteResponseTopic, int]:
        name, position = read_string(buffer, position)
        partitions, position = read_structs(
            buffer, position, version, OffsetDeleteResponsePartition._read, 6,
        )
        return OffsetDeleteResponseTopic(name, partitions), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetDeleteResponse:
    """OffsetDeleteResponse, version 0."""

    __slots__ = ("error_code", "throttle_time_ms", "topics")

    error_code: int
    throttle_time_ms: int
    topics: list[OffsetDeleteResponseTopic]

    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetDeleteResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hi.pack(self.error_code, self.throttle_time_ms))
        append_structs(out, self.topics, version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetDeleteResponse, int]:
        error_code, throttle_time_ms = _hi.unpack_from(buffer, position)
        position += 6
        topics, position = read_structs(buffer, position, version, OffsetDeleteResponseTopic._read, 6)
        return OffsetDeleteResponse(error_code, throttle_time_ms, topics), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "OffsetDeleteRequest",
    "OffsetDeleteRequestPartition",
    "OffsetDeleteRequestTopic",
    "OffsetDeleteResponse",
    "OffsetDeleteResponsePartition",
    "OffsetDeleteResponseTopic",
]
