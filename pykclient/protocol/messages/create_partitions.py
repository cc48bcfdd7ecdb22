"""CreatePartitionsRequest, CreatePartitionsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate: python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.wire import (
    Buffer,
    EMPTY,
    append_tags,
    encode_compact_count,
    encode_compact_nullable_string,
    encode_compact_string,
    encode_count,
    encode_nullable_string,
    encode_numbers,
    encode_string,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_nullable_string,
    read_compact_string,
    read_count,
    read_message,
    read_nullable_count,
    read_nullable_string,
    read_numbers,
    read_string,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")
_i = Struct(">i")
_it = Struct(">i?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsAssignment:
    """CreatePartitionsAssignment, versions 0 to 3."""

    __slots__ = ('broker_ids', 'unknown_tags')

    broker_ids: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(self, broker_ids: list[int] = EMPTY, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_count(self.broker_ids))
            append(encode_numbers(self.broker_ids, "i"))
        else:
            append(encode_count(self.broker_ids))
            append(encode_numbers(self.broker_ids, "i"))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsAssignment, int]:
        broker_ids: list[int]
        if version >= 2:
            count, position = read_compact_count(buffer, position, 4)
            broker_ids, position = read_numbers(buffer, position, count, "i")
        else:
            count, position = read_count(buffer, position, 4)
            broker_ids, position = read_numbers(buffer, position, count, "i")
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return CreatePartitionsAssignment(broker_ids, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsTopic:
    """CreatePartitionsTopic, versions 0 to 3."""

    __slots__ = ('name', 'count', 'assignments', 'unknown_tags')

    name: str
    count: int
    assignments: list[CreatePartitionsAssignment] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = [] if assignments is EMPTY else assignments
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        append(_i.pack(self.count))
        if version >= 2:
            if self.assignments is None:
                append(b"\0")
            else:
                append(encode_compact_count(self.assignments))
                for item in self.assignments:
                    item._write(out, version)
        else:
            if self.assignments is None:
                append(b"\xff\xff\xff\xff")
            else:
                append(encode_count(self.assignments))
                for item in self.assignments:
                    item._write(out, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsTopic, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        (count_,) = _i.unpack_from(buffer, position)
        position += 4
        assignments: list[CreatePartitionsAssignment] | None
        if version >= 2:
            count, position = read_compact_nullable_count(buffer, position, 2)
            if count < 0:
                assignments = None
            else:
                assignments, position = read_structs(buffer, position, version, count, CreatePartitionsAssignment._read)
        else:
            count, position = read_nullable_count(buffer, position, 2)
            if count < 0:
                assignments = None
            else:
                assignments, position = read_structs(buffer, position, version, count, CreatePartitionsAssignment._read)
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return CreatePartitionsTopic(name, count_, assignments, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsRequest:
    """CreatePartitionsRequest, versions 0 to 3."""

    __slots__ = ('topics', 'timeout_ms', 'validate_only', 'unknown_tags')

    topics: list[CreatePartitionsTopic]
    timeout_ms: int
    validate_only: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = EMPTY,
        timeout_ms: int = 0,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 3)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreatePartitionsRequest:
        return read_message("CreatePartitionsRequest", cls._read, buffer, position, version, (0, 3))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_count(self.topics))
            for item in self.topics:
                item._write(out, version)
        else:
            append(encode_count(self.topics))
            for item in self.topics:
                item._write(out, version)
        append(_it.pack(self.timeout_ms, self.validate_only))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsRequest, int]:
        topics: list[CreatePartitionsTopic]
        if version >= 2:
            count, position = read_compact_count(buffer, position, 7)
            topics, position = read_structs(buffer, position, version, count, CreatePartitionsTopic._read)
        else:
            count, position = read_count(buffer, position, 7)
            topics, position = read_structs(buffer, position, version, count, CreatePartitionsTopic._read)
        timeout_ms, validate_only = _it.unpack_from(buffer, position)
        position += 5
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return CreatePartitionsRequest(topics, timeout_ms, validate_only, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsTopicResult:
    """CreatePartitionsTopicResult, versions 0 to 3."""

    __slots__ = ('name', 'error_code', 'error_message', 'unknown_tags')

    name: str
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsTopicResult, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        error_message: str | None
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return CreatePartitionsTopicResult(name, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsResponse:
    """CreatePartitionsResponse, versions 0 to 3."""

    __slots__ = ('throttle_time_ms', 'results', 'unknown_tags')

    throttle_time_ms: int
    results: list[CreatePartitionsTopicResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 3)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreatePartitionsResponse:
        return read_message("CreatePartitionsResponse", cls._read, buffer, position, version, (0, 3))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append(encode_compact_count(self.results))
            for item in self.results:
                item._write(out, version)
        else:
            append(encode_count(self.results))
            for item in self.results:
                item._write(out, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        results: list[CreatePartitionsTopicResult]
        if version >= 2:
            count, position = read_compact_count(buffer, position, 5)
            results, position = read_structs(buffer, position, version, count, CreatePartitionsTopicResult._read)
        else:
            count, position = read_count(buffer, position, 5)
            results, position = read_structs(buffer, position, version, count, CreatePartitionsTopicResult._read)
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return CreatePartitionsResponse(throttle_time_ms, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "CreatePartitionsAssignment",
    "CreatePartitionsRequest",
    "CreatePartitionsResponse",
    "CreatePartitionsTopic",
    "CreatePartitionsTopicResult",
]
