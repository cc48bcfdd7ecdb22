"""DeleteTopicsRequest, DeleteTopicsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.primitives import (
    Buffer,
    ZERO_UUID,
    encode_compact_nullable_string,
    encode_compact_string,
    encode_compact_strings,
    encode_string,
    encode_strings,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_string,
    read_strings,
    uuid_of,
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

_u = Struct(">16s")
_uh = Struct(">16sh")
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteTopicState:
    """DeleteTopicState, version 6."""

    __slots__ = ("name", "topic_id", "unknown_tags")

    name: str | None
    topic_id: UUID
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str | None = None,
        topic_id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.name))
        append(self.topic_id.bytes)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteTopicState, int]:
        name, position = read_compact_nullable_string(buffer, position)
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteTopicState(name, topic_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteTopicsRequest:
    """DeleteTopicsRequest, versions 1 to 6."""

    __slots__ = ("topics", "topic_names", "timeout_ms", "unknown_tags")

    topics: list[DeleteTopicState]
    topic_names: list[str]
    timeout_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        topics: list[DeleteTopicState] = EMPTY,
        topic_names: list[str] = EMPTY,
        timeout_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.topic_names = [] if topic_names is EMPTY else topic_names
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteTopicsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append_compact_structs(out, self.topics, version)
        elif version >= 4:
            if self.topics:
                raise not_carried(self, "topics", version)
        elif self.topics:
            raise not_carried(self, "topics", version)
        if version < 6:
            if version >= 4:
                append(encode_compact_strings(self.topic_names))
            else:
                append(encode_strings(self.topic_names))
        append(_i.pack(self.timeout_ms))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteTopicsRequest, int]:
        if version >= 6:
            topics, position = read_compact_structs(buffer, position, version, DeleteTopicState._read, 18)
        elif version >= 4:
            topics = []
        else:
            topics = []
        topic_names: list[str]
        if version >= 6:
            topic_names = []
        elif version >= 4:
            topic_names, position = read_compact_strings(buffer, position)
        else:
            topic_names, position = read_strings(buffer, position)
        (timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteTopicsRequest(topics, topic_names, timeout_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeletableTopicResult:
    """DeletableTopicResult, versions 1 to 6."""

    __slots__ = ("name", "topic_id", "error_code", "error_message", "unknown_tags")

    name: str | None
    topic_id: UUID
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str | None = "",
        topic_id: UUID = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_nullable_string(self.name))
        elif version >= 4:
            if self.name is None:
                raise not_carried(self, "name", version)
            append(encode_compact_string(self.name))
        else:
            if self.name is None:
                raise not_carried(self, "name", version)
            append(encode_string(self.name))
        if version >= 6:
            append(_uh.pack(self.topic_id.bytes, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 5:
            append(encode_compact_nullable_string(self.error_message))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeletableTopicResult, int]:
        if version >= 6:
            name, position = read_compact_nullable_string(buffer, position)
        elif version >= 4:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 6:
            topic_id, error_code = _uh.unpack_from(buffer, position)
            position += 18
            topic_id = uuid_of(topic_id)
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            topic_id = ZERO_UUID
        if version >= 5:
            error_message, position = read_compact_nullable_string(buffer, position)
        elif version >= 4:
            error_message = None
        else:
            error_message = None
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeletableTopicResult(name, topic_id, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteTopicsResponse:
    """DeleteTopicsResponse, versions 1 to 6."""

    __slots__ = ("throttle_time_ms", "responses", "unknown_tags")

    throttle_time_ms: int
    responses: list[DeletableTopicResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is EMPTY else responses
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteTopicsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 4:
            append_compact_structs(out, self.responses, version)
        else:
            append_structs(out, self.responses, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteTopicsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 4:
            responses, position = read_compact_structs(
                buffer, position, version, DeletableTopicResult._read, 4,
            )
        else:
            responses, position = read_structs(buffer, position, version, DeletableTopicResult._read, 4)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteTopicsResponse(throttle_time_ms, responses, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DeletableTopicResult",
    "DeleteTopicState",
    "DeleteTopicsRequest",
    "DeleteTopicsResponse",
]
