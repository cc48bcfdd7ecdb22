"""The assignors against Kafka 4.3.1's: equal wherever Kafka's answer is a contract, sound everywhere else."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pykclient.consumer.assignors import ASSIGNORS
from pykclient.consumer.group_members import Assignment, Member, Topics
from pykclient.consumer.sticky_assignor import decode_claim
from pykclient.types import TopicPartition
from tests.assignments import check_sound, max_spread_ok
from tests.vectors.conftest import load_vectors

VECTORS = list(load_vectors("assignors"))
SINGLES = [vector for vector in VECTORS if vector["kind"] == "single"]
SEQUENCES = [vector for vector in VECTORS if vector["kind"] == "sequence"]
NAMES = ("range", "roundrobin", "sticky", "cooperative-sticky")


def topics_of(given: list[dict[str, Any]]) -> Topics:
    return {
        topic["name"]: [frozenset(racks) for racks in topic.get("replicaRacks") or [()] * topic["partitions"]]
        for topic in given
    }


def member_of(given: dict[str, Any], user_data_hex: str | None, *, told: bool) -> Member:
    """``told``: whether the assignor's protocol carries the owned partitions in the subscription."""
    return Member(
        given["memberId"],
        frozenset(given["topics"]),
        group_instance_id=given["groupInstanceId"],
        rack=given["rackId"],
        owned=tuple(TopicPartition(*pair) for pair in given["ownedPartitions"]) if told else (),
        generation=given["generation"] if told else -1,
        user_data=None if user_data_hex is None else bytes.fromhex(user_data_hex),
    )


def as_sets(assignment: dict[str, Any]) -> dict[str, set[tuple[str, int]]]:
    return {member: {(topic, number) for topic, number in pairs} for member, pairs in assignment.items()}


def check(
    name: str, topics: Topics, members: list[Member], ours: Assignment, java: dict[str, Any], exact: bool
) -> None:
    check_sound(topics, members, ours, complete=name != "cooperative-sticky")
    if exact:
        assert as_sets(ours) == as_sets(java)
    elif name != "cooperative-sticky":
        assert max_spread_ok(topics, members, ours)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("vector", SINGLES, ids=lambda vector: str(vector["case"]))
def test_single(vector: dict[str, Any], name: str) -> None:
    topics = topics_of(vector["topics"])
    user_data = {"sticky": "stickyUserDataHex", "cooperative-sticky": "cooperativeUserDataHex"}.get(name)
    members = [
        member_of(given, given[user_data] if user_data else None, told=name == "cooperative-sticky")
        for given in vector["members"]
    ]
    ours = ASSIGNORS[name].assign(topics, members)
    java = vector["assignments"][name]
    valid = name not in (vector.get("javaInvalid") or ()) and "javaError" not in java
    check(name, topics, members, ours, java, exact=valid and vector["exact"][name])
    assert ASSIGNORS[name].assign(dict(sorted(topics.items(), reverse=True)), members[::-1]) == ours


@pytest.mark.parametrize("vector", SEQUENCES, ids=lambda vector: str(vector["case"]))
def test_sequence(vector: dict[str, Any]) -> None:
    name = vector["assignor"]
    for step in vector["steps"]:
        topics = topics_of(step["topics"])
        members = [member_of(m, m["userDataHex"], told=name == "cooperative-sticky") for m in step["members"]]
        ours = ASSIGNORS[name].assign(topics, members)
        check(name, topics, members, ours, step["assignment"], exact=step["exact"])


def test_user_data_is_what_kafka_writes() -> None:
    """Kafka orders the topics as its hash map does, so the sticky one's is compared after decoding."""
    compared = 0
    for vector in SEQUENCES:
        assignor = ASSIGNORS[vector["assignor"]]
        for step in vector["steps"]:
            for member in step["members"]:
                theirs = None if member["userDataHex"] is None else bytes.fromhex(member["userDataHex"])
                owned = [TopicPartition(*pair) for pair in member["ownedPartitions"]]
                first = member["generation"] == -1 and theirs is None
                ours = assignor.subscription_user_data((), None if first else owned, member["generation"])
                if assignor.name == "sticky" and theirs is not None:
                    claim = decode_claim(theirs)
                    assert (sorted(claim.partitions), claim.generation) == (sorted(owned), member["generation"])
                    assert ours is not None
                    assert len(ours) == len(theirs)
                    again = decode_claim(ours)
                    assert (sorted(again.partitions), again.generation) == (sorted(claim.partitions), claim.generation)
                else:
                    assert ours == theirs
                compared += 1
    assert compared > 1000 or "PYKCLIENT_VECTORS" in os.environ


def test_vectors_are_all_there() -> None:
    assert "PYKCLIENT_VECTORS" in os.environ or (len(SINGLES), len(SEQUENCES)) == (300, 120)
