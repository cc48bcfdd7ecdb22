"""InitProducerIdRequest, InitProducerIdResponse.

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
    encode_nullable_string,
    read_compact_nullable_string,
    read_nullable_string,
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

_i = Struct(">i")
_ihqh = Struct(">ihqh")
_ihqhqh = Struct(">ihqhqh")
_iqh = Struct(">iqh")
_iqhtt = Struct(">iqh??")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class InitProducerIdRequest:
    """InitProducerIdRequest, versions 0 to 6."""

    __slots__ = (
        "transactional_id", "transaction_timeout_ms", "producer_id", "producer_epoch", "enable2_pc",
        "keep_prepared_txn", "unknown_tags",
    )

    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int
    producer_epoch: int
    enable2_pc: bool
    keep_prepared_txn: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> InitProducerIdRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_nullable_string(self.transactional_id))
        else:
            append(encode_nullable_string(self.transactional_id))
        if version >= 6:
            append(_iqhtt.pack(
                self.transaction_timeout_ms, self.producer_id, self.producer_epoch, self.enable2_pc,
                self.keep_prepared_txn,
            ))
        elif version >= 3:
            if self.enable2_pc:
                raise not_carried(self, "enable2_pc", version)
            if self.keep_prepared_txn:
                raise not_carried(self, "keep_prepared_txn", version)
            append(_iqh.pack(self.transaction_timeout_ms, self.producer_id, self.producer_epoch))
        else:
            if self.producer_id != -1:
                raise not_carried(self, "producer_id", version)
            if self.producer_epoch != -1:
                raise not_carried(self, "producer_epoch", version)
            if self.enable2_pc:
                raise not_carried(self, "enable2_pc", version)
            if self.keep_prepared_txn:
                raise not_carried(self, "keep_prepared_txn", version)
            append(_i.pack(self.transaction_timeout_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[InitProducerIdRequest, int]:
        if version >= 2:
            transactional_id, position = read_compact_nullable_string(buffer, position)
        else:
            transactional_id, position = read_nullable_string(buffer, position)
        if version >= 6:
            (
                transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn,
            ) = _iqhtt.unpack_from(buffer, position)
            position += 16
        elif version >= 3:
            transaction_timeout_ms, producer_id, producer_epoch = _iqh.unpack_from(buffer, position)
            position += 14
            enable2_pc = False
            keep_prepared_txn = False
        else:
            (transaction_timeout_ms,) = _i.unpack_from(buffer, position)
            position += 4
            producer_id = -1
            producer_epoch = -1
            enable2_pc = False
            keep_prepared_txn = False
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return InitProducerIdRequest(
            transactional_id, transaction_timeout_ms, producer_id, producer_epoch, enable2_pc,
            keep_prepared_txn, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class InitProducerIdResponse:
    """InitProducerIdResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms", "error_code", "producer_id", "producer_epoch", "ongoing_txn_producer_id",
        "ongoing_txn_producer_epoch", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    ongoing_txn_producer_id: int
    ongoing_txn_producer_epoch: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> InitProducerIdResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(_ihqhqh.pack(
                self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch,
                self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch,
            ))
        else:
            if self.ongoing_txn_producer_id != -1:
                raise not_carried(self, "ongoing_txn_producer_id", version)
            if self.ongoing_txn_producer_epoch != -1:
                raise not_carried(self, "ongoing_txn_producer_epoch", version)
            append(_ihqh.pack(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[InitProducerIdResponse, int]:
        if version >= 6:
            (
                throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id,
                ongoing_txn_producer_epoch,
            ) = _ihqhqh.unpack_from(buffer, position)
            position += 26
        else:
            throttle_time_ms, error_code, producer_id, producer_epoch = _ihqh.unpack_from(buffer, position)
            position += 16
            ongoing_txn_producer_id = -1
            ongoing_txn_producer_epoch = -1
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return InitProducerIdResponse(
            throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id,
            ongoing_txn_producer_epoch, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "InitProducerIdRequest",
    "InitProducerIdResponse",
]
