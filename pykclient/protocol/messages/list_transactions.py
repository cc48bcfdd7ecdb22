"""ListTransactionsRequest, ListTransactionsResponse.

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
    encode_compact_numbers,
    encode_compact_string,
    encode_compact_strings,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_compact_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_ih = Struct(">ih")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListTransactionsRequest:
    """ListTransactionsRequest, versions 0 to 2."""

    __slots__ = (
        "state_filters", "producer_id_filters", "duration_filter", "transactional_id_pattern",
        "unknown_tags",
    )

    state_filters: list[str]
    producer_id_filters: list[int]
    duration_filter: int
    transactional_id_pattern: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        state_filters: list[str] = EMPTY,
        producer_id_filters: list[int] = EMPTY,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.state_filters = [] if state_filters is EMPTY else state_filters
        self.producer_id_filters = [] if producer_id_filters is EMPTY else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListTransactionsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_strings(self.state_filters))
        append(encode_compact_numbers(self.producer_id_filters, "q"))
        if version >= 1:
            append(_q.pack(self.duration_filter))
        elif self.duration_filter != -1:
            raise not_carried(self, "duration_filter", version)
        if version >= 2:
            append(encode_compact_nullable_string(self.transactional_id_pattern))
        elif self.transactional_id_pattern is not None:
            raise not_carried(self, "transactional_id_pattern", version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListTransactionsRequest, int]:
        state_filters, position = read_compact_strings(buffer, position)
        producer_id_filters, position = read_compact_numbers(buffer, position, "q", 8)
        if version >= 1:
            (duration_filter,) = _q.unpack_from(buffer, position)
            position += 8
        else:
            duration_filter = -1
        if version >= 2:
            transactional_id_pattern, position = read_compact_nullable_string(buffer, position)
        else:
            transactional_id_pattern = None
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListTransactionsRequest(
            state_filters, producer_id_filters, duration_filter, transactional_id_pattern, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TransactionState:
    """TransactionState, versions 0 to 2."""

    __slots__ = ("transactional_id", "producer_id", "transaction_state", "unknown_tags")

    transactional_id: str
    producer_id: int
    transaction_state: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.transactional_id))
        append(_q.pack(self.producer_id))
        append(encode_compact_string(self.transaction_state))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TransactionState, int]:
        transactional_id, position = read_compact_string(buffer, position)
        (producer_id,) = _q.unpack_from(buffer, position)
        position += 8
        transaction_state, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TransactionState(transactional_id, producer_id, transaction_state, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListTransactionsResponse:
    """ListTransactionsResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms", "error_code", "unknown_state_filters", "transaction_states", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = EMPTY,
        transaction_states: list[TransactionState] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = [] if unknown_state_filters is EMPTY else unknown_state_filters
        self.transaction_states = [] if transaction_states is EMPTY else transaction_states
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListTransactionsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_strings(self.unknown_state_filters))
        append_compact_structs(out, self.transaction_states, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListTransactionsResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        unknown_state_filters, position = read_compact_strings(buffer, position)
        transaction_states, position = read_compact_structs(
            buffer, position, version, TransactionState._read, 11,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListTransactionsResponse(
            throttle_time_ms, error_code, unknown_state_filters, transaction_states, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ListTransactionsRequest",
    "ListTransactionsResponse",
    "TransactionState",
]
