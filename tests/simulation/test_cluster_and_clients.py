"""A cluster, a producer and a group of consumers in virtual time, with broken connections, crashes and moves.

Whatever happens: what was acknowledged is in the log once and in order, the group reads all of it, what it committed
never goes back, and a copy made in transactions has everything once. A failure names its seed: SIM_SEED=n runs that
one alone, SIM_SEEDS=n the first n.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.errors import BrokerError, KafkaError, UsageError
from tests.simulation.world import World

TOPIC, GROUP, PARTITIONS, RECORDS = "t", "g", 3, 150
REFUSALS_MAX = 200
SEEDS = (
    [int(os.environ["SIM_SEED"])] if "SIM_SEED" in os.environ else list(range(int(os.environ.get("SIM_SEEDS", "15"))))
)


@pytest.fixture(params=SEEDS)
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(
        request.param,
        monkeypatch,
        brokers=3,
        group_initial_rebalance_delay_ms=0,
        group_consumer_heartbeat_interval_ms=500,
        offsets_topic_num_partitions=2,
    )
    world.create_topic(TOPIC, PARTITIONS)
    yield world
    for client in list(world.clients):
        client.engine.stop()


class Committed:
    """What the coordinator has; looked at after every step."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.offsets: dict[tuple[str, int], int] = {}

    def look(self) -> None:
        for node in self.world.nodes.values():
            try:
                view = node.rooms.groups.describe(GROUP)
            except (BrokerError, UsageError):
                continue  # Not the coordinator, or not loaded.
            for place, offset in (view.offsets if view is not None else {}).items():
                before = self.offsets.get(place, 0)
                assert offset >= before, f"seed {self.world.seed}: {place} went back from {before} to {offset}"
                self.offsets[place] = offset


def trouble(world: World) -> None:
    """One thing goes wrong, and another one soon."""
    rng, network = world.rng, world.network
    node_id = rng.choice(sorted(world.nodes)) if world.nodes else None
    kind = rng.choice(["break", "break some", "silence", "crash", "stop", "move", "move coordinator"])
    if node_id is None:
        pass
    elif kind == "break":
        network.break_connections(f"broker-{node_id}")
    elif kind == "break some":
        network.break_connections(chance=0.3)
    elif kind == "silence":
        network.silence(f"broker-{node_id}", rng.uniform(0.05, 2.0))
    elif kind in ("crash", "stop"):
        world.stop_node(node_id, clean=kind == "stop")
        network.at(world.clock.time + rng.uniform(0.01, 3.0), lambda: world.soon(lambda: world.start_node(node_id)))
    elif kind == "move":
        world.move_partition(TOPIC, rng.randrange(PARTITIONS), node_id)
    else:
        world.move_partition("__consumer_offsets", rng.randrange(2), node_id)


def send_all(world: World, producer: KafkaProducer) -> dict[int, tuple[int, int]]:
    """Send in the background; which record is where, filled in as they are acknowledged."""
    places: dict[int, tuple[int, int]] = {}
    state = {"next": 0}

    def send_some() -> None:
        for _ in range(world.rng.randint(1, 6)):
            number = state["next"]
            if number == RECORDS:
                return
            state["next"] += 1

            def delivered(metadata: object, error: Exception | None, number: int = number) -> None:
                assert error is None, f"seed {world.seed}: record {number} was not delivered: {error!r}"
                places[number] = (metadata.partition, metadata.offset)  # type: ignore[attr-defined]

            producer.send(TOPIC, b"%d" % number, partition=number % PARTITIONS, on_delivery=delivered)
        world.network.at(world.clock.time + world.rng.uniform(0.0, 0.4), lambda: world.soon(send_some))

    producer.partitions_for(TOPIC)
    world.soon(send_some)
    return places


def read_everything(consumer: KafkaConsumer, topic: str) -> list[list[int]]:
    where = [TopicPartition(topic, index) for index in range(PARTITIONS)]
    consumer.assign(where)
    consumer.seek_to_beginning(where)
    ends = consumer.end_offsets(where)
    found: list[list[int]] = [[] for _ in where]
    while any(consumer.position(each) < ends[each] for each in where):
        for tp, records in consumer.poll(1.0).items():
            found[tp.partition] += [int(record.value) for record in records]
    return found


def test_nothing_is_lost_doubled_or_out_of_order(world: World) -> None:
    rng = world.rng
    committed = Committed(world)
    world.watch = committed.look
    common = {"bootstrap_servers": world.bootstrap_servers}
    producer = KafkaProducer(linger_ms=rng.choice([0, 5, 50]), **common)
    settings = {
        "group_id": GROUP,
        "group_protocol": rng.choice(["classic", "consumer"]),
        "auto_offset_reset": "earliest",
        "enable_auto_commit": rng.random() < 0.5,
        "auto_commit_interval_ms": 300,
        **common,
    }
    if settings["group_protocol"] == "classic":
        settings |= {"session_timeout_ms": 6000, "heartbeat_interval_ms": 500}
    consumers = [KafkaConsumer(TOPIC, **settings) for _ in range(2)]
    places = send_all(world, producer)
    seen: dict[int, set[int]] = {index: set() for index in range(PARTITIONS)}
    troubles = rng.randint(3, 10)
    trouble_at = world.clock.time + rng.uniform(0.1, 1.0)
    deadline = world.clock.time + 600
    refusals = 0
    while troubles or len(places) < RECORDS or sum(map(len, seen.values())) < RECORDS:
        assert world.clock.time < deadline, f"seed {world.seed}: {len(places)} sent, {seen} seen after 600 s"
        if troubles and world.clock.time >= trouble_at:
            troubles -= 1
            trouble_at = world.clock.time + rng.uniform(0.05, 2.0)
            trouble(world)
        for consumer in consumers:
            try:
                polled = consumer.poll(rng.uniform(0.01, 0.3))
                for tp, records in polled.items():
                    offsets = [record.offset for record in records]
                    assert offsets == list(range(offsets[0], offsets[-1] + 1)), f"seed {world.seed}: {tp} {offsets}"
                    seen[tp.partition].update(offsets)
                if polled and not settings["enable_auto_commit"]:
                    consumer.commit(timeout=5)
            except KafkaError:
                # A commit that came too late, a broker out of reach: the next poll goes on.
                refusals += 1
                assert refusals < REFUSALS_MAX, f"seed {world.seed}"
    if rng.random() < 0.5:
        consumers.pop().close()
    world.run_until(lambda: len(world.nodes) == 3)
    for consumer in consumers:
        consumer.close()
    producer.close()
    reader = KafkaConsumer(**common)
    found = read_everything(reader, TOPIC)
    assert found == [list(range(index, RECORDS, PARTITIONS)) for index in range(PARTITIONS)], f"seed {world.seed}"
    for number, (partition, offset) in places.items():
        assert found[partition][offset] == number, f"seed {world.seed}: record {number} is not where it was said to be"
    reader.close()


def troubles_to_come(world: World, count: int) -> None:
    """At any moment, also in the middle of a call of the client."""

    def next_one() -> None:
        trouble(world)
        if count > 1:
            troubles_to_come(world, count - 1)

    world.network.at(world.clock.time + world.rng.uniform(0.05, 1.5), lambda: world.soon(next_one))


def copy_transactions(world: World) -> None:
    """Read, send on, and commit both or nothing; begin again with a new producer and consumer when told to."""
    rng = world.rng
    common = {"bootstrap_servers": world.bootstrap_servers}
    where = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
    ends = {tp: len(range(tp.partition, RECORDS, PARTITIONS)) for tp in where}
    deadline = world.clock.time + 900
    done: dict[TopicPartition, int] = dict.fromkeys(where, 0)
    while any(done[tp] < ends[tp] for tp in where):
        consumer = KafkaConsumer(group_id=GROUP, enable_auto_commit=False, isolation_level="read_committed", **common)
        producer = KafkaProducer(transactional_id="tx", transaction_timeout_ms=20_000, linger_ms=0, **common)
        try:
            producer.init_transactions(timeout=120)
            consumer.assign(where)
            for tp, offset in consumer.committed(where, timeout=120).items():
                consumer.seek(tp, 0 if offset is None else offset.offset)
            while any(done[tp] < ends[tp] for tp in where):
                assert world.clock.time < deadline, f"seed {world.seed}: {done} of {ends} after 900 s"
                done.update(copy_some(world, producer, consumer))
        except KafkaError:
            world.run_for(rng.uniform(0.0, 0.5))
        finally:
            consumer.close(timeout=1)
            producer.close(timeout=1)


def copy_some(world: World, producer: KafkaProducer, consumer: KafkaConsumer) -> dict[TopicPartition, int]:
    polled = consumer.poll(0.5, max_records=world.rng.randint(1, 12))
    if not polled:
        return {}
    producer.begin_transaction()
    for tp, records in polled.items():
        for record in records:
            producer.send("copy", record.value, partition=tp.partition)
    world.run_for(world.rng.uniform(0.0, 0.3))
    offsets = {tp: records[-1].offset + 1 for tp, records in polled.items()}
    producer.send_offsets_to_transaction(offsets, consumer.group_metadata(), timeout=60)
    if world.rng.random() < 0.2:
        producer.abort_transaction(timeout=60)
        for tp, records in polled.items():
            consumer.seek(tp, records[0].offset)
        return {}
    producer.commit_transaction(timeout=60)
    return offsets


def test_a_transactional_copy_has_everything_once(world: World) -> None:
    world.create_topic("copy", PARTITIONS)
    producer = KafkaProducer(bootstrap_servers=world.bootstrap_servers)
    places = send_all(world, producer)
    world.run_until(lambda: len(places) == RECORDS)
    producer.close()
    committed = Committed(world)
    world.watch = committed.look
    troubles_to_come(world, world.rng.randint(2, 8))
    copy_transactions(world)
    world.run_until(lambda: len(world.nodes) == 3)
    reader = KafkaConsumer(bootstrap_servers=world.bootstrap_servers, isolation_level="read_committed")
    found = read_everything(reader, "copy")
    assert found == [list(range(index, RECORDS, PARTITIONS)) for index in range(PARTITIONS)], f"seed {world.seed}"
    reader.close()
