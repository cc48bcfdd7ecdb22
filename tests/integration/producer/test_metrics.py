"""What the producer counts is what happened."""

from __future__ import annotations

from pykclient import KafkaProducer
from pykclient.testing import EmbeddedCluster


def test_latency_is_the_time_from_sending_to_the_answer() -> None:
    with EmbeddedCluster(topics=["latency"]) as cluster:
        with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, linger_ms=0) as producer:
            producer.send("latency", b"first").result(10)
            rule = cluster.faults.delay("Produce", 0.3, count=1)
            producer.send("latency", b"late").result(10)
            assert rule.hits == 1
            # The broker's timers tick in milliseconds, so its delay may end a little early.
            assert 290 <= producer.metrics()["request-latency-max"] < 5000
