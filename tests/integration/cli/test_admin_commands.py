"""topics, groups, cluster, configs, acls and txns: tables for people, JSON for machines, errors in one line."""

from __future__ import annotations

import json

import pytest

from pykclient import KafkaProducer, TopicPartition
from pykclient.testing import EmbeddedCluster
from tests.integration.cli.conftest import Command


def test_a_topic_from_creation_to_deletion(command: Command, name: str) -> None:
    assert "could be made with 3 partitions" in command("topics", "create", name, "--partitions", "3", "--dry-run").out
    made = command("topics", "create", name, "--partitions", "3", "--set", "retention.ms=1000")
    assert made.out == f"{name} made with 3 partitions\n"
    assert "already" in command("topics", "create", name, code=1).err
    assert "there already" in command("topics", "create", name, "--if-not-exists").err
    listed = {row["name"]: row for row in command("topics", "list", "--json").json}
    assert (listed[name]["partitions"], listed[name]["health"]) == (3, "good")
    assert "5 partitions" in command("topics", "grow", name, "--partitions", "5").out
    command("produce", name, "--partition", "4", stdin=b"a\nb\n")
    described = command("topics", "describe", name, "--json").json[0]
    assert [each["records"] for each in described["partitions"]] == [0, 0, 0, 0, 2]
    people = command("topics", "describe", name).lines
    assert people[0].startswith(f"{name} (id ")
    assert people[1].split() == [
        "PARTITION",
        "LEADER",
        "REPLICAS",
        "IN",
        "SYNC",
        "START",
        "END",
        "OFFSETS",
        "IN",
        "USE",
    ]
    assert command("topics", "delete", name, "--yes").out == f"{name} deleted\n"
    assert name not in command("topics", "list").out
    gone = command("topics", "describe", name, code=1)
    assert gone.err.startswith(f"pykclient topics: {name}: [3]")


def test_groups_are_described_with_their_lag_and_moved(command: Command, topic: str) -> None:
    command("produce", topic, "--partition", "0", stdin=b"1\n2\n3\n4\n")
    group = f"g-{topic}"
    command("consume", topic, "--group", group, "--to-end", "-n", "3")
    assert group in {row["group_id"] for row in command("groups", "list", "--json").json}
    described = command("groups", "describe", group, "--json").json[0]
    first = next(row for row in described["partitions"] if row["partition"] == 0)
    assert (described["lag"], first["committed"], first["end"], first["lag"]) == (1, 3, 4, 1)
    assert first["age_s"] >= 0
    shown = command("groups", "describe", group)
    assert "lag 1" in shown.lines[0]
    assert "COMMITTED" in shown.lines[1]

    dry = command("groups", "reset", group, "--topic", f"{topic}:0", "--to", "earliest")
    assert "a dry run; --execute does it" in dry.out
    assert command("groups", "describe", group, "--json").json[0]["lag"] == 1
    done = command("groups", "reset", group, "--topic", f"{topic}:0", "--shift", "-2", "--execute", "--json").json
    assert (done["executed"], done["partitions"]) == (
        True,
        [{"topic": topic, "partition": 0, "before": 3, "after": 1}],
    )
    assert command("consume", topic, "--group", group, "--to-end").lines == ["2", "3", "4"]
    assert command("groups", "reset", group, "--to", "1h", "--execute", "--json").json["partitions"][0]["after"] == 0
    watched = command("groups", "watch", group, "--count", "2", "--interval", "0.05", "--json").lines
    assert [json.loads(line)["lag"] for line in watched] == [4, 4]
    assert f"{group}: Empty" in command("groups", "watch", group, "--count", "1").out
    assert command("groups", "delete", group, "--yes").out == f"{group} deleted\n"
    assert command("groups", "delete", group, "--yes", code=1).err.startswith(f"pykclient groups: {group}:")


def test_the_cluster(command: Command, cluster: EmbeddedCluster) -> None:
    shown = command("cluster").out
    assert cluster.cluster_id in shown
    assert all(address in shown for address in cluster.bootstrap_servers.split(","))
    assert [node["id"] for node in command("cluster", "--json").json["brokers"]] == cluster.nodes
    assert "FEATURE" in command("cluster", "features").out
    assert "finalized" in command("cluster", "features", "--json").json


def test_configs_are_shown_set_and_unset(command: Command, topic: str) -> None:
    assert "changed" in command("configs", "set", "topic", topic, "retention.ms=1234", "cleanup.policy=compact").out
    rows = {row["name"]: row["value"] for row in command("configs", "show", "topic", topic, "--json").json}
    assert rows["retention.ms"] == "1234"
    assert rows["cleanup.policy"] == "compact"
    command("configs", "unset", "topic", topic, "retention.ms")
    assert "retention.ms" not in command("configs", "show", "topic", topic).out
    assert "retention.ms" in command("configs", "show", "topic", topic, "--all").out
    assert "could be changed" in command("configs", "set", "topic", topic, "retention.ms=5", "--dry-run").out
    assert "Unknown" in command("configs", "set", "topic", topic, "no.such=1", code=1).err
    assert "KEY=VALUE" in command("configs", "set", "topic", topic, "retention.ms", code=2).err
    assert "no broker id" in command("configs", "show", "broker", "first", code=2).err


def test_rights_are_added_shown_and_taken_away(command: Command, name: str) -> None:
    added = command(
        "acls", "add", "--principal", "User:alice", "--operation", "read", "--operation", "write", "--topic", name,
        "--prefixed",
    )  # fmt: skip
    assert added.out.count("allowed") == 2
    rows = command("acls", "list", "--topic", name, "--json").json
    assert sorted(row["operation"] for row in rows) == ["read", "write"]
    assert f"{name}*" in command("acls", "list", "--topic", name).out
    assert (
        "write User:bob" in command("acls", "add", "--principal", "bob", "--operation", "read", "--cluster", code=2).err
    )
    assert command("acls", "delete", "--topic", name, "--operation", "read", "--yes").out.count("alice") == 1
    assert command("acls", "delete", "--topic", name, "--yes").out.count("alice") == 1
    assert command("acls", "delete", "--topic", name, "--yes").out == "no right matches\n"


def test_transactions_are_listed_described_and_fenced(command: Command, cluster: EmbeddedCluster, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"x", partition=0)
        producer.flush(10)
        listed = {row["transactional_id"]: row["state"] for row in command("txns", "list", "--json").json}
        assert listed[topic] == "Ongoing"
        described = command("txns", "describe", topic)
        assert str(TopicPartition(topic, 0)) in described.out
        assert "Ongoing" in described.out
        assert topic in command("txns", "list", "--state", "Ongoing").out
        assert command("txns", "hanging", "--topic", topic, "--json").json == []
        assert "no open transaction" in command("txns", "abort", f"{topic}:0", "--producer-id", "999", code=2).err
        assert "fenced" in command("txns", "fence", topic).out
    assert "Ongoing" not in command("txns", "describe", topic).out
    assert command("txns", "describe", "nobody", code=1).err.startswith("pykclient txns: nobody:")


@pytest.mark.parametrize("name", ["topics", "produce", "consume", "groups", "cluster", "configs", "acls", "txns"])
def test_help_shows_an_example(command: Command, name: str) -> None:
    assert f"  pykclient {name} " in command(name, "--help").out or f"| pykclient {name}" in command(name, "--help").out


def test_wrong_words_are_usage_errors(command: Command) -> None:
    assert "invalid choice" in command("topics", "explode", code=2).err
    assert "invalid choice" in command("fly", code=2).err
