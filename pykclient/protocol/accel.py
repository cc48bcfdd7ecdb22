"""Who encodes and decodes records: the C extension where ``native`` has it, else its Python twin.

Everyone calls ``accel.active.<function>``; only tests replace ``active``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from pykclient.protocol.native import MODES, load_native, native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pykclient.protocol import pure_batches
    from pykclient.protocol.buffers import Buffer
    from pykclient.protocol.columns import InputColumn, InputHeaders
    from pykclient.protocol.pure import HeaderPairs, Record
    from pykclient.protocol.pure_batches import Promise
    from pykclient.types import ConsumerRecord, TimestampType


class Implementation(Protocol):
    """What both twins offer. Positional arguments only: keywords would cost the native side its speed."""

    def encode_records(
        self, records: Sequence[Record], base_timestamp: int, offset_deltas: Sequence[int] | None = None, /
    ) -> tuple[bytes, int]:
        """See ``pure.encode_records``."""

    def decode_records(
        self,
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
    ) -> list[ConsumerRecord[bytes | None, bytes | None]]:
        """See ``pure.decode_records``."""

    def split_records(self, section: Buffer, count: int, every: int, /) -> list[int]:
        """See ``pure.split_records``."""

    def append_columns(
        self,
        section: Buffer,
        count: int,
        base_offset: int,
        base_timestamp: int,
        append_timestamp: int | None,
        from_offset: int,
        row_count: int,
        arrays: tuple[bytearray, ...],
        /,
    ) -> tuple[int, int, int, int, int]:
        """See ``pure_columns.append_columns``."""

    def resize(self, buffer: bytearray, size: int, /) -> None:
        """See ``pure.resize``."""

    def skip_batches(self, buffer: Buffer, position: int, /) -> tuple[int, int, int]:
        """See ``pure_runs.skip_batches``."""

    def decode_batches(
        self,
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
    ) -> tuple[list[ConsumerRecord[bytes | None, bytes | None]], int, int, int]:
        """See ``pure_runs.decode_batches``."""

    def append_batches(
        self,
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
    ) -> tuple[int, int, int, int, int, int, int, int, int]:
        """See ``pure_runs.append_batches``."""

    def encode_columns(
        self,
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
    ) -> tuple[bytearray, int, int, int]:
        """See ``pure_columns.encode_columns``."""

    def crc32c(self, data: Buffer, value: int = 0, /) -> int:
        """CRC-32C of the data, or of it after bytes whose CRC is ``value``."""

    def murmur2(self, key: Buffer, /) -> int:
        """See ``pure_murmur2.murmur2``."""

    def murmur2_column(self, key: InputColumn, row_count: int, partition_count: int, /) -> bytearray:
        """See ``pure_columns.murmur2_column``."""

    def group_rows(self, partitions: Buffer, partition_count: int, /) -> tuple[bytearray, list[int]]:
        """See ``pure_columns.group_rows``."""

    def append_record(
        self,
        buffer: bytearray,
        limit: int,
        timestamp: int,
        key: Buffer | None,
        value: Buffer | None,
        headers: HeaderPairs | None,
        /,
    ) -> int:
        """See ``batch_builder.append``."""

    @property
    def OpenBatch(self) -> type[pure_batches.OpenBatch]:
        """See ``pure_batches.OpenBatch``."""

    @property
    def SentRecord(self) -> type[pure_batches.SentRecord]:
        """See ``pure_batches.SentRecord``."""

    def append_to(
        self,
        promise_type: type[Promise],
        batch: pure_batches.OpenBatch,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: HeaderPairs | None,
        callback: Callable[..., object] | None,
        /,
    ) -> Promise | None:
        """See ``pure_batches.append_to``."""

    def append_direct(
        self,
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
    ) -> Promise | None:
        """See ``pure_batches.append_direct``."""


def _implementation() -> Implementation:
    if native is not None:
        return native
    from pykclient.protocol import pure_twin

    return cast(Implementation, pure_twin)


active, accelerated = _implementation(), native is not None

__all__ = ["MODES", "Implementation", "accelerated", "active", "load_native"]
