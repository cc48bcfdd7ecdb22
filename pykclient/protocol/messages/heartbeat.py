"""HeartbeatRequest, HeartbeatResponse.

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
    encode_compact_string,
    encode_nullable_string,
    encode_string,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
)
from pykclient.protocol.structs import (
    append_tags,
    not_carried,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")
_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class HeartbeatRequest:
    """HeartbeatRequest, versions 0 to 4."""

    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id", "unknown_tags")

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> HeartbeatRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        append(_i.pack(self.generation_id))
        if version >= 4:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 4:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif version >= 3:
            append(encode_nullable_string(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise not_carried(self, "group_instance_id", version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[HeartbeatRequest, int]:
        if version >= 4:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        (generation_id,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 4:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 4:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 3:
            group_instance_id, position = read_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class HeartbeatResponse:
    """HeartbeatResponse, versions 0 to 4."""

    __slots__ = ("throttle_time_ms", "error_code", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> HeartbeatResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[HeartbeatResponse, int]:
        if version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            throttle_time_ms = 0
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return HeartbeatResponse(throttle_time_ms, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "HeartbeatRequest",
    "HeartbeatResponse",
]
