"""AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse.

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
    read_compact_structs,
    read_message,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterReplicaLogDirTopic:
    """AlterReplicaLogDirTopic, versions 1 to 2."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterReplicaLogDirTopic, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
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
        return AlterReplicaLogDirTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterReplicaLogDir:
    """AlterReplicaLogDir, versions 1 to 2."""

    __slots__ = ("path", "topics", "unknown_tags")

    path: str
    topics: list[AlterReplicaLogDirTopic]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.path = path
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.path))
        else:
            append(encode_string(self.path))
        if version >= 2:
            append_compact_structs(out, self.topics, version)
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterReplicaLogDir, int]:
        if version >= 2:
            path, position = read_compact_string(buffer, position)
        else:
            path, position = read_string(buffer, position)
        if version >= 2:
            topics, position = read_compact_structs(
                buffer, position, version, AlterReplicaLogDirTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, AlterReplicaLogDirTopic._read, 3)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterReplicaLogDir(path, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterReplicaLogDirsRequest:
    """AlterReplicaLogDirsRequest, versions 1 to 2."""

    __slots__ = ("dirs", "unknown_tags")

    dirs: list[AlterReplicaLogDir]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        dirs: list[AlterReplicaLogDir] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.dirs = [] if dirs is EMPTY else dirs
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterReplicaLogDirsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append_compact_structs(out, self.dirs, version)
        else:
            append_structs(out, self.dirs, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterReplicaLogDirsRequest, int]:
        if version >= 2:
            dirs, position = read_compact_structs(buffer, position, version, AlterReplicaLogDir._read, 3)
        else:
            dirs, position = read_structs(buffer, position, version, AlterReplicaLogDir._read, 3)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterReplicaLogDirsRequest(dirs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterReplicaLogDirPartitionResult:
    """AlterReplicaLogDirPartitionResult, versions 1 to 2."""

    __slots__ = ("partition_index", "error_code", "unknown_tags")

    partition_index: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterReplicaLogDirPartitionResult, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterReplicaLogDirPartitionResult(partition_index, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterReplicaLogDirTopicResult:
    """AlterReplicaLogDirTopicResult, versions 1 to 2."""

    __slots__ = ("topic_name", "partitions", "unknown_tags")

    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.topic_name))
        else:
            append(encode_string(self.topic_name))
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterReplicaLogDirTopicResult, int]:
        if version >= 2:
            topic_name, position = read_compact_string(buffer, position)
        else:
            topic_name, position = read_string(buffer, position)
        if version >= 2:
            partitions, position = read_compact_structs(
                buffer, position, version, AlterReplicaLogDirPartitionResult._read, 6,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, AlterReplicaLogDirPartitionResult._read, 6,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterReplicaLogDirTopicResult(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterReplicaLogDirsResponse:
    """AlterReplicaLogDirsResponse, versions 1 to 2."""

    __slots__ = ("throttle_time_ms", "results", "unknown_tags")

    throttle_time_ms: int
    results: list[AlterReplicaLogDirTopicResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterReplicaLogDirsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterReplicaLogDirsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            results, position = read_compact_structs(
                buffer, position, version, AlterReplicaLogDirTopicResult._read, 3,
            )
        else:
            results, position = read_structs(
                buffer, position, version, AlterReplicaLogDirTopicResult._read, 3,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterReplicaLogDirsResponse(throttle_time_ms, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AlterReplicaLogDir",
    "AlterReplicaLogDirPartitionResult",
    "AlterReplicaLogDirTopic",
    "AlterReplicaLogDirTopicResult",
    "AlterReplicaLogDirsRequest",
    "AlterReplicaLogDirsResponse",
]
