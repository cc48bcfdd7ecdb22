"""AddOffsetsToTxnRequest, AddOffsetsToTxnResponse.

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
    encode_string,
    read_compact_string,
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

_ih = Struct(">ih")
_qh = Struct(">qh")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddOffsetsToTxnRequest:
    """AddOffsetsToTxnRequest, versions 0 to 4."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "group_id", "unknown_tags")

    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AddOffsetsToTxnRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.transactional_id))
        else:
            append(encode_string(self.transactional_id))
        append(_qh.pack(self.producer_id, self.producer_epoch))
        if version >= 3:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddOffsetsToTxnRequest, int]:
        if version >= 3:
            transactional_id, position = read_compact_string(buffer, position)
        else:
            transactional_id, position = read_string(buffer, position)
        producer_id, producer_epoch = _qh.unpack_from(buffer, position)
        position += 10
        if version >= 3:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddOffsetsToTxnResponse:
    """AddOffsetsToTxnResponse, versions 0 to 4."""

    __slots__ = ("throttle_time_ms", "error_code", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

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
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AddOffsetsToTxnResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddOffsetsToTxnResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddOffsetsToTxnResponse(throttle_time_ms, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AddOffsetsToTxnRequest",
    "AddOffsetsToTxnResponse",
]
