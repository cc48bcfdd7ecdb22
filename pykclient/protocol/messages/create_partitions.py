"""CreatePartitionsRequest, CreatePartitionsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_nullable_string,
    encode_compact_numbers,
    encode_compact_string,
    encode_nullable_string,
    encode_numbers,
    encode_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_nullable_string,
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
_it = Struct(">i?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsAssignment:
    """CreatePartitionsAssignment, versions 0 to 3."""

    __slots__ = ("broker_ids", "unknown_tags")

    broker_ids: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(self, broker_ids: list[int] = EMPTY, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_numbers(self.broker_ids, "i"))
        else:
            append(encode_numbers(self.broker_ids, "i"))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsAssignment, int]:
        if version >= 2:
            broker_ids, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            broker_ids, position = read_numbers(buffer, position, "i", 4)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatePartitionsAssignment(broker_ids, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsTopic:
    """CreatePartitionsTopic, versions 0 to 3."""

    __slots__ = ("name", "count", "assignments", "unknown_tags")

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
                append_compact_structs(out, self.assignments, version)
        else:
            if self.assignments is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.assignments, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsTopic, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        (count_,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            assignments, position = read_compact_nullable_structs(
                buffer, position, version, CreatePartitionsAssignment._read, 2,
            )
        else:
            assignments, position = read_nullable_structs(
                buffer, position, version, CreatePartitionsAssignment._read, 2,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatePartitionsTopic(name, count_, assignments, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsRequest:
    """CreatePartitionsRequest, versions 0 to 3."""

    __slots__ = ("topics", "timeout_ms", "validate_only", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreatePartitionsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        append(_it.pack(self.timeout_ms, self.validate_only))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsRequest, int]:
        if version >= 2:
            topics, position = read_compact_structs(
                buffer, position, version, CreatePartitionsTopic._read, 7,
            )
        else:
            topics, position = read_structs(buffer, position, version, CreatePartitionsTopic._read, 7)
        timeout_ms, validate_only = _it.unpack_from(buffer, position)
        position += 5
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatePartitionsRequest(topics, timeout_ms, validate_only, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsTopicResult:
    """CreatePartitionsTopicResult, versions 0 to 3."""

    __slots__ = ("name", "error_code", "error_message", "unknown_tags")

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
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsTopicResult, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatePartitionsTopicResult(name, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatePartitionsResponse:
    """CreatePartitionsResponse, versions 0 to 3."""

    __slots__ = ("throttle_time_ms", "results", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreatePartitionsResponse:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatePartitionsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            results, position = read_compact_structs(
                buffer, position, version, CreatePartitionsTopicResult._read, 5,
            )
        else:
            results, position = read_structs(
                buffer, position, version, CreatePartitionsTopicResult._read, 5,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
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
