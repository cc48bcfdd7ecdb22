"""Numbers: rates over windows, percentiles from buckets, one registry."""

from __future__ import annotations

import math

import pytest

from pykclient.client.metrics import WINDOW_S, Histogram, MetricName, Metrics, Sampled


def test_registry_gives_the_same_metric_for_the_same_name() -> None:
    metrics = Metrics("c1")
    metrics.counter("producer-metrics", "record-send").add(3)
    metrics.counter("producer-metrics", "record-send").add()
    metrics.counter("producer-topic-metrics", "record-send", topic="orders").add(2)
    metrics.gauge("producer-metrics", "buffer-available-bytes", lambda: 17.0)
    assert metrics.snapshot(0.0) == {
        MetricName("producer-metrics", "record-send-total", (("client-id", "c1"),)): 4.0,
        MetricName("producer-topic-metrics", "record-send-total", (("client-id", "c1"), ("topic", "orders"))): 2.0,
        MetricName("producer-metrics", "buffer-available-bytes", (("client-id", "c1"),)): 17.0,
    }


def test_name_reads_like_javas() -> None:
    assert str(MetricName("g", "n", (("topic", "t"),))) == "g:n,topic=t"


def test_metrics_of_something_that_is_gone_are_removed() -> None:
    metrics = Metrics()
    metrics.counter("g", "n", node_id="1").add()
    metrics.counter("g", "n", node_id="2").add()
    metrics.remove(node_id="1")
    assert [dict(name.tags) for name in metrics.snapshot(0.0)] == [{"node-id": "2"}]


def test_rate_is_over_the_last_windows() -> None:
    sampled = Sampled(("rate", "count-rate", "avg", "max", "total", "count"))
    for second in range(60):
        sampled.record(10.0, float(second))
    values = sampled.values(60.0 - 1e-9)
    assert values["-rate"] == pytest.approx(10.0, rel=0.05)
    assert values["-count-rate"] == pytest.approx(1.0, rel=0.05)
    assert values["-avg"] == 10.0
    assert values["-total"] == 600.0
    later = sampled.values(60.0 + 3 * WINDOW_S)
    assert later["-rate"] == 0.0
    assert math.isnan(later["-avg"])
    assert later["-total"] == 600.0


def test_first_sample_is_not_an_infinite_rate() -> None:
    sampled = Sampled()
    sampled.record(30.0, 100.0)
    assert sampled.values(100.0)["-rate"] == pytest.approx(1.0)


def test_maximum_forgets_old_windows() -> None:
    sampled = Sampled(("max",))
    sampled.record(100.0, 0.0)
    sampled.record(1.0, WINDOW_S)
    assert sampled.values(WINDOW_S)["-max"] == 100.0
    sampled.record(2.0, 2 * WINDOW_S)
    assert sampled.values(2 * WINDOW_S)["-max"] == 2.0


def test_percentiles_are_within_a_tenth() -> None:
    histogram = Histogram()
    for value in range(1, 10_001):
        histogram.record(value / 1000)
    assert histogram.percentile(50) == pytest.approx(5.0, rel=0.1)
    assert histogram.percentile(99) == pytest.approx(9.9, rel=0.1)
    assert histogram.percentile(100) == 10.0
    assert math.isnan(Histogram().percentile(50))
    huge = Histogram()
    huge.record(1e12)
    assert huge.percentile(50) == 1e12
