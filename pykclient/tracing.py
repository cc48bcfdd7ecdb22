"""OpenTelemetry tracing: interceptors that carry the trace with the record, and a span around the handling of one.

Runs on the user's threads (sending and polling); the one file that imports ``opentelemetry`` (the API alone, an extra).
Names and attributes follow OpenTelemetry's conventions for messaging. Must never put values into a span, and keys only
when asked to: traces are read by more people than records are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pykclient.errors import UsageError
from pykclient.types import ConsumerRecord, Headers, OffsetAndMetadata, RecordMetadata, TopicPartition

try:
    from opentelemetry import propagate, trace
    from opentelemetry.propagators.textmap import Getter, Setter
    from opentelemetry.trace import Link, Span, SpanKind, Tracer
except ImportError as missing:
    raise UsageError("tracing needs OpenTelemetry: pip install 'pykclient[otel]'") from missing


class _HeaderGetter(Getter[Headers]):
    def get(self, carrier: Headers, key: str) -> list[str] | None:
        """The values under a name; the propagators' names are lower case, senders' may not be."""
        found = [
            value.decode("utf-8", "replace") for name, value in carrier if name.lower() == key and value is not None
        ]
        return found or None

    def keys(self, carrier: Headers) -> list[str]:
        """All names."""
        return [name for name, _ in carrier]


class _HeaderSetter(Setter[Headers]):
    def set(self, carrier: Headers, key: str, value: str) -> None:
        """One value under a name: a record that is sent on keeps only the newest trace."""
        carrier[:] = [header for header in carrier if header[0].lower() != key]
        carrier.append((key, value.encode()))


_GETTER = _HeaderGetter()
_SETTER = _HeaderSetter()


class TracingProducerInterceptor:
    """``KafkaProducer(interceptors=[TracingProducerInterceptor()])``: a span per record, its context in the headers.

    The span covers handing the record over. What becomes of it is told by the future, the callback and the metrics: a
    span per record that stays open until the broker answers would keep every one in memory.
    """

    def __init__(self, tracer: Tracer | None = None, *, keys: bool = False) -> None:
        self._tracer = tracer or trace.get_tracer("pykclient")
        self._keys = keys

    def on_send(
        self, topic: str, partition: int | None, key: Any, value: Any, headers: Headers
    ) -> tuple[Any, Any, Headers]:
        """See ProducerInterceptor."""
        attributes = _attributes("send", topic, partition, key if self._keys else None)
        with self._tracer.start_as_current_span(f"send {topic}", kind=SpanKind.PRODUCER, attributes=attributes):
            carried = list(headers or ())
            propagate.inject(carried, setter=_SETTER)
        return key, value, carried

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: BaseException | None) -> None:
        """See ProducerInterceptor."""


class TracingConsumerInterceptor:
    """``KafkaConsumer(interceptors=[TracingConsumerInterceptor()])``: a span per poll and partition that brought
    records, linked to the spans that sent them."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = tracer or trace.get_tracer("pykclient")

    def on_consume(
        self, records: Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]]
    ) -> Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]]:
        """See ConsumerInterceptor."""
        for partition, batch in records.items():
            contexts = (_sender(record) for record in batch)
            links = [Link(context) for context in contexts if context.is_valid]
            attributes = _attributes("receive", partition.topic, partition.partition, None)
            attributes["messaging.batch.message_count"] = len(batch)
            name = f"poll {partition.topic}"
            self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes, links=links).end()
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """See ConsumerInterceptor."""


@contextmanager
def handling(record: ConsumerRecord[Any, Any], tracer: Tracer | None = None, *, keys: bool = False) -> Iterator[Span]:
    """``with handling(record):`` a span that continues the sender's trace; what is sent inside becomes part of it."""
    attributes = _attributes("process", record.topic, record.partition, record.key if keys else None)
    attributes["messaging.kafka.offset"] = record.offset
    parent = propagate.extract(record.headers, getter=_GETTER)
    chosen = tracer or trace.get_tracer("pykclient")
    name = f"process {record.topic}"
    with chosen.start_as_current_span(name, context=parent, kind=SpanKind.CONSUMER, attributes=attributes) as span:
        yield span


def _attributes(operation: str, topic: str, partition: int | None, key: Any) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {
        "messaging.system": "kafka",
        "messaging.operation.type": operation,
        "messaging.destination.name": topic,
    }
    if partition is not None:
        attributes["messaging.destination.partition.id"] = str(partition)
    if key is not None:
        attributes["messaging.kafka.message.key"] = (
            key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
        )
    return attributes


def _sender(record: ConsumerRecord[Any, Any]) -> trace.SpanContext:
    return trace.get_current_span(propagate.extract(record.headers, getter=_GETTER)).get_span_context()


__all__ = ["TracingConsumerInterceptor", "TracingProducerInterceptor", "handling"]
