"""AllocateProducerIdsRequest, AllocateProducerIdsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_ihqi = Struct(">ihqi")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AllocateProducerIdsRequest:
    """AllocateProducerIdsRequest, version 0."""

    __slots__ = ("broker_id", "broker_epoch", "unknown_tags")

    broker_id: int
    broker_epoch: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AllocateProducerIdsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.broker_id, self.broker_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AllocateProducerIdsRequest, int]:
        broker_id, broker_epoch = _iq.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AllocateProducerIdsRequest(broker_id, broker_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AllocateProducerIdsResponse:
    """AllocateProducerIdsResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id_start", "producer_id_len", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    producer_id_start: int
    producer_id_len: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AllocateProducerIdsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihqi.pack(self.throttle_time_ms, self.error_code, self.producer_id_start, self.producer_id_len))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AllocateProducerIdsResponse, int]:
        throttle_time_ms, error_code, producer_id_start, producer_id_len = _ihqi.unpack_from(buffer, position)
        position += 18
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AllocateProducerIdsResponse(
            throttle_time_ms, error_code, producer_id_start, producer_id_len, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AllocateProducerIdsRequest",
    "AllocateProducerIdsResponse",
]
