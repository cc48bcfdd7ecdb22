"""Every error a broker may give on every request a consumer makes: records flow again within ten seconds, or a typed
error that says it is final. "No record and no error" fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pykclient.broker.faults import FaultRule
from pykclient.errors import FencedInstanceId, KafkaError, UnreleasedInstanceId
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import numbers, open_consumer, produce

RESUME_S = 10.0
PARTITIONS = 2
COORDINATOR = ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")
LEADER = ("FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER")
EVERY_CODE = (
    "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "FENCED_MEMBER_EPOCH", "STALE_MEMBER_EPOCH",
    "UNRELEASED_INSTANCE_ID", "FENCED_INSTANCE_ID", *COORDINATOR, "OFFSET_OUT_OF_RANGE", *LEADER, "UNKNOWN_TOPIC_ID",
)  # fmt: skip
APPLICABLE: dict[str, tuple[str, ...]] = {
    "JoinGroup": ("UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID", *COORDINATOR),
    "SyncGroup": ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", *COORDINATOR),
    "Heartbeat": (
        "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID", *COORDINATOR,
    ),
    "ConsumerGroupHeartbeat": (
        "UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "UNRELEASED_INSTANCE_ID", "FENCED_INSTANCE_ID", *COORDINATOR,
    ),
    "OffsetCommit": (
        "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "STALE_MEMBER_EPOCH", *COORDINATOR,
    ),
    "OffsetFetch": (
        "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH", "UNSTABLE_OFFSET_COMMIT", *COORDINATOR,
    ),
    "ListOffsets": (*LEADER, "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE"),
    "Fetch": (*LEADER, "OFFSET_OUT_OF_RANGE", "UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION", "KAFKA_STORAGE_ERROR"),
}  # fmt: skip
CLASSIC_ONLY = ("JoinGroup", "SyncGroup", "Heartbeat")
BROKEN = ("drop-before", "drop-after", "stall", "truncate")
AT_ONCE = 14
# Members that the test makes forget themselves stay in the group until their session ends; not long, here.
SESSION = {"session_timeout_ms": 1500}


def spoken(protocol: str, api: str) -> bool:
    return (api not in CLASSIC_ONLY) if protocol == "kip848" else api != "ConsumerGroupHeartbeat"


def apis(protocol: str) -> list[str]:
    return [api for api in APPLICABLE if spoken(protocol, api)]


def each(attempt: Callable[[str, str], None], cases: list[tuple[str, str]]) -> None:
    """All cases, many at a time as most of it is waiting; says of every one that failed why."""
    failures: list[str] = []

    def one(case: tuple[str, str]) -> None:
        try:
            attempt(*case)
        except Exception as error:
            failures.append(f"{' '.join(case)}: {error!r}")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, cases))
    assert not failures, "\n".join(failures)


def break_connection(cluster: EmbeddedCluster, api: str, kind: str, **which: Any) -> FaultRule:
    if kind == "stall":
        return cluster.faults.stall(api, **which)
    if kind == "truncate":
        return cluster.faults.truncate(api, **which)
    return cluster.faults.drop(api, after=kind == "drop-after", **which)


def survives(cluster: EmbeddedCluster, topic: str, protocol: str, rule: FaultRule) -> KafkaError | None:
    """Read ten records, be hit, read ten more. The final error, when there was one; fails on silence."""
    produce(cluster, topic, range(10), partitions=PARTITIONS)
    missing = set(range(20))
    fatal: KafkaError | None = None
    produced = False
    options = {} if protocol == "kip848" else SESSION
    with open_consumer(
        cluster, topic, protocol=protocol, group_id=topic, auto_commit_interval_ms=30, **options
    ) as consumer:
        give_up_at = time.monotonic() + RESUME_S
        while missing and fatal is None:
            assert time.monotonic() < give_up_at, f"silence: {rule.hits} faults, {len(missing)} records missing"
            try:
                missing.difference_update(numbers(consumer.poll(0.05).records()))
            except KafkaError as error:
                if error.fatal:
                    fatal = error
            if not produced and rule.used_up:
                produced = True
                produce(cluster, topic, range(10, 20), partitions=PARTITIONS)
                give_up_at = time.monotonic() + RESUME_S
    assert rule.hits, "no fault, no proof"
    return fatal


def rule_of(api: str, topic: str) -> dict[str, Any]:
    return {"topic": topic} if api in ("ListOffsets", "Fetch") else {"group": topic}


@pytest.mark.parametrize("protocol", ["classic-range", "classic-cooperative", "kip848"])
def test_records_flow_again_after_an_error(cluster: EmbeddedCluster, name: str, protocol: str, full: bool) -> None:
    def attempt(api: str, code: str) -> None:
        topic = f"{name}-{api}-{code}"
        cluster.create_topic(topic, PARTITIONS)
        final = code == "FENCED_INSTANCE_ID"
        rule = cluster.faults.error(api, code, count=1 if final else 2, **rule_of(api, topic))
        fatal = survives(cluster, topic, protocol, rule)
        if fatal is not None:
            assert isinstance(fatal, (FencedInstanceId, UnreleasedInstanceId)), repr(fatal)
        if final and api in (*CLASSIC_ONLY, "ConsumerGroupHeartbeat"):
            assert isinstance(fatal, FencedInstanceId), "another instance took over: final"

    every = {api: set(APPLICABLE[api]) | (set(EVERY_CODE) if full else set()) for api in apis(protocol)}
    each(attempt, [(api, code) for api, codes in every.items() for code in sorted(codes)])


@pytest.mark.parametrize("protocol", ["classic-cooperative", "kip848"])
def test_records_flow_again_after_a_broken_connection(cluster: EmbeddedCluster, name: str, protocol: str) -> None:
    def attempt(api: str, kind: str) -> None:
        topic = f"{name}-{api}-{kind}"
        cluster.create_topic(topic, PARTITIONS)
        rule = break_connection(cluster, api, kind, count=1, **rule_of(api, topic))
        assert survives(cluster, topic, protocol, rule) is None

    each(attempt, [(api, kind) for api in apis(protocol) for kind in BROKEN])
