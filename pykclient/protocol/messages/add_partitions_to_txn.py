"""AddPartitionsToTxnRequest, AddPartitionsToTxnResponse.

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
    read_compact_structs,
    read_message,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ih = Struct(">ih")
_qh = Struct(">qh")
_qht = Struct(">qh?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnTopic:
    """AddPartitionsToTxnTopic, versions 0 to 5."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 3:
            append(encode_compact_numbers(self.partitions, "i"))
        else:
            append(encode_numbers(self.partitions, "i"))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnTopic, int]:
        if version >= 3:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 3:
            partitions, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            partitions, position = read_numbers(buffer, position, "i", 4)
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnTransaction:
    """AddPartitionsToTxnTransaction, versions 4 to 5."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "verify_only", "topics", "unknown_tags")

    transactional_id: str
    producer_id: int
    producer_epoch: int
    verify_only: bool
    topics: list[AddPartitionsToTxnTopic]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.transactional_id))
        append(_qht.pack(self.producer_id, self.producer_epoch, self.verify_only))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnTransaction, int]:
        transactional_id, position = read_compact_string(buffer, position)
        producer_id, producer_epoch, verify_only = _qht.unpack_from(buffer, position)
        position += 11
        topics, position = read_compact_structs(
            buffer, position, version, AddPartitionsToTxnTopic._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnTransaction(
            transactional_id, producer_id, producer_epoch, verify_only, topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnRequest:
    """AddPartitionsToTxnRequest, versions 0 to 5."""

    __slots__ = (
        "transactions", "v3_and_below_transactional_id", "v3_and_below_producer_id",
        "v3_and_below_producer_epoch", "v3_and_below_topics", "unknown_tags",
    )

    transactions: list[AddPartitionsToTxnTransaction]
    v3_and_below_transactional_id: str
    v3_and_below_producer_id: int
    v3_and_below_producer_epoch: int
    v3_and_below_topics: list[AddPartitionsToTxnTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        transactions: list[AddPartitionsToTxnTransaction] = EMPTY,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactions = [] if transactions is EMPTY else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is EMPTY else v3_and_below_topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AddPartitionsToTxnRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append_compact_structs(out, self.transactions, version)
        elif version >= 3:
            if self.transactions:
                raise not_carried(self, "transactions", version)
        elif self.transactions:
            raise not_carried(self, "transactions", version)
        if version >= 4:
            if self.v3_and_below_transactional_id:
                raise not_carried(self, "v3_and_below_transactional_id", version)
        elif version >= 3:
            append(encode_compact_string(self.v3_and_below_transactional_id))
        else:
            append(encode_string(self.v3_and_below_transactional_id))
        if version >= 4:
            if self.v3_and_below_producer_id != 0:
                raise not_carried(self, "v3_and_below_producer_id", version)
            if self.v3_and_below_producer_epoch != 0:
                raise not_carried(self, "v3_and_below_producer_epoch", version)
        else:
            append(_qh.pack(self.v3_and_below_producer_id, self.v3_and_below_producer_epoch))
        if version >= 4:
            if self.v3_and_below_topics:
                raise not_carried(self, "v3_and_below_topics", version)
        elif version >= 3:
            append_compact_structs(out, self.v3_and_below_topics, version)
        else:
            append_structs(out, self.v3_and_below_topics, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnRequest, int]:
        if version >= 4:
            transactions, position = read_compact_structs(
                buffer, position, version, AddPartitionsToTxnTransaction._read, 14,
            )
        elif version >= 3:
            transactions = []
        else:
            transactions = []
        if version >= 4:
            v3_and_below_transactional_id = ""
        elif version >= 3:
            v3_and_below_transactional_id, position = read_compact_string(buffer, position)
        else:
            v3_and_below_transactional_id, position = read_string(buffer, position)
        if version >= 4:
            v3_and_below_producer_id = 0
            v3_and_below_producer_epoch = 0
        else:
            v3_and_below_producer_id, v3_and_below_producer_epoch = _qh.unpack_from(buffer, position)
            position += 10
        v3_and_below_topics: list[AddPartitionsToTxnTopic]
        if version >= 4:
            v3_and_below_topics = []
        elif version >= 3:
            v3_and_below_topics, position = read_compact_structs(
                buffer, position, version, AddPartitionsToTxnTopic._read, 3,
            )
        else:
            v3_and_below_topics, position = read_structs(
                buffer, position, version, AddPartitionsToTxnTopic._read, 3,
            )
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnRequest(
            transactions, v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch,
            v3_and_below_topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnPartitionResult:
    """AddPartitionsToTxnPartitionResult, versions 0 to 5."""

    __slots__ = ("partition_index", "partition_error_code", "unknown_tags")

    partition_index: int
    partition_error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.partition_error_code))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnPartitionResult, int]:
        partition_index, partition_error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnPartitionResult(partition_index, partition_error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnTopicResult:
    """AddPartitionsToTxnTopicResult, versions 0 to 5."""

    __slots__ = ("name", "results_by_partition", "unknown_tags")

    name: str
    results_by_partition: list[AddPartitionsToTxnPartitionResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.results_by_partition = [] if results_by_partition is EMPTY else results_by_partition
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 3:
            append_compact_structs(out, self.results_by_partition, version)
        else:
            append_structs(out, self.results_by_partition, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnTopicResult, int]:
        if version >= 3:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 3:
            results_by_partition, position = read_compact_structs(
                buffer, position, version, AddPartitionsToTxnPartitionResult._read, 6,
            )
        else:
            results_by_partition, position = read_structs(
                buffer, position, version, AddPartitionsToTxnPartitionResult._read, 6,
            )
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnTopicResult(name, results_by_partition, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnResult:
    """AddPartitionsToTxnResult, versions 4 to 5."""

    __slots__ = ("transactional_id", "topic_results", "unknown_tags")

    transactional_id: str
    topic_results: list[AddPartitionsToTxnTopicResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is EMPTY else topic_results
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.transactional_id))
        append_compact_structs(out, self.topic_results, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnResult, int]:
        transactional_id, position = read_compact_string(buffer, position)
        topic_results, position = read_compact_structs(
            buffer, position, version, AddPartitionsToTxnTopicResult._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnResult(transactional_id, topic_results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AddPartitionsToTxnResponse:
    """AddPartitionsToTxnResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms", "error_code", "results_by_transaction", "results_by_topic_v3_and_below",
        "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    results_by_transaction: list[AddPartitionsToTxnResult]
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = EMPTY,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is EMPTY else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is EMPTY else results_by_topic_v3_and_below
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AddPartitionsToTxnResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_i.pack(self.throttle_time_ms))
        if version >= 4:
            append_compact_structs(out, self.results_by_transaction, version)
        elif version >= 3:
            if self.results_by_transaction:
                raise not_carried(self, "results_by_transaction", version)
        elif self.results_by_transaction:
            raise not_carried(self, "results_by_transaction", version)
        if version >= 4:
            if self.results_by_topic_v3_and_below:
                raise not_carried(self, "results_by_topic_v3_and_below", version)
        elif version >= 3:
            append_compact_structs(out, self.results_by_topic_v3_and_below, version)
        else:
            append_structs(out, self.results_by_topic_v3_and_below, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AddPartitionsToTxnResponse, int]:
        if version >= 4:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
        if version >= 4:
            results_by_transaction, position = read_compact_structs(
                buffer, position, version, AddPartitionsToTxnResult._read, 3,
            )
        elif version >= 3:
            results_by_transaction = []
        else:
            results_by_transaction = []
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
        if version >= 4:
            results_by_topic_v3_and_below = []
        elif version >= 3:
            results_by_topic_v3_and_below, position = read_compact_structs(
                buffer, position, version, AddPartitionsToTxnTopicResult._read, 3,
            )
        else:
            results_by_topic_v3_and_below, position = read_structs(
                buffer, position, version, AddPartitionsToTxnTopicResult._read, 3,
            )
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AddPartitionsToTxnResponse(
            throttle_time_ms, error_code, results_by_transaction, results_by_topic_v3_and_below, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AddPartitionsToTxnPartitionResult",
    "AddPartitionsToTxnRequest",
    "AddPartitionsToTxnResponse",
    "AddPartitionsToTxnResult",
    "AddPartitionsToTxnTopic",
    "AddPartitionsToTxnTopicResult",
    "AddPartitionsToTxnTransaction",
]
