"""Control records: the markers in a log that end a transaction, and those that KRaft writes for itself.

Pure functions, any thread. Unknown types and newer versions are no errors: a reader takes what it knows and skips the
rest.
"""

from __future__ import annotations

import enum
import struct
from typing import NamedTuple

from pykclient.errors import CorruptRecordError
from pykclient.protocol.records import encode_batch
from pykclient.types import ConsumerRecord

_KEY = struct.Struct(">hh")
_END_TRANSACTION = struct.Struct(">hi")


class ControlRecordType(enum.IntEnum):
    """What a control record says; the number is the second field of its key."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class ControlRecord(NamedTuple):
    """A control record as far as clients and brokers need it."""

    type: ControlRecordType
    coordinator_epoch: int | None = None
    """Epoch of the transaction coordinator; for ABORT and COMMIT only."""


def control_type(key: bytes | None) -> ControlRecordType:
    """The type that a control record's key names."""
    if key is None or len(key) < _KEY.size:
        raise CorruptRecordError("control record has no valid key")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise CorruptRecordError(f"control record key has version {version}")
    try:
        return ControlRecordType(number)
    except ValueError:
        return ControlRecordType.UNKNOWN


def decode_control_record(record: ConsumerRecord[bytes | None, bytes | None]) -> ControlRecord:
    """The marker in a record of a control batch."""
    kind = control_type(record.key)
    if kind not in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        return ControlRecord(kind)
    value = record.value
    if value is None or len(value) < _END_TRANSACTION.size:
        raise CorruptRecordError("end of transaction marker has no valid value")
    version, epoch = _END_TRANSACTION.unpack_from(value)
    if version < 0:
        raise CorruptRecordError(f"end of transaction marker has version {version}")
    return ControlRecord(kind, epoch)


def encode_end_transaction_marker(
    *,
    commit: bool,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
) -> bytes:
    """The control batch with which a transaction coordinator commits or aborts on a partition."""
    kind = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
    return encode_batch(
        [(timestamp, _KEY.pack(0, kind), _END_TRANSACTION.pack(0, coordinator_epoch), None)],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
        partition_leader_epoch=partition_leader_epoch,
    )


__all__ = [
    "ControlRecord",
    "ControlRecordType",
    "control_type",
    "decode_control_record",
    "encode_end_transaction_marker",
]
