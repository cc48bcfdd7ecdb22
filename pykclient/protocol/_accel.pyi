"""The native twin of pure_twin; see there for what each function does."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pykclient.protocol.buffers import Buffer
from pykclient.protocol.columns import InputColumn, InputHeaders
from pykclient.protocol.pure import HeaderPairs, Record
from pykclient.protocol.pure_batches import OpenBatch as OpenBatch
from pykclient.protocol.pure_batches import Promise
from pykclient.protocol.pure_batches import SentRecord as SentRecord
from pykclient.types import ConsumerRecord, TimestampType

def encode_records(
    records: Sequence[Record], base_timestamp: int, offset_deltas: Sequence[int] | None = None, /
) -> tuple[bytes, int]: ...
def decode_records(
    section: Buffer,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None,
    timestamp_type: TimestampType,
    from_offset: int,
    topic: str,
    partition: int,
    leader_epoch: int | None,
    /,
) -> list[ConsumerRecord[bytes | None, bytes | None]]: ...
def split_records(section: Buffer, count: int, every: int, /) -> list[int]: ...
def append_columns(
    section: Buffer,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None,
    from_offset: int,
    row_count: int,
    arrays: tuple[bytearray, ...],
    /,
) -> tuple[int, int, int, int, int]: ...
def resize(buffer: bytearray, size: int, /) -> None: ...
def skip_batches(buffer: Buffer, position: int, /) -> tuple[int, int, int]: ...
def decode_batches(
    buffer: Buffer,
    position: int,
    from_offset: int,
    records_max: int,
    check_crc: bool,
    with_transactions: bool,
    topic: str,
    partition: int,
    timestamp_types: tuple[TimestampType, TimestampType],
    /,
) -> tuple[list[ConsumerRecord[bytes | None, bytes | None]], int, int, int]: ...
def append_batches(
    buffer: Buffer,
    position: int,
    from_offset: int,
    end_offset: int,
    rows_max: int,
    bytes_max: int,
    check_crc: bool,
    with_transactions: bool,
    row_count: int,
    arrays: tuple[bytearray, ...],
    /,
) -> tuple[int, int, int, int, int, int, int, int, int]: ...
def encode_columns(
    key: InputColumn | None,
    value: InputColumn | None,
    headers: InputHeaders | None,
    timestamps: Buffer | int,
    row_count: int,
    rows: Buffer | None,
    first: int,
    rows_max: int,
    bytes_max: int,
    before: int = 0,
    /,
) -> tuple[bytearray, int, int, int]: ...
def crc32c(data: Buffer, value: int = 0, /) -> int: ...
def murmur2(key: Buffer, /) -> int: ...
def murmur2_column(key: InputColumn, row_count: int, partition_count: int, /) -> bytearray: ...
def group_rows(partitions: Buffer, partition_count: int, /) -> tuple[bytearray, list[int]]: ...
def append_record(
    buffer: bytearray,
    limit: int,
    timestamp: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: HeaderPairs | None,
    /,
) -> int: ...
def append_to(
    promise_type: type[Promise],
    batch: OpenBatch,
    timestamp: int,
    key: bytes | None,
    value: bytes | None,
    headers: HeaderPairs | None,
    callback: Callable[..., object] | None,
    /,
) -> Promise | None: ...
def append_direct(
    promise_type: type[Promise],
    lanes: Mapping[str, list[Any]],
    topic: str,
    value: Any,
    key: Any,
    partition: int | None,
    timestamp: int | None,
    callback: Callable[..., object] | None,
    wall_ns: Callable[[], int],
    lock: AbstractContextManager[object],
    /,
) -> Promise | None: ...
