"""WriteTxnMarkersRequest, WriteTxnMarkersResponse.

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
    read_compact_numbers,
    read_compact_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ib = Struct(">ib")
_ih = Struct(">ih")
_q = Struct(">q")
_qht = Struct(">qh?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WritableTxnMarkerTopic:
    """WritableTxnMarkerTopic, versions 1 to 2."""

    __slots__ = ("name", "partition_indexes", "unknown_tags")

    name: str
    partition_indexes: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_numbers(self.partition_indexes, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WritableTxnMarkerTopic, int]:
        name, position = read_compact_string(buffer, position)
        partition_indexes, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WritableTxnMarkerTopic(name, partition_indexes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WritableTxnMarker:
    """WritableTxnMarker, versions 1 to 2."""

    __slots__ = (
        "producer_id", "producer_epoch", "transaction_result", "topics", "coordinator_epoch",
        "transaction_version", "unknown_tags",
    )

    producer_id: int
    producer_epoch: int
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: int
    transaction_version: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = EMPTY,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = [] if topics is EMPTY else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qht.pack(self.producer_id, self.producer_epoch, self.transaction_result))
        append_compact_structs(out, self.topics, version)
        if version >= 2:
            append(_ib.pack(self.coordinator_epoch, self.transaction_version))
        else:
            append(_i.pack(self.coordinator_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WritableTxnMarker, int]:
        producer_id, producer_epoch, transaction_result = _qht.unpack_from(buffer, position)
        position += 11
        topics, position = read_compact_structs(
            buffer, position, version, WritableTxnMarkerTopic._read, 3,
        )
        if version >= 2:
            coordinator_epoch, transaction_version = _ib.unpack_from(buffer, position)
            position += 5
        else:
            (coordinator_epoch,) = _i.unpack_from(buffer, position)
            position += 4
            transaction_version = 0
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WritableTxnMarker(
            producer_id, producer_epoch, transaction_result, topics, coordinator_epoch, transaction_version,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WriteTxnMarkersRequest:
    """WriteTxnMarkersRequest, versions 1 to 2."""

    __slots__ = ("markers", "unknown_tags")

    markers: list[WritableTxnMarker]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        markers: list[WritableTxnMarker] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.markers = [] if markers is EMPTY else markers
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> WriteTxnMarkersRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.markers, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WriteTxnMarkersRequest, int]:
        markers, position = read_compact_structs(buffer, position, version, WritableTxnMarker._read, 17)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WriteTxnMarkersRequest(markers, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WritableTxnMarkerPartitionResult:
    """WritableTxnMarkerPartitionResult, versions 1 to 2."""

    __slots__ = ("partition_index", "error_code", "unknown_tags")

    partition_index: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WritableTxnMarkerPartitionResult, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WritableTxnMarkerPartitionResult(partition_index, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WritableTxnMarkerTopicResult:
    """WritableTxnMarkerTopicResult, versions 1 to 2."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[WritableTxnMarkerPartitionResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WritableTxnMarkerTopicResult, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, WritableTxnMarkerPartitionResult._read, 7,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WritableTxnMarkerTopicResult(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WritableTxnMarkerResult:
    """WritableTxnMarkerResult, versions 1 to 2."""

    __slots__ = ("producer_id", "topics", "unknown_tags")

    producer_id: int
    topics: list[WritableTxnMarkerTopicResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_q.pack(self.producer_id))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WritableTxnMarkerResult, int]:
        (producer_id,) = _q.unpack_from(buffer, position)
        position += 8
        topics, position = read_compact_structs(
            buffer, position, version, WritableTxnMarkerTopicResult._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WritableTxnMarkerResult(producer_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class WriteTxnMarkersResponse:
    """WriteTxnMarkersResponse, versions 1 to 2."""

    __slots__ = ("markers", "unknown_tags")

    markers: list[WritableTxnMarkerResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        markers: list[WritableTxnMarkerResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.markers = [] if markers is EMPTY else markers
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> WriteTxnMarkersResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.markers, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[WriteTxnMarkersResponse, int]:
        markers, position = read_compact_structs(
            buffer, position, version, WritableTxnMarkerResult._read, 10,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return WriteTxnMarkersResponse(markers, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "WritableTxnMarker",
    "WritableTxnMarkerPartitionResult",
    "WritableTxnMarkerResult",
    "WritableTxnMarkerTopic",
    "WritableTxnMarkerTopicResult",
    "WriteTxnMarkersRequest",
    "WriteTxnMarkersResponse",
]
