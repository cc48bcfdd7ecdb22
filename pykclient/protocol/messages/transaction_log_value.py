"""TransactionLogValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_numbers,
    encode_compact_string,
    encode_numbers,
    encode_string,
    read_compact_numbers,
    read_compact_string,
    read_numbers,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_nullable_structs,
    read_message,
    read_nullable_structs,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_h = Struct(">h")
_q = Struct(">q")
_qhib = Struct(">qhib")
_qq = Struct(">qq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionsSchema:
    """PartitionsSchema, versions 0 to 1."""

    __slots__ = ("topic", "partition_ids", "unknown_tags")

    topic: str
    partition_ids: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        partition_ids: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partition_ids = [] if partition_ids is EMPTY else partition_ids
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_string(self.topic))
        else:
            append(encode_string(self.topic))
        if version >= 1:
            append(encode_compact_numbers(self.partition_ids, "i"))
        else:
            append(encode_numbers(self.partition_ids, "i"))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionsSchema, int]:
        if version >= 1:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 1:
            partition_ids, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            partition_ids, position = read_numbers(buffer, position, "i", 4)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionsSchema(topic, partition_ids, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TransactionLogValue:
    """TransactionLogValue, versions 0 to 1."""

    __slots__ = (
        "producer_id", "previous_producer_id", "next_producer_id", "producer_epoch", "next_producer_epoch",
        "transaction_timeout_ms", "transaction_status", "transaction_partitions",
        "transaction_last_update_timestamp_ms", "transaction_start_timestamp_ms",
        "client_transaction_version", "unknown_tags",
    )

    producer_id: int
    previous_producer_id: int
    next_producer_id: int
    producer_epoch: int
    next_producer_epoch: int
    transaction_timeout_ms: int
    transaction_status: int
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: int
    transaction_start_timestamp_ms: int
    client_transaction_version: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = EMPTY,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = [] if transaction_partitions is EMPTY else transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> TransactionLogValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qhib.pack(
            self.producer_id, self.producer_epoch, self.transaction_timeout_ms, self.transaction_status,
        ))
        if version >= 1:
            if self.transaction_partitions is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.transaction_partitions, version)
        else:
            if self.transaction_partitions is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.transaction_partitions, version)
        append(_qq.pack(self.transaction_last_update_timestamp_ms, self.transaction_start_timestamp_ms))
        known: list[tuple[int, bytes]] = []
        if version >= 1:
            if self.previous_producer_id != -1:
                known.append((0, _q.pack(self.previous_producer_id)))
        elif self.previous_producer_id != -1:
            raise not_carried(self, "previous_producer_id", version)
        if version >= 1:
            if self.next_producer_id != -1:
                known.append((1, _q.pack(self.next_producer_id)))
        elif self.next_producer_id != -1:
            raise not_carried(self, "next_producer_id", version)
        if version >= 1:
            if self.client_transaction_version != 0:
                known.append((2, _h.pack(self.client_transaction_version)))
        elif self.client_transaction_version != 0:
            raise not_carried(self, "client_transaction_version", version)
        if version >= 1:
            if self.next_producer_epoch != -1:
                known.append((3, _h.pack(self.next_producer_epoch)))
        elif self.next_producer_epoch != -1:
            raise not_carried(self, "next_producer_epoch", version)
        if version >= 1:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TransactionLogValue, int]:
        (
            producer_id, producer_epoch, transaction_timeout_ms, transaction_status,
        ) = _qhib.unpack_from(buffer, position)
        position += 15
        if version >= 1:
            transaction_partitions, position = read_compact_nullable_structs(
                buffer, position, version, PartitionsSchema._read, 3,
            )
        else:
            transaction_partitions, position = read_nullable_structs(
                buffer, position, version, PartitionsSchema._read, 3,
            )
        transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = _qq.unpack_from(buffer, position)
        position += 16
        previous_producer_id = -1
        next_producer_id = -1
        next_producer_epoch = -1
        client_transaction_version = 0
        tags: dict[int, bytes] | None = None
        if version >= 1:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        (previous_producer_id,) = _q.unpack_from(buffer, position)
                        position += 8
                    elif tag == 1:
                        (next_producer_id,) = _q.unpack_from(buffer, position)
                        position += 8
                    elif tag == 3:
                        (next_producer_epoch,) = _h.unpack_from(buffer, position)
                        position += 2
                    elif tag == 2:
                        (client_transaction_version,) = _h.unpack_from(buffer, position)
                        position += 2
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return TransactionLogValue(
            producer_id, previous_producer_id, next_producer_id, producer_epoch, next_producer_epoch,
            transaction_timeout_ms, transaction_status, transaction_partitions,
            transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, client_transaction_version,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "PartitionsSchema",
    "TransactionLogValue",
]
