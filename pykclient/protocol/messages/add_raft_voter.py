"""AddRaftVoterRequest, AddRaftVoterResponse.

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
    not_carried,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_t = Struct(">?")
_H = Struct(">H")
_ih = Struct(">ih")
_iiu = Struct(">ii16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Listener:
    """Listener, versions 0 to 1."""

    __slots__ = ("name", "host", "port", "unknown_tags")

    name: str
    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_string(self.host))
        append(_H.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Listener, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Listener(name, host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddRaftVoterRequest:
    """AddRaftVoterRequest, versions 0 to 1."""

    __slots__ = (
        "cluster_id", "timeout_ms", "voter_id", "voter_directory_id", "listeners", "ack_when_committed",
        "unknown_tags",
    )

    cluster_id: str | None
    timeout_ms: int
    voter_id: int
    voter_directory_id: UUID
    listeners: list[Listener]
    ack_when_committed: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        ack_when_committed: bool = True,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.ack_when_committed = ack_when_committed
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AddRaftVoterRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.cluster_id))
        append(_iiu.pack(self.timeout_ms, self.voter_id, self.voter_directory_id.bytes))
        append_compact_structs(out, self.listeners, version)
        if version >= 1:
            append(_t.pack(self.ack_when_committed))
        elif not self.ack_when_committed:
            raise not_carried(self, "ack_when_committed", version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddRaftVoterRequest, int]:
        cluster_id, position = read_compact_nullable_string(buffer, position)
        timeout_ms, voter_id, voter_directory_id = _iiu.unpack_from(buffer, position)
        position += 24
        voter_directory_id = uuid_of(voter_directory_id)
        listeners, position = read_compact_structs(buffer, position, version, Listener._read, 5)
        if version >= 1:
            (ack_when_committed,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            ack_when_committed = True
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddRaftVoterRequest(
            cluster_id, timeout_ms, voter_id, voter_directory_id, listeners, ack_when_committed, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddRaftVoterResponse:
    """AddRaftVoterResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
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
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AddRaftVoterResponse:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddRaftVoterResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddRaftVoterResponse(throttle_time_ms, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AddRaftVoterRequest",
    "AddRaftVoterResponse",
    "Listener",
]
