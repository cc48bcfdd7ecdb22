"""ShareGroupMemberMetadataKey.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_string,
    read_string,
)
from pykclient.protocol.structs import (
    read_message,
    struct_repr,
    structs_equal,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupMemberMetadataKey:
    """ShareGroupMemberMetadataKey, version 0."""

    __slots__ = ("group_id", "member_id")

    group_id: str
    member_id: str

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, group_id: str = "", member_id: str = "") -> None:
        self.group_id = group_id
        self.member_id = member_id

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupMemberMetadataKey:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.group_id))
        append(encode_string(self.member_id))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupMemberMetadataKey, int]:
        group_id, position = read_string(buffer, position)
        member_id, position = read_string(buffer, position)
        return ShareGroupMemberMetadataKey(group_id, member_id), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareGroupMemberMetadataKey",
]
