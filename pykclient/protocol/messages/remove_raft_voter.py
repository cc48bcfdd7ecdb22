"""RemoveRaftVoterRequest, RemoveRaftVoterResponse.

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
    read_compact_nullable_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_iu = Struct(">i16s")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemoveRaftVoterRequest:
    """RemoveRaftVoterRequest, version 0."""

    __slots__ = ("cluster_id", "voter_id", "voter_directory_id", "unknown_tags")

    cluster_id: str | None
    voter_id: int
    voter_directory_id: UUID
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RemoveRaftVoterRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.cluster_id))
        append(_iu.pack(self.voter_id, self.voter_directory_id.bytes))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemoveRaftVoterRequest, int]:
        cluster_id, position = read_compact_nullable_string(buffer, position)
        voter_id, voter_directory_id = _iu.unpack_from(buffer, position)
        position += 20
        voter_directory_id = uuid_of(voter_directory_id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RemoveRaftVoterRequest(cluster_id, voter_id, voter_directory_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemoveRaftVoterResponse:
    """RemoveRaftVoterResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RemoveRaftVoterResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemoveRaftVoterResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RemoveRaftVoterResponse(throttle_time_ms, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "RemoveRaftVoterRequest",
    "RemoveRaftVoterResponse",
]
