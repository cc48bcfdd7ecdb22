"""What the consumer counts is what happened."""

from __future__ import annotations

import pytest

from pykclient import KafkaConsumer, KafkaProducer
from pykclient.testing import EmbeddedCluster


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_counts_of_a_member(protocol: str) -> None:
    with EmbeddedCluster(topics={"orders": 2}) as cluster:
        with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for partition in (0, 0, 0, 1):
                producer.send("orders", b"v", partition=partition)
        with KafkaConsumer(
            "orders",
            bootstrap_servers=cluster.bootstrap_servers,
            group_id="g",
            group_protocol=protocol,
            auto_offset_reset="earliest",
        ) as consumer:
            before = consumer.metrics()
            assert (before["rebalance-total"], before["last-poll-seconds-ago"]) == (0, -1)
            seen = 0
            while seen < 4:
                seen += sum(map(len, consumer.poll(5).values()))
            counts = consumer.metrics()
    assert counts["records-consumed-total"] == 4
    assert counts["rebalance-total"] == 1
    assert 0 <= counts["last-rebalance-seconds-ago"] < 60
    assert 0 <= counts["last-poll-seconds-ago"] < 60
    lags = {name: value for name, value in counts.items() if name.startswith("records-lag{")}
    assert lags == {f'records-lag{{topic="orders",partition="{number}"}}': 0 for number in range(2)}
    assert counts["connection-count"] >= 1
    assert counts["connection-creation-total"] >= counts["connection-count"]
    assert counts["incoming-byte-total"] > 0
    assert counts["outgoing-byte-total"] > 0
    if protocol == "consumer":  # there a heartbeat is how one joins
        assert counts["heartbeat-total"] >= 1
