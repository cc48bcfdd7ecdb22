"""The fetcher and its buffer, without a network: one fetch per leader, one limit for all bytes, turns between
partitions, and what each answer means for the next request."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from pykclient.consumer.fetcher import (
    AHEAD_FETCHES,
    PREFERRED_REPLICA_S,
    SILENT_AFTER_S,
    SUSPECT_AFTER_S,
    FetchBuffer,
    Fetcher,
    FetchSettings,
)
from pykclient.consumer.subscription import Phase, Position
from pykclient.errors import ConcurrentUseError, CorruptRecordError, ErrorCode, KafkaConnectionError
from pykclient.net.client_request import Request
from pykclient.protocol.control_records import encode_end_transaction_marker
from pykclient.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from pykclient.protocol.records import encode_batch
from pykclient.types import TopicPartition

TOPIC_ID = UUID(int=7)
SETTINGS = FetchSettings(
    min_bytes=1, wait_max_ms=500, bytes_max=1000, partition_bytes_max=100, buffer_bytes_max=2000, read_committed=False,
    check_crcs=True, rack="", request_timeout_s=30.0, retry_backoff_s=0.1, decompressed_bytes_max=1 << 20,
)  # fmt: skip


def tp(number: int) -> TopicPartition:
    return TopicPartition("t", number)


def batch(offset: int, count: int = 1, size: int = 10) -> bytes:
    return encode_batch([(1, None, b"v" * size, None)] * count, base_offset=offset, partition_leader_epoch=0)


class Network:
    def __init__(self) -> None:
        self.unready: set[int] = set()
        self.silent: dict[int, float] = {}
        self.disconnected: list[int] = []

    def ready(self, node_id: int, now: float, channel: object) -> bool:
        return node_id not in self.unready

    def available_at(self, node_id: int, now: float, channel: object) -> float:
        return now

    def silent_since(self, node_id: int, channel: object) -> float | None:
        return self.silent.get(node_id)

    def disconnect(self, node_id: int, reason: str, channel: object) -> None:
        self.disconnected.append(node_id)


class Cluster:
    """Partition n is led by broker n % brokers."""

    def __init__(self, brokers: int) -> None:
        self.brokers = dict.fromkeys(range(brokers))
        self.leaders: dict[TopicPartition, tuple[int, int] | None] = {}

    def leader(self, where: TopicPartition) -> tuple[int, int] | None:
        return self.leaders.get(where, (where.partition % len(self.brokers), 0))

    def topic_id(self, topic: str) -> UUID:
        return TOPIC_ID

    def topic_name(self, topic_id: UUID) -> str | None:
        return "t" if topic_id == TOPIC_ID else None


class Bench:
    """A fetcher over partitions of one topic, driven by hand."""

    def __init__(self, partitions: int, brokers: int = 1, settings: FetchSettings = SETTINGS) -> None:
        self.buffer = FetchBuffer(settings)
        self.network = Network()
        self.cluster = Cluster(brokers)
        self.updates = 0
        self.hints: list[Any] = []
        metadata = SimpleNamespace(
            cluster=self.cluster,
            request_update=self._request_update,
            apply_leader_hints=lambda hints, nodes: self.hints.extend(hints),
        )
        self.now = 10.0
        clock = SimpleNamespace(now=lambda: self.now)
        self.fetcher = Fetcher(settings, self.buffer, self.network, metadata, clock=clock)  # type: ignore[arg-type]
        self.lost: list[TopicPartition] = []
        self.fetcher.on_out_of_range = lambda state: self.lost.append(state.topic_partition)
        self.subscription = self.buffer.subscription
        self.subscription.assign([tp(number) for number in range(partitions)])
        for number in range(partitions):
            self.state(number).seek(Position(0))

    def _request_update(self, topics: object = ()) -> None:
        self.updates += 1

    def state(self, number: int) -> Any:
        return self.subscription.state(tp(number))

    def poll(self) -> list[Request[FetchResponse]]:
        return self.fetcher.poll(self.now).requests  # type: ignore[return-value]

    def one(self) -> Request[FetchResponse]:
        [request] = self.poll()
        return request

    @staticmethod
    def message(request: Request[FetchResponse], version: int = 18) -> FetchRequest:
        assert request.build is not None
        message = request.build(version)
        assert isinstance(message, FetchRequest)
        return message

    @staticmethod
    def answer(request: Request[FetchResponse], *rows: PartitionData, session_id: int = 5, error: int = 0) -> None:
        topics = [FetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(rows))] if rows else []
        request.completion.succeed(FetchResponse(error_code=error, session_id=session_id, responses=topics))

    def offsets(self, records_max: int = 1000) -> dict[int, list[int]]:
        return {where.partition: [r.offset for r in rows] for where, rows in self.buffer.take(records_max).items()}


def data(number: int, records: bytes = b"", error: ErrorCode = ErrorCode.NONE, **fields: Any) -> PartitionData:
    return PartitionData(partition_index=number, records=memoryview(records), error_code=error, **fields)


def asked(request: Request[FetchResponse]) -> dict[int, int]:
    return {p.partition: p.fetch_offset for topic in Bench.message(request).topics for p in topic.partitions}


def test_one_fetch_is_on_its_way_to_every_leader() -> None:
    bench = Bench(partitions=4, brokers=2)
    first = bench.poll()
    assert sorted(request.node_id for request in first if request.node_id is not None) == [0, 1]
    assert [asked(request) for request in first] == [{0: 0, 2: 0}, {1: 0, 3: 0}]
    assert bench.poll() == [], "none before the answers"
    bench.answer(first[0], data(0, batch(0)))
    assert [request.node_id for request in bench.poll()] == [0]


def test_the_next_fetch_goes_out_before_anything_is_taken_and_names_only_what_changed() -> None:
    bench = Bench(partitions=2)
    bench.answer(bench.one(), data(0, batch(0, 3)))
    following = bench.one()
    assert asked(following) == {0: 3}
    assert (bench.message(following).session_id, bench.message(following).session_epoch) == (5, 1)


def test_a_partition_is_not_fetched_further_ahead_than_its_share() -> None:
    bench = Bench(partitions=2)
    for _ in range(AHEAD_FETCHES):
        request = bench.one()
        bench.answer(request, data(0, batch(bench.state(0).fetch_offset)))
    request = bench.one()
    assert [p for topic in bench.message(request).forgotten_topics_data for p in topic.partitions] == [0]
    assert bench.offsets() == {0: [0, 1]}


def test_the_reactor_is_told_of_room_only_when_it_waits_for_some() -> None:
    bench = Bench(partitions=1)
    told: list[int] = []
    bench.buffer.on_room = lambda: told.append(1)
    bench.answer(bench.one(), data(0, batch(0)))
    bench.one()  # the next one is on its way already
    assert bench.offsets() == {0: [0]}
    assert told == []
    bench = Bench(partitions=1)
    bench.buffer.on_room = lambda: told.append(1)
    for offset in range(AHEAD_FETCHES):
        bench.answer(bench.one(), data(0, batch(offset)))
    assert bench.poll() == []  # has enough for now
    assert bench.offsets() == {0: list(range(AHEAD_FETCHES))}
    assert told


def test_all_that_is_buffered_or_on_its_way_stays_within_one_limit() -> None:
    bench = Bench(partitions=40, brokers=4)
    requests = bench.poll()
    assert sum(bench.message(request).max_bytes for request in requests) <= SETTINGS.buffer_bytes_max
    assert len(requests) == 2, "two whole answers fit"
    for request in requests:
        rows = [data(number, batch(0, 1, size=60)) for number in list(asked(request))[:7]]
        bench.answer(request, *rows)
    used = bench.buffer.usage.bytes
    more = bench.poll()
    assert used + sum(bench.message(request).max_bytes for request in more) <= SETTINGS.buffer_bytes_max
    bench.offsets()
    bench.offsets()
    assert bench.buffer.usage.bytes == 0


def test_partitions_take_turns_batch_by_batch_and_what_is_left_of_one_goes_first() -> None:
    bench = Bench(partitions=3)
    rows = [data(number, b"".join(batch(offset, 4, size=0) for offset in (0, 4, 8))) for number in range(3)]
    bench.answer(bench.one(), *rows)
    taken = bench.offsets(6)
    assert sorted(map(len, taken.values())) == [2, 4], "a batch of one, and a part of the next one's"
    partly = next(number for number, offsets in taken.items() if len(offsets) == 2)
    assert bench.offsets(2)[partly] == [2, 3]
    seen = {number: len(offsets) for number, offsets in bench.offsets(12).items()}
    assert set(seen) == {0, 1, 2}


@pytest.mark.parametrize("change", ["seek", "remove", "pause", "revoke"])
def test_an_answer_for_what_changed_meanwhile_is_not_handed_out(change: str) -> None:
    bench = Bench(partitions=1)
    request = bench.one()
    if change == "seek":
        bench.state(0).seek(Position(100))
    elif change == "remove":
        bench.subscription.remove([tp(0)])
    elif change == "pause":
        bench.state(0).paused = True
    else:
        bench.state(0).revoking = True
    bench.answer(request, data(0, batch(0)))
    assert bench.offsets() == {}
    if change == "pause":
        bench.state(0).paused = False
        assert bench.offsets() == {0: [0]}, "kept for later"


@pytest.mark.parametrize(
    ("code", "updates", "phase"),
    [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, True, Phase.FETCHING),
        (ErrorCode.FENCED_LEADER_EPOCH, True, Phase.FETCHING),
        (ErrorCode.UNKNOWN_TOPIC_ID, True, Phase.FETCHING),
        (ErrorCode.KAFKA_STORAGE_ERROR, True, Phase.FETCHING),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, False, Phase.STUCK),
    ],
)
def test_what_a_partition_error_means(code: ErrorCode, updates: bool, phase: Phase) -> None:
    bench = Bench(partitions=1)
    bench.answer(bench.one(), data(0, error=code))
    assert bool(bench.updates) == updates
    assert bench.state(0).phase is phase
    assert bench.poll() == [], "not at once"
    bench.now += 1
    assert len(bench.poll()) == (phase is Phase.FETCHING)


def test_out_of_range_waits_until_what_is_buffered_is_read() -> None:
    bench = Bench(partitions=1)
    bench.answer(bench.one(), data(0, batch(0)))
    bench.answer(bench.one(), data(0, error=ErrorCode.OFFSET_OUT_OF_RANGE))
    assert not bench.lost
    assert bench.offsets() == {0: [0]}
    bench.offsets()
    bench.now += 1
    bench.answer(bench.one(), data(0, error=ErrorCode.OFFSET_OUT_OF_RANGE))
    assert bench.lost == [tp(0)]


def test_a_failed_fetch_starts_a_new_session_after_the_back_off() -> None:
    bench = Bench(partitions=1)
    bench.answer(bench.one())
    bench.one().completion.fail(KafkaConnectionError("gone"))
    assert bench.poll() == []
    bench.now += 0.11
    assert bench.message(bench.one()).session_epoch == 0
    assert bench.updates == 1


@pytest.mark.parametrize("failure", ["no answer", "an error for all", "an error for one"])
def test_the_back_off_counts_from_the_answer_not_from_the_turn_before_it(failure: str) -> None:
    bench = Bench(partitions=1)
    request = bench.one()
    bench.now += 5.0  # the reactor slept until the answer came
    if failure == "no answer":
        request.completion.fail(KafkaConnectionError("gone"))
    elif failure == "an error for all":
        bench.answer(request, error=ErrorCode.UNKNOWN_SERVER_ERROR)
    else:
        bench.answer(request, data(0, error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    bench.now += 0.05
    assert bench.poll() == []
    bench.now += 0.06
    bench.one()


def test_a_recommended_follower_is_used_for_its_whole_time() -> None:
    bench = Bench(partitions=1, brokers=2)
    request = bench.one()
    bench.now += 5.0
    bench.answer(request, data(0, preferred_read_replica=1))
    bench.now += PREFERRED_REPLICA_S - 1.0
    assert bench.one().node_id == 1


@pytest.mark.parametrize("code", [ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH])
def test_a_session_the_broker_forgot_is_opened_anew_at_once(code: ErrorCode) -> None:
    bench = Bench(partitions=1)
    bench.answer(bench.one())
    bench.answer(bench.one(), error=code)
    request = bench.one()
    assert (bench.message(request).session_id, bench.message(request).session_epoch) == (0, 0)
    assert asked(request) == {0: 0}


def test_a_leader_that_does_not_answer_is_left_and_one_that_lets_nobody_in_is_suspected() -> None:
    bench = Bench(partitions=1)
    request = bench.one()
    bench.network.silent[0] = bench.now
    bench.now += 0.5 + SILENT_AFTER_S - 0.1
    bench.poll()
    assert bench.network.disconnected == []
    bench.now += 0.2
    bench.poll()
    assert bench.network.disconnected == [0]
    request.completion.fail(KafkaConnectionError("closed"))
    bench.network.silent.clear()
    bench.network.unready.add(0)
    bench.updates = 0
    for _ in range(4):
        bench.poll()
        bench.now += SUSPECT_AFTER_S
    assert bench.updates >= 2, "the others are asked again and again"


def test_a_follower_is_read_from_while_it_is_recommended() -> None:
    bench = Bench(partitions=1, brokers=2)
    bench.answer(bench.one(), data(0, preferred_read_replica=1))
    request = bench.one()
    assert request.node_id == 1
    bench.answer(request, data(0, error=ErrorCode.OFFSET_OUT_OF_RANGE))
    assert not bench.lost, "the follower is behind; the leader decides"
    assert bench.one().node_id == 0


def test_damage_is_fetched_again_once_and_then_told() -> None:
    bench = Bench(partitions=1)
    bad = bytearray(batch(0))
    bad[-1] ^= 1
    bench.answer(bench.one(), data(0, bytes(bad)))
    assert bench.offsets() == {}
    assert bench.state(0).fetch_offset == 0
    bench.answer(bench.one(), data(0, bytes(bad)))
    with pytest.raises(CorruptRecordError):
        bench.offsets()
    bench.answer(bench.one(), data(0, batch(0)))
    assert bench.offsets() == {0: [0]}


def test_what_was_read_before_the_damage_is_returned_first() -> None:
    bench = Bench(partitions=1)
    bad = bytearray(batch(1))
    bad[-1] ^= 1
    bench.answer(bench.one(), data(0, batch(0) + bytes(bad)))
    assert bench.offsets() == {0: [0]}, "and the rest is asked for again"
    bench.answer(bench.one(), data(0, bytes(bad)))
    with pytest.raises(CorruptRecordError) as caught:
        bench.offsets()
    assert caught.value.offset == 1
    assert bench.state(0).position.offset == 1


def test_what_is_on_its_way_to_the_user_is_not_committed_because_the_rest_is_fetched_again() -> None:
    bench = Bench(partitions=1)
    bench.buffer.came_back()
    bad = bytearray(batch(2))
    bad[-1] ^= 1
    bench.answer(bench.one(), data(0, batch(0, 2) + bytes(bad)))
    assert bench.offsets() == {0: [0, 1]}
    assert bench.state(0).consumed == Position(0), "they were handed out a moment ago"
    assert bench.state(0).position.offset == 2


@pytest.mark.parametrize("damage", ["a record", "the magic", "the length"])
def test_damage_for_columns_is_fetched_again_once_and_then_told_with_its_place(damage: str) -> None:
    bench = Bench(partitions=1)
    bad = bytearray(batch(3))
    where = {"a record": -1, "the magic": 16, "the length": 8}[damage]
    bad[where] ^= 0x80
    bench.answer(bench.one(), data(0, batch(0, 3) + bytes(bad)))
    assert table_offsets(bench) == [0, 1, 2], "what came before it is returned first"
    bench.answer(bench.one(), data(0, bytes(bad)))
    with pytest.raises(CorruptRecordError) as caught:
        table_offsets(bench)
    assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("t", 0, 3)
    bench.answer(bench.one(), data(0, batch(3)))
    assert table_offsets(bench) == [3], "and the position stayed in front of it"


@pytest.mark.parametrize("damage", [16, 8])
def test_a_header_that_makes_no_sense_is_told_like_any_damage(damage: int) -> None:
    bench = Bench(partitions=1)
    bad = bytearray(batch(0))
    bad[damage] ^= 0x80
    bench.answer(bench.one(), data(0, bytes(bad)))
    assert bench.offsets() == {}
    bench.answer(bench.one(), data(0, bytes(bad)))
    with pytest.raises(CorruptRecordError) as caught:
        bench.offsets()
    assert (caught.value.partition, caught.value.offset) == (0, 0)


def only_markers(offset: int = 0) -> bytes:
    return encode_end_transaction_marker(
        commit=True, base_offset=offset, producer_id=1, producer_epoch=0, timestamp=1, coordinator_epoch=0
    )


def empty_batch(offset: int, last_offset: int) -> bytes:
    """What compaction leaves of a batch."""
    return encode_batch([], base_offset=offset, offsets=[], last_offset=last_offset, base_timestamp=1, max_timestamp=1)


@pytest.mark.parametrize("nothing", [only_markers(), empty_batch(0, 9)])
def test_that_only_the_position_moved_is_news_too(nothing: bytes) -> None:
    bench = Bench(partitions=1)
    assert bench.offsets() == {}
    seen = [bench.buffer.moved]
    bench.answer(bench.one(), data(0, nothing))
    for _ in range(2):
        assert bench.offsets() == {}
        seen.append(bench.buffer.moved)
    assert seen == [False, True, False], "once"
    bench.state(0).seek(Position(0))
    bench.answer(bench.one(), data(0, nothing))
    assert table_offsets(bench) == []
    assert table(bench) is None


def table(bench: Bench) -> Any:
    from pykclient.consumer.arrow import TableBuilder

    return TableBuilder(bench.buffer, SETTINGS, 1000, headers=False).take()


def table_offsets(bench: Bench) -> list[int] | None:
    found = table(bench)
    return None if found is None else found["offset"].to_pylist()


def test_a_second_thread_is_refused_and_the_same_one_may_nest() -> None:
    buffer = FetchBuffer(SETTINGS)
    buffer.enter()
    buffer.enter()
    refused: list[BaseException] = []

    def other() -> None:
        try:
            buffer.enter()
        except ConcurrentUseError as error:
            refused.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert len(refused) == 1
    buffer.leave()
    assert buffer.in_use_here()
    buffer.leave()
    assert not buffer.in_use_here()


@pytest.mark.parametrize(("version", "epoch"), [(12, 3), (11, -1), (4, -1)])
def test_old_brokers_are_asked_in_words_they_know(version: int, epoch: int) -> None:
    bench = Bench(2)
    for state in bench.buffer.subscription.partitions.values():
        state.fetch_epoch = 3
    message = bench.message(bench.poll()[0], version)
    assert {p.last_fetched_epoch for topic in message.topics for p in topic.partitions} == {epoch}
