"""What ``poll`` returns, and how bytes become the user's objects. Runs on the polling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pykclient.errors import DeserializationError
from pykclient.types import ConsumerRecord, Headers, TopicPartition

Deserialize = Callable[[str, "bytes | None", Headers], Any]


class PolledRecords(dict[TopicPartition, "list[ConsumerRecord[Any, Any]]"]):
    """Records by partition, in order within each. ``records()`` goes over all of them; ``count`` says how many."""

    def records(self) -> Iterator[ConsumerRecord[Any, Any]]:
        """One after the other, partition by partition."""
        for batch in self.values():
            yield from batch

    @property
    def count(self) -> int:
        """How many records there are in all."""
        return sum(map(len, self.values()))


def deserialize(
    records: Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]],
    key: Deserialize | None,
    value: Deserialize | None,
    step_back: Callable[[TopicPartition, int], None],
) -> dict[TopicPartition, list[ConsumerRecord[Any, Any]]]:
    """Turn keys and values into objects, in place. Nulls stay None and never reach a deserializer.

    At the first record that cannot be read: when others were read before it, these are returned and it is met again by
    the next poll; else it raises. Either way ``step_back`` puts the positions in front of what is not returned.
    """
    done: dict[TopicPartition, list[ConsumerRecord[Any, Any]]] = {}
    failure: DeserializationError | None = None
    for tp, batch in records.items():
        if failure is not None:
            step_back(tp, batch[0].offset)
            continue
        for index, record in enumerate(batch):
            try:
                _deserialize_one(record, key, value)
            except DeserializationError as error:
                failure = error
                step_back(tp, record.offset)
                if index:
                    done[tp] = batch[:index]
                break
        else:
            done[tp] = batch
    if failure is not None and not done:
        raise failure
    return done


def _deserialize_one(record: ConsumerRecord[Any, Any], key: Deserialize | None, value: Deserialize | None) -> None:
    raw_key, raw_value = record.key, record.value
    origin = "key"
    try:
        if key is not None and raw_key is not None:
            record.key = key(record.topic, raw_key, record.headers)
        origin = "value"
        if value is not None and raw_value is not None:
            record.value = value(record.topic, raw_value, record.headers)
    except Exception as error:
        record.key, record.value = raw_key, raw_value
        detail = (
            error.message
            if isinstance(error, DeserializationError)
            else f"the deserializer raised {type(error).__name__}"
        )
        failure = DeserializationError(
            f"the {origin} cannot be read: {detail}; seek to {record.offset + 1} to step over it",
            origin=origin,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
        )
        failure.raw_key, failure.raw_value = raw_key, raw_value
        raise failure from error


__all__ = ["PolledRecords", "deserialize"]
