"""How transactional ids stand in ``__transaction_state``: Kafka's own key and value records.

Owns the way between ``Transaction`` and the bytes of a record. Pure; runs on the broker node's thread. Must accept
every record that Kafka 4.3 or an older version of this file wrote.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable

from pykclient.broker.coordinator import CoordinatorRecord
from pykclient.broker.transaction_state import Transaction, TransactionState
from pykclient.protocol.messages.transaction_log_key import TransactionLogKey
from pykclient.protocol.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from pykclient.types import TopicPartition

_PREFIX = struct.Struct(">h")
_KEY_TYPE = 0


def encode_key(transactional_id: str) -> bytes:
    """The record's key: the record type, then the id."""
    return _PREFIX.pack(_KEY_TYPE) + TransactionLogKey(transactional_id=transactional_id).write(0)


def decode_key(key: bytes) -> str | None:
    """The transactional id; None for a record type that this version does not know."""
    if _PREFIX.unpack_from(key)[0] != _KEY_TYPE:
        return None
    return TransactionLogKey.read(key[_PREFIX.size :], 0).transactional_id


def encode(transaction: Transaction, *, server_version: int) -> CoordinatorRecord:
    """The record that makes this value durable."""
    version = 1 if server_version >= 1 or transaction.client_version else 0
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=int(transaction.state),
        transaction_partitions=None if transaction.state == TransactionState.EMPTY else _grouped(transaction),
        transaction_last_update_timestamp_ms=transaction.last_update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
        client_transaction_version=transaction.client_version,
    )
    if version >= 1:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
    return CoordinatorRecord(encode_key(transaction.transactional_id), _PREFIX.pack(version) + value.write(version))


def _grouped(transaction: Transaction) -> list[PartitionsSchema]:
    return [
        PartitionsSchema(topic=topic, partition_ids=partitions)
        for topic, partitions in by_topic(transaction.partitions).items()
    ]


def decode(transactional_id: str, value: bytes) -> Transaction | None:
    """The value; None for a value version that this version of the code does not know."""
    version = _PREFIX.unpack_from(value)[0]
    if not 0 <= version <= TransactionLogValue.MAX_VERSION:
        return None
    read = TransactionLogValue.read(value[_PREFIX.size :], version)
    return Transaction(
        transactional_id=transactional_id,
        producer_id=read.producer_id,
        producer_epoch=read.producer_epoch,
        previous_producer_id=read.previous_producer_id,
        next_producer_id=read.next_producer_id,
        timeout_ms=read.transaction_timeout_ms,
        state=TransactionState(read.transaction_status),
        partitions=frozenset(
            TopicPartition(topic.topic, partition)
            for topic in read.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        start_ms=read.transaction_start_timestamp_ms,
        last_update_ms=read.transaction_last_update_timestamp_ms,
        client_version=read.client_transaction_version,
    )


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partition numbers under their topics, in order: the shape that most of Kafka's messages want."""
    grouped: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        grouped[topic].append(partition)
    return dict(grouped)
