"""DelegationTokenRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_string,
    encode_compact_strings,
    read_compact_string,
    read_compact_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_qqq = Struct(">qqq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DelegationTokenRecord:
    """DelegationTokenRecord, version 0."""

    __slots__ = (
        "owner", "requester", "renewers", "issue_timestamp", "max_timestamp", "expiration_timestamp",
        "token_id", "unknown_tags",
    )

    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
    token_id: str
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = EMPTY,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers = [] if renewers is EMPTY else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DelegationTokenRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.owner))
        append(encode_compact_string(self.requester))
        append(encode_compact_strings(self.renewers))
        append(_qqq.pack(self.issue_timestamp, self.max_timestamp, self.expiration_timestamp))
        append(encode_compact_string(self.token_id))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DelegationTokenRecord, int]:
        owner, position = read_compact_string(buffer, position)
        requester, position = read_compact_string(buffer, position)
        renewers, position = read_compact_strings(buffer, position)
        issue_timestamp, max_timestamp, expiration_timestamp = _qqq.unpack_from(buffer, position)
        position += 24
        token_id, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DelegationTokenRecord(
            owner, requester, renewers, issue_timestamp, max_timestamp, expiration_timestamp, token_id, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DelegationTokenRecord",
]
