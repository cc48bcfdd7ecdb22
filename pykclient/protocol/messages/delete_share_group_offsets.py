"""DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse.

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
    read_compact_nullable_string,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_uh = Struct(">16sh")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteShareGroupOffsetsRequestTopic:
    """DeleteShareGroupOffsetsRequestTopic, version 0."""

    __slots__ = ("topic_name", "unknown_tags")

    topic_name: str
    unknown_tags: dict[int, bytes] | None

    def __init__(self, topic_name: str = "", unknown_tags: dict[int, bytes] | None = None) -> None:
        self.topic_name = topic_name
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteShareGroupOffsetsRequestTopic, int]:
        topic_name, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteShareGroupOffsetsRequestTopic(topic_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteShareGroupOffsetsRequest:
    """DeleteShareGroupOffsetsRequest, version 0."""

    __slots__ = ("group_id", "topics", "unknown_tags")

    group_id: str
    topics: list[DeleteShareGroupOffsetsRequestTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        topics: list[DeleteShareGroupOffsetsRequestTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteShareGroupOffsetsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
        group_id, position = read_compact_string(buffer, position)
        topics, position = read_compact_structs(
            buffer, position, version, DeleteShareGroupOffsetsRequestTopic._read, 2,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteShareGroupOffsetsRequest(group_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteShareGroupOffsetsResponseTopic:
    """DeleteShareGroupOffsetsResponseTopic, version 0."""

    __slots__ = ("topic_name", "topic_id", "error_code", "error_message", "unknown_tags")

    topic_name: str
    topic_id: UUID
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        topic_id: UUID = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append(_uh.pack(self.topic_id.bytes, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteShareGroupOffsetsResponseTopic, int]:
        topic_name, position = read_compact_string(buffer, position)
        topic_id, error_code = _uh.unpack_from(buffer, position)
        position += 18
        topic_id = uuid_of(topic_id)
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteShareGroupOffsetsResponseTopic(topic_name, topic_id, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteShareGroupOffsetsResponse:
    """DeleteShareGroupOffsetsResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: list[DeleteShareGroupOffsetsResponseTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is EMPTY else responses
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteShareGroupOffsetsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append_compact_structs(out, self.responses, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteShareGroupOffsetsResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        responses, position = read_compact_structs(
            buffer, position, version, DeleteShareGroupOffsetsResponseTopic._read, 21,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteShareGroupOffsetsResponse(
            throttle_time_ms, error_code, error_message, responses, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DeleteShareGroupOffsetsRequest",
    "DeleteShareGroupOffsetsRequestTopic",
    "DeleteShareGroupOffsetsResponse",
    "DeleteShareGroupOffsetsResponseTopic",
]
