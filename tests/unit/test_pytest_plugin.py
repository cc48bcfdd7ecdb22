"""The fixtures, as a project that installs the package uses them."""

from __future__ import annotations

import pytest

from pykclient.broker.faults import Faults
from pykclient.testing import EmbeddedCluster

NAMES: list[str] = []


def test_the_cluster_runs_and_is_one_for_the_session(kafka_cluster: EmbeddedCluster) -> None:
    assert kafka_cluster.nodes == [1]
    assert kafka_cluster.bootstrap_servers.startswith("127.0.0.1:")


@pytest.mark.parametrize("turn", [1, 2])
def test_every_test_has_a_topic_of_its_own(kafka_cluster: EmbeddedCluster, kafka_topic: str, turn: int) -> None:
    NAMES.append(kafka_topic)
    assert len(set(NAMES)) == turn
    assert kafka_cluster.has_topic(kafka_topic)


@pytest.mark.parametrize("kafka_topic", [4], indirect=True)
def test_a_topic_with_more_partitions(kafka_cluster: EmbeddedCluster, kafka_topic: str) -> None:
    assert len(kafka_cluster.topic(kafka_topic).partitions) == 4


def test_fault_rules_are_made(kafka_faults: Faults) -> None:
    kafka_faults.stall("Fetch")
    assert len(kafka_faults.rules) == 1


def test_and_are_gone_in_the_next_test(kafka_faults: Faults) -> None:
    assert kafka_faults.rules == ()
