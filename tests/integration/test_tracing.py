"""Traces that cross a topic: who sent, who polled, who handled, and no data in them unless asked for."""

from __future__ import annotations

from typing import Any

import pytest

from pykclient import KafkaConsumer, KafkaProducer
from pykclient.testing import EmbeddedCluster

pytest.importorskip("opentelemetry.sdk.trace", reason="tracing: pip install opentelemetry-sdk", exc_type=ImportError)

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from pykclient.tracing import TracingConsumerInterceptor, TracingProducerInterceptor, handling

CANARY = "canary-5b1d"


class Traced:
    """A tracer whose finished spans can be read."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("test")

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_trace_goes_through_a_topic_and_on_to_the_next() -> None:
    traced = Traced()
    with EmbeddedCluster(topics=["orders", "bills"]) as cluster:
        start = {"bootstrap_servers": cluster.bootstrap_servers}
        sending = TracingProducerInterceptor(traced.tracer)
        polling = TracingConsumerInterceptor(traced.tracer)
        with (
            KafkaProducer(**start, interceptors=[sending]) as producer,
            KafkaConsumer("orders", **start, interceptors=[polling], auto_offset_reset="earliest") as consumer,
        ):
            with traced.tracer.start_as_current_span("checkout"):
                old = [("traceparent", b"00-" + b"1" * 32 + b"-" + b"2" * 16 + b"-01"), ("note", b"kept")]
                producer.send("orders", CANARY.encode(), key=CANARY.encode(), headers=old).result(timeout=10)
            record = next(iter(consumer))
            with handling(record, traced.tracer):
                producer.send("bills", b"x").result(timeout=10)

    (checkout,), (sent,), (handled,), (billed,) = map(
        traced.spans, ["checkout", "send orders", "process orders", "send bills"]
    )
    assert len({span.context.trace_id for span in (checkout, sent, handled, billed)}) == 1
    assert [span.parent.span_id if span.parent else None for span in (checkout, sent, handled, billed)] == [
        None,
        checkout.context.span_id,
        sent.context.span_id,
        handled.context.span_id,
    ]
    assert (sent.kind, handled.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert [name for name, _ in record.headers] == ["note", "traceparent"], "one trace, the newest; the rest is kept"
    (polled,) = traced.spans("poll orders")
    assert [link.context.span_id for link in polled.links] == [sent.context.span_id]
    assert facts(polled)["messaging.batch.message_count"] == 1
    assert facts(handled) | {} == {
        "messaging.system": "kafka",
        "messaging.operation.type": "process",
        "messaging.destination.name": "orders",
        "messaging.destination.partition.id": "0",
        "messaging.kafka.offset": 0,
    }
    everything = [facts(span) for span in (checkout, sent, handled, billed, polled)]
    assert CANARY not in str(everything)


def test_keys_are_shown_when_asked_for_and_strange_headers_do_no_harm() -> None:
    traced = Traced()
    with EmbeddedCluster(topics=["orders"]) as cluster:
        start = {"bootstrap_servers": cluster.bootstrap_servers}
        with (
            KafkaProducer(**start) as plain,
            KafkaConsumer("orders", **start, auto_offset_reset="earliest") as consumer,
        ):
            headers = [("traceparent", b"\xff\xfe nonsense"), ("tracestate", None)]
            plain.send("orders", b"v", key=b"k", headers=headers).result(timeout=10)
            record = next(iter(consumer))
    with handling(record, traced.tracer, keys=True) as span:
        assert span.get_span_context().is_valid
    (handled,) = traced.spans("process orders")
    assert handled.parent is None
    assert facts(handled)["messaging.kafka.message.key"] == "k"
