"""CreateDelegationTokenRequest, CreateDelegationTokenResponse.

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
    encode_compact_size,
    encode_compact_string,
    encode_size,
    encode_string,
    read_bytes,
    read_compact_bytes,
    read_compact_nullable_string,
    read_compact_string,
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

_h = Struct(">h")
_i = Struct(">i")
_q = Struct(">q")
_qqq = Struct(">qqq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatableRenewers:
    """CreatableRenewers, versions 1 to 3."""

    __slots__ = ("principal_type", "principal_name", "unknown_tags")

    principal_type: str
    principal_name: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.principal_type))
        else:
            append(encode_string(self.principal_type))
        if version >= 2:
            append(encode_compact_string(self.principal_name))
        else:
            append(encode_string(self.principal_name))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatableRenewers, int]:
        if version >= 2:
            principal_type, position = read_compact_string(buffer, position)
        else:
            principal_type, position = read_string(buffer, position)
        if version >= 2:
            principal_name, position = read_compact_string(buffer, position)
        else:
            principal_name, position = read_string(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatableRenewers(principal_type, principal_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreateDelegationTokenRequest:
    """CreateDelegationTokenRequest, versions 1 to 3."""

    __slots__ = ("owner_principal_type", "owner_principal_name", "renewers", "max_lifetime_ms", "unknown_tags")

    owner_principal_type: str | None
    owner_principal_name: str | None
    renewers: list[CreatableRenewers]
    max_lifetime_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = EMPTY,
        max_lifetime_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = [] if renewers is EMPTY else renewers
        self.max_lifetime_ms = max_lifetime_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreateDelegationTokenRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_nullable_string(self.owner_principal_type))
        elif version >= 2:
            if self.owner_principal_type is None or self.owner_principal_type:
                raise not_carried(self, "owner_principal_type", version)
        elif self.owner_principal_type is None or self.owner_principal_type:
            raise not_carried(self, "owner_principal_type", version)
        if version >= 3:
            append(encode_compact_nullable_string(self.owner_principal_name))
        elif version >= 2:
            if self.owner_principal_name is None or self.owner_principal_name:
                raise not_carried(self, "owner_principal_name", version)
        elif self.owner_principal_name is None or self.owner_principal_name:
            raise not_carried(self, "owner_principal_name", version)
        if version >= 2:
            append_compact_structs(out, self.renewers, version)
        else:
            append_structs(out, self.renewers, version)
        append(_q.pack(self.max_lifetime_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreateDelegationTokenRequest, int]:
        if version >= 3:
            owner_principal_type, position = read_compact_nullable_string(buffer, position)
        elif version >= 2:
            owner_principal_type = ""
        else:
            owner_principal_type = ""
        if version >= 3:
            owner_principal_name, position = read_compact_nullable_string(buffer, position)
        elif version >= 2:
            owner_principal_name = ""
        else:
            owner_principal_name = ""
        if version >= 2:
            renewers, position = read_compact_structs(buffer, position, version, CreatableRenewers._read, 3)
        else:
            renewers, position = read_structs(buffer, position, version, CreatableRenewers._read, 3)
        (max_lifetime_ms,) = _q.unpack_from(buffer, position)
        position += 8
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreateDelegationTokenRequest(
            owner_principal_type, owner_principal_name, renewers, max_lifetime_ms, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreateDelegationTokenResponse:
    """CreateDelegationTokenResponse, versions 1 to 3."""

    __slots__ = (
        "error_code", "principal_type", "principal_name", "token_requester_principal_type",
        "token_requester_principal_name", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms",
        "token_id", "hmac", "throttle_time_ms", "unknown_tags",
    )

    error_code: int
    principal_type: str
    principal_name: str
    token_requester_principal_type: str
    token_requester_principal_name: str
    issue_timestamp_ms: int
    expiry_timestamp_ms: int
    max_timestamp_ms: int
    token_id: str
    hmac: bytes
    throttle_time_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreateDelegationTokenResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_string(self.principal_type))
        else:
            append(encode_string(self.principal_type))
        if version >= 2:
            append(encode_compact_string(self.principal_name))
        else:
            append(encode_string(self.principal_name))
        if version >= 3:
            append(encode_compact_string(self.token_requester_principal_type))
        elif version >= 2:
            if self.token_requester_principal_type:
                raise not_carried(self, "token_requester_principal_type", version)
        elif self.token_requester_principal_type:
            raise not_carried(self, "token_requester_principal_type", version)
        if version >= 3:
            append(encode_compact_string(self.token_requester_principal_name))
        elif version >= 2:
            if self.token_requester_principal_name:
                raise not_carried(self, "token_requester_principal_name", version)
        elif self.token_requester_principal_name:
            raise not_carried(self, "token_requester_principal_name", version)
        append(_qqq.pack(self.issue_timestamp_ms, self.expiry_timestamp_ms, self.max_timestamp_ms))
        if version >= 2:
            append(encode_compact_string(self.token_id))
        else:
            append(encode_string(self.token_id))
        if version >= 2:
            append(encode_compact_size(self.hmac))
            append(self.hmac)
        else:
            append(encode_size(self.hmac))
            append(self.hmac)
        append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreateDelegationTokenResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            principal_type, position = read_compact_string(buffer, position)
        else:
            principal_type, position = read_string(buffer, position)
        if version >= 2:
            principal_name, position = read_compact_string(buffer, position)
        else:
            principal_name, position = read_string(buffer, position)
        if version >= 3:
            token_requester_principal_type, position = read_compact_string(buffer, position)
        elif version >= 2:
            token_requester_principal_type = ""
        else:
            token_requester_principal_type = ""
        if version >= 3:
            token_requester_principal_name, position = read_compact_string(buffer, position)
        elif version >= 2:
            token_requester_principal_name = ""
        else:
            token_requester_principal_name = ""
        issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = _qqq.unpack_from(buffer, position)
        position += 24
        if version >= 2:
            token_id, position = read_compact_string(buffer, position)
        else:
            token_id, position = read_string(buffer, position)
        if version >= 2:
            hmac, position = read_compact_bytes(buffer, position)
        else:
            hmac, position = read_bytes(buffer, position)
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreateDelegationTokenResponse(
            error_code, principal_type, principal_name, token_requester_principal_type,
            token_requester_principal_name, issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id,
            hmac, throttle_time_ms, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "CreatableRenewers",
    "CreateDelegationTokenRequest",
    "CreateDelegationTokenResponse",
]
