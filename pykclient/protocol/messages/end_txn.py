"""EndTxnRequest, EndTxnResponse.

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
_ihqh = Struct(">ihqh")
_qht = Struct(">qh?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EndTxnRequest:
    """EndTxnRequest, versions 0 to 5."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "committed", "unknown_tags")

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> EndTxnRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.transactional_id))
        else:
            append(encode_string(self.transactional_id))
        append(_qht.pack(self.producer_id, self.producer_epoch, self.committed))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EndTxnRequest, int]:
        if version >= 3:
            transactional_id, position = read_compact_string(buffer, position)
        else:
            transactional_id, position = read_string(buffer, position)
        producer_id, producer_epoch, committed = _qht.unpack_from(buffer, position)
        position += 11
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EndTxnResponse:
    """EndTxnResponse, versions 0 to 5."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> EndTxnResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(_ihqh.pack(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch))
        else:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EndTxnResponse, int]:
        if version >= 5:
            throttle_time_ms, error_code, producer_id, producer_epoch = _ihqh.unpack_from(buffer, position)
            position += 16
        else:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
            producer_id = -1
            producer_epoch = -1
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EndTxnResponse(throttle_time_ms, error_code, producer_id, producer_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "EndTxnRequest",
    "EndTxnResponse",
]
