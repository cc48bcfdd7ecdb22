"""DescribeDelegationTokenRequest, DescribeDelegationTokenResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_size,
    encode_compact_string,
    encode_size,
    encode_string,
    read_bytes,
    read_compact_bytes,
    read_compact_string,
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
_qqq = Struct(">qqq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeDelegationTokenOwner:
    """DescribeDelegationTokenOwner, versions 1 to 3."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeDelegationTokenOwner, int]:
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
        return DescribeDelegationTokenOwner(principal_type, principal_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeDelegationTokenRequest:
    """DescribeDelegationTokenRequest, versions 1 to 3."""

    __slots__ = ("owners", "unknown_tags")

    owners: list[DescribeDelegationTokenOwner] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.owners = [] if owners is EMPTY else owners
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeDelegationTokenRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            if self.owners is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.owners, version)
        else:
            if self.owners is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.owners, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeDelegationTokenRequest, int]:
        if version >= 2:
            owners, position = read_compact_nullable_structs(
                buffer, position, version, DescribeDelegationTokenOwner._read, 3,
            )
        else:
            owners, position = read_nullable_structs(
                buffer, position, version, DescribeDelegationTokenOwner._read, 3,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeDelegationTokenRequest(owners, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribedDelegationTokenRenewer:
    """DescribedDelegationTokenRenewer, versions 1 to 3."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribedDelegationTokenRenewer, int]:
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
        return DescribedDelegationTokenRenewer(principal_type, principal_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribedDelegationToken:
    """DescribedDelegationToken, versions 1 to 3."""

    __slots__ = (
        "principal_type", "principal_name", "token_requester_principal_type",
        "token_requester_principal_name", "issue_timestamp", "expiry_timestamp", "max_timestamp",
        "token_id", "hmac", "renewers", "unknown_tags",
    )

    principal_type: str
    principal_name: str
    token_requester_principal_type: str
    token_requester_principal_name: str
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int
    token_id: str
    hmac: bytes
    renewers: list[DescribedDelegationTokenRenewer]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is EMPTY else renewers
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
        append(_qqq.pack(self.issue_timestamp, self.expiry_timestamp, self.max_timestamp))
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
        if version >= 2:
            append_compact_structs(out, self.renewers, version)
        else:
            append_structs(out, self.renewers, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribedDelegationToken, int]:
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
        issue_timestamp, expiry_timestamp, max_timestamp = _qqq.unpack_from(buffer, position)
        position += 24
        if version >= 2:
            token_id, position = read_compact_string(buffer, position)
        else:
            token_id, position = read_string(buffer, position)
        if version >= 2:
            hmac, position = read_compact_bytes(buffer, position)
        else:
            hmac, position = read_bytes(buffer, position)
        if version >= 2:
            renewers, position = read_compact_structs(
                buffer, position, version, DescribedDelegationTokenRenewer._read, 3,
            )
        else:
            renewers, position = read_structs(
                buffer, position, version, DescribedDelegationTokenRenewer._read, 3,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribedDelegationToken(
            principal_type, principal_name, token_requester_principal_type, token_requester_principal_name,
            issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeDelegationTokenResponse:
    """DescribeDelegationTokenResponse, versions 1 to 3."""

    __slots__ = ("error_code", "tokens", "throttle_time_ms", "unknown_tags")

    error_code: int
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = EMPTY,
        throttle_time_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.tokens = [] if tokens is EMPTY else tokens
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeDelegationTokenResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append_compact_structs(out, self.tokens, version)
        else:
            append_structs(out, self.tokens, version)
        append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeDelegationTokenResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            tokens, position = read_compact_structs(
                buffer, position, version, DescribedDelegationToken._read, 30,
            )
        else:
            tokens, position = read_structs(buffer, position, version, DescribedDelegationToken._read, 30)
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeDelegationTokenOwner",
    "DescribeDelegationTokenRequest",
    "DescribeDelegationTokenResponse",
    "DescribedDelegationToken",
    "DescribedDelegationTokenRenewer",
]
