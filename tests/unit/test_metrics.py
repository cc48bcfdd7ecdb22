"""Numbers: percentiles from buckets, names with tags."""

from __future__ import annotations

import math

import pytest

from pykclient.client.metrics import NEVER, Histogram, seconds_ago, tagged


def test_percentiles_are_within_a_tenth() -> None:
    histogram = Histogram()
    for value in range(1, 10_001):
        histogram.record(value / 1000)
    assert histogram.percentile(50) == pytest.approx(5.0, rel=0.1)
    assert histogram.percentile(99) == pytest.approx(9.9, rel=0.1)
    assert histogram.percentile(100) == 10.0
    assert histogram.average == pytest.approx(5.0005)


def test_samples_beyond_the_buckets_and_none_at_all() -> None:
    huge = Histogram()
    huge.record(1e12)
    assert huge.percentile(50) == 1e12
    assert (Histogram().percentile(99), Histogram().average) == (0.0, 0.0)


def test_names_with_tags_are_what_prometheus_reads() -> None:
    assert tagged("records-lag", topic="orders", partition=0) == 'records-lag{topic="orders",partition="0"}'
    assert tagged("n", topic='a"b\\') == 'n{topic="a\\"b\\\\"}'


def test_what_never_happened_is_not_long_ago() -> None:
    assert seconds_ago(-math.inf, 5.0) == NEVER
    assert seconds_ago(3.0, 5.0) == 2.0
