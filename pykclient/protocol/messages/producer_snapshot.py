"""ProducerSnapshot.

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
    EMPTY,
    append_structs,
    read_message,
    read_structs,
    struct_repr,
    structs_equal,
    write_message,
)

_I = Struct(">I")
_qhiqiqiq = Struct(">qhiqiqiq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ProducerEntry:
    """ProducerEntry, version 1."""

    __slots__ = (
        "producer_id", "epoch", "last_sequence", "last_offset", "offset_delta", "timestamp",
        "coordinator_epoch", "current_txn_first_offset",
    )

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int

    def __init__(
        self,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qhiqiqiq.pack(
            self.producer_id, self.epoch, self.last_sequence, self.last_offset, self.offset_delta,
            self.timestamp, self.coordinator_epoch, self.current_txn_first_offset,
        ))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ProducerEntry, int]:
        (
            producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch,
            current_txn_first_offset,
        ) = _qhiqiqiq.unpack_from(buffer, position)
        position += 46
        return ProducerEntry(
            producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch,
            current_txn_first_offset,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ProducerSnapshot:
    """ProducerSnapshot, version 1."""

    __slots__ = ("crc", "producer_entries")

    crc: int
    producer_entries: list[ProducerEntry]

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, crc: int = 0, producer_entries: list[ProducerEntry] = EMPTY) -> None:
        self.crc = crc
        self.producer_entries = [] if producer_entries is EMPTY else producer_entries

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ProducerSnapshot:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_I.pack(self.crc))
        append_structs(out, self.producer_entries, version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ProducerSnapshot, int]:
        (crc,) = _I.unpack_from(buffer, position)
        position += 4
        producer_entries, position = read_structs(buffer, position, version, ProducerEntry._read, 46)
        return ProducerSnapshot(crc, producer_entries), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ProducerEntry",
    "ProducerSnapshot",
]
