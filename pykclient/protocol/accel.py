"""Chooses, once, who encodes and decodes records: the C extension when it is there, else its Python twin.

``PYKCLIENT_ACCEL`` decides: ``auto`` (the default), ``off`` (always Python), ``require`` (an ImportError without the
extension).
Read at import, by whichever thread imports first. Everyone calls ``accel.active.<function>``; only tests replace
``active``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, cast

from pykclient.protocol import pure_twin
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.pure import HeaderPairs, Record
from pykclient.types import ConsumerRecord, TimestampType

if TYPE_CHECKING:
    from pykclient.protocol import pure_batches
    from pykclient.protocol.columns import InputColumn, InputHeaders
    from pykclient.protocol.pure_batches import Promise

MODES = ("auto", "off", "require")


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


def _load(mode: str) -> tuple[Implementation, bool]:
    if mode not in MODES:
        raise ImportError(f"PYKCLIENT_ACCEL is {mode!r}; it must be one of {', '.join(MODES)}")
    if mode != "off":
        native = load_native()
        if native is not None:
            return native, True
        if mode == "require":
            raise ImportError("PYKCLIENT_ACCEL=require, but the C extension pykclient.protocol._accel is not there")
    return cast(Implementation, pure_twin), False


def load_native() -> Implementation | None:
    """The C extension, or None where it was not built."""
    try:
        from pykclient.protocol import _accel
    except ImportError:
        return None
    return cast(Implementation, _accel)


active, accelerated = _load(os.environ.get("PYKCLIENT_ACCEL", "auto") or "auto")

__all__ = ["MODES", "Implementation", "accelerated", "active", "load_native"]
