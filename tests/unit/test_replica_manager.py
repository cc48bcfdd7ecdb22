"""The partitions of a node through their APIs: produce, fetch with waiting and sessions, questions, restarts,
rights."""

from __future__ import annotations

import pathlib
import random
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from pykclient.broker.authorizer import AclBinding, Authorizer, Operation, PatternType, Permission, ResourceType
from pykclient.broker.coordinator import CoordinatorRecord, InternalLog
from pykclient.broker.image import BrokerImage, MetadataImage, PartitionImage, TopicImage
from pykclient.broker.replica_manager import LeadershipChange, ReplicaConfig, ReplicaManager
from pykclient.broker.request import Principal, RequestContext
from pykclient.broker.storage import DirectoryStorage, MemoryStorage, Storage
from pykclient.broker.timing_wheel import TimingWheel
from pykclient.errors import (
    ErrorCode,
    InvalidTopicException,
    NotLeaderOrFollower,
    ProtocolError,
    UnknownTopicOrPartition,
)
from pykclient.net.completion import Completion
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from pykclient.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from pykclient.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from pykclient.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from pykclient.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from pykclient.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from pykclient.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from pykclient.protocol.records import decode_all, encode_batch
from pykclient.types import TopicPartition

NOW_MS = 1_700_000_000_000
TOPIC_ID = uuid.UUID(int=77)
OTHER_ID = uuid.UUID(int=78)
HERE = BrokerImage(1, {"PLAINTEXT": Endpoint("localhost", 9092)})
THERE = BrokerImage(2, {"PLAINTEXT": Endpoint("elsewhere", 9093)}, rack="r2")


def topic(name: str, topic_id: uuid.UUID, *leaders: int, epoch: int = 0, **configs: str) -> TopicImage:
    partitions = tuple(PartitionImage(leader, epoch, (leader,), (leader,)) for leader in leaders)
    return TopicImage(name, topic_id, partitions, {key.replace("_", "."): value for key, value in configs.items()})


def image_of(*topics: TopicImage) -> MetadataImage:
    return MetadataImage(
        "cluster",
        brokers={1: HERE, 2: THERE},
        topics={each.name: each for each in topics},
        topic_names={each.topic_id: each.name for each in topics},
    )


class Node:
    """A replica manager with a clock in the test's hand."""

    def __init__(
        self,
        *topics: TopicImage,
        storage: Storage | None = None,
        authorizer: Authorizer | None = None,
        config: ReplicaConfig | None = None,
    ) -> None:
        self.wheel = TimingWheel()
        self.now, self.wall_ms = 0.0, NOW_MS
        self.storage = storage or MemoryStorage()
        self.image = image_of(*(topics or (topic("t", TOPIC_ID, 1, 1),)))
        self.replicas = ReplicaManager(
            node_id=1,
            storage=self.storage,
            wheel=self.wheel,
            image=lambda: self.image,
            authorizer=authorizer or Authorizer(),
            rng=random.Random(4),
            config=config,
        )
        self.changes = self.replicas.apply_image(self.image, now=0.0, wall_ms=NOW_MS)

    def follow(self, *topics: TopicImage) -> list[LeadershipChange]:
        self.image = image_of(*topics)
        return self.replicas.apply_image(self.image, now=self.now, wall_ms=self.wall_ms)

    def advance(self, seconds: float) -> None:
        self.now += seconds
        self.wall_ms += round(seconds * 1000)
        self.wheel.advance(self.now)

    def context(self, key: ApiKey, version: int, *, user: str = "ANONYMOUS", client_id: str = "test") -> RequestContext:
        return RequestContext(
            key,
            version,
            client_id,
            Principal("User", user),
            Endpoint("127.0.0.1", 1),
            "PLAINTEXT",
            1,
            self.now,
            self.wall_ms,
        )

    # --- requests, sent through their bytes so that every field fits its version

    def produce(
        self,
        *values: str,
        partition: int = 0,
        version: int = 12,
        acks: int = -1,
        records: bytes | None = None,
        transactional_id: str | None = None,
        name: str = "t",
        user: str = "ANONYMOUS",
        **options: Any,
    ) -> PartitionProduceResponse:
        response = self.send_produce(
            *values, partition=partition, version=version, acks=acks, records=records,
            transactional_id=transactional_id, name=name, user=user, **options,
        )  # fmt: skip
        if isinstance(response, Completion):
            response = response.result()
        assert response is not None
        sent = ProduceResponse.read(response.write(version), version)
        return sent.responses[0].partition_responses[0]

    def send_produce(
        self,
        *values: str,
        partition: int = 0,
        version: int = 12,
        acks: int = -1,
        records: bytes | None = None,
        transactional_id: str | None = None,
        name: str = "t",
        topic_id: uuid.UUID = TOPIC_ID,
        user: str = "ANONYMOUS",
        **options: Any,
    ) -> ProduceResponse | Completion[ProduceResponse | None] | None:
        if records is None:
            records = encode_batch([(self.wall_ms, b"k", value.encode(), None) for value in values], **options)
        data = PartitionProduceData(index=partition, records=records)
        topic_data = TopicProduceData(name=name, topic_id=topic_id, partition_data=[data])
        request = ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=1000, topic_data=[topic_data])
        request = ProduceRequest.read(request.write(version), version)
        return self.replicas.produce(self.context(ApiKey.PRODUCE, version, user=user), request)

    def send_fetch(
        self,
        offsets: dict[int, int],
        *,
        version: int = 12,
        name: str = "t",
        topic_id: uuid.UUID = TOPIC_ID,
        forgotten: Iterable[int] = (),
        epoch: int = -1,
        partition_max_bytes: int = 1 << 20,
        user: str = "ANONYMOUS",
        replica_id: int = -1,
        last_fetched_epoch: int = -1,
        **options: Any,
    ) -> FetchResponse | Completion[FetchResponse]:
        partitions = [
            FetchPartition(
                partition=index,
                fetch_offset=offset,
                partition_max_bytes=partition_max_bytes,
                current_leader_epoch=epoch if version >= 9 else -1,
                last_fetched_epoch=last_fetched_epoch,
            )
            for index, offset in offsets.items()
        ]
        request = FetchRequest(
            topics=[FetchTopic(topic=name, topic_id=topic_id, partitions=partitions)] if partitions else [],
            **{"max_wait_ms": 0, "min_bytes": 1, "session_epoch": -1, **options},
        )
        if version >= 15:
            request.replica_state = ReplicaState(replica_id=replica_id)
        else:
            request.replica_id = replica_id
        if list(forgotten):
            request.forgotten_topics_data = [ForgottenTopic(topic=name, topic_id=topic_id, partitions=list(forgotten))]
        request = FetchRequest.read(request.write(version), version)
        return self.replicas.fetch(self.context(ApiKey.FETCH, version, user=user), request)

    def fetch(self, offsets: dict[int, int], *, version: int = 12, **options: Any) -> FetchResponse:
        response = self.send_fetch(offsets, version=version, **options)
        if isinstance(response, Completion):
            response = response.result()
        return FetchResponse.read(response.write(version), version)

    def fetch_one(self, offset: int, partition: int = 0, **options: Any) -> PartitionData:
        return self.fetch({partition: offset}, **options).responses[0].partitions[0]

    def list_offset(self, timestamp: int, *, version: int = 11, **options: Any) -> tuple[int, int, int, int]:
        asked = ListOffsetsPartition(
            partition_index=0, timestamp=timestamp, current_leader_epoch=options.pop("epoch", -1)
        )
        request = ListOffsetsRequest(topics=[ListOffsetsTopic("t", [asked])], replica_id=-1, **options)
        request = ListOffsetsRequest.read(request.write(version), version)
        response = self.replicas.list_offsets(self.context(ApiKey.LIST_OFFSETS, version), request)
        found = response.topics[0].partitions[0]
        return found.error_code, found.timestamp, found.offset, found.leader_epoch


def values_of(data: PartitionData) -> list[str]:
    return [
        (record.value or b"").decode()
        for header, records in decode_all(bytes(data.records or b""), "t", 0)
        if not header.is_control
        for record in records
    ]


# --- produce


@pytest.mark.parametrize("version", range(3, 14))
@pytest.mark.parametrize("acks", [1, -1])
def test_produce_answers_with_the_base_offset_in_every_version(version: int, acks: int) -> None:
    node = Node()
    assert node.produce("a", "b", version=version, acks=acks).base_offset == 0
    answer = node.produce("c", version=version, acks=acks)
    assert (answer.error_code, answer.base_offset) == (0, 2)
    assert values_of(node.fetch_one(0)) == ["a", "b", "c"]


def test_acks_0_gets_no_answer_but_is_written() -> None:
    node = Node()
    assert node.send_produce("a", acks=0) is None
    assert values_of(node.fetch_one(0)) == ["a"]


def test_refused_batch_with_acks_0_closes_the_connection() -> None:
    with pytest.raises(ProtocolError):
        Node().send_produce("a", acks=0, partition=9)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"acks": 7}, ErrorCode.INVALID_REQUIRED_ACKS),
        ({"partition": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"name": "nowhere"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"name": "__consumer_offsets"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({"records": b""}, ErrorCode.INVALID_RECORD),
        ({"control": True}, ErrorCode.INVALID_RECORD),
        ({"transactional": True, "producer_id": 1, "producer_epoch": 0, "base_sequence": 0},
         ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        ({"compression": 4, "version": 6}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
    ],
)  # fmt: skip
def test_produce_refusals(options: dict[str, Any], code: ErrorCode) -> None:
    node = Node()
    if "compression" in options:
        from pykclient.protocol.compression import CompressionType

        options = {**options, "compression": CompressionType.ZSTD}
    answer = node.produce("a", **options)
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert answer.log_start_offset == (0 if "control" in options else -1), "only the log itself knows where it starts"


def test_partition_led_elsewhere_is_refused_with_the_leaders_address() -> None:
    node = Node(topic("t", TOPIC_ID, 2, epoch=5))
    response = node.send_produce("a", version=12)
    assert isinstance(response, ProduceResponse)
    response = ProduceResponse.read(response.write(12), 12)
    answer = response.responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (2, 5)
    assert [(e.node_id, e.host, e.port, e.rack) for e in response.node_endpoints] == [(2, "elsewhere", 9093, "r2")]
    fetched = node.fetch({0: 0}, version=16)
    assert fetched.responses[0].partitions[0].current_leader.leader_id == 2
    assert fetched.node_endpoints[0].host == "elsewhere"


def test_unknown_topic_id_is_refused() -> None:
    node = Node()
    response = node.send_produce("a", version=13, topic_id=OTHER_ID)
    assert isinstance(response, ProduceResponse)
    assert response.responses[0].partition_responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    unknown = node.fetch_one(0, version=13, topic_id=OTHER_ID)
    assert (unknown.error_code, unknown.aborted_transactions) == (ErrorCode.UNKNOWN_TOPIC_ID, [])


def test_record_errors_name_the_records() -> None:
    node = Node(topic("t", TOPIC_ID, 1, cleanup_policy="compact"))
    records = encode_batch([(NOW_MS, b"k", b"v", None), (NOW_MS, None, b"v", None)])
    answer = node.produce(records=records)
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == [1]
    assert answer.error_message


def test_idempotent_duplicate_is_answered_with_the_first_offset() -> None:
    node = Node()
    for sequence in range(7):
        node.produce("v", producer_id=5, producer_epoch=0, base_sequence=sequence)
    assert node.produce("v", producer_id=5, producer_epoch=0, base_sequence=4).base_offset == 4
    old = node.produce("v", producer_id=5, producer_epoch=0, base_sequence=1)
    assert (old.error_code, old.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
    assert node.produce("v", producer_id=5, producer_epoch=0, base_sequence=9).error_code == 45
    assert node.list_offset(-1)[2] == 7


def test_too_few_replicas_in_sync_refuse_acks_all_only() -> None:
    state = PartitionImage(1, 0, (1, 2), (1,))
    node = Node(TopicImage("t", TOPIC_ID, (state,), {"min.insync.replicas": "2"}))
    assert node.produce("a").error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert node.produce("a", acks=1).error_code == 0


def test_acks_all_waits_for_the_other_replica_and_times_out() -> None:
    state = PartitionImage(1, 0, (1, 2), (1, 2))
    node = Node(TopicImage("t", TOPIC_ID, (state,)))
    waiting = node.send_produce("a")
    assert isinstance(waiting, Completion)
    assert not waiting.done
    assert values_of(node.fetch_one(0)) == []
    partition = node.replicas.hosted(TopicPartition("t", 0))
    partition.replica_ends[2] = 1
    assert partition.advance_high_watermark()
    node.replicas.changed(partition)
    done = waiting.result()
    assert done is not None
    assert done.responses[0].partition_responses[0].base_offset == 0
    late = node.send_produce("b")
    assert isinstance(late, Completion)
    node.advance(1.0)
    timed_out = late.result()
    assert timed_out is not None
    assert timed_out.responses[0].partition_responses[0].error_code == ErrorCode.REQUEST_TIMED_OUT


def test_transactional_batches_are_verified_once_per_transaction() -> None:
    node = Node()
    asked: list[tuple[str, int, int, bool]] = []
    verdict: list[Completion[dict[TopicPartition, ErrorCode]]] = []

    def verify(
        context: RequestContext,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        supports_v2: bool,
    ) -> Completion[dict[TopicPartition, ErrorCode]]:
        asked.append((transactional_id, producer_id, producer_epoch, supports_v2))
        verdict.append(Completion())
        return verdict[-1]

    node.replicas.set_verifier(verify)
    options: dict[str, Any] = {"producer_id": 3, "producer_epoch": 1, "transactional": True}
    waiting = node.send_produce("a", transactional_id="tx", base_sequence=0, **options)
    assert isinstance(waiting, Completion)
    assert (asked, waiting.done) == ([("tx", 3, 1, True)], False)
    verdict[0].succeed({TopicPartition("t", 0): ErrorCode.NONE})
    assert waiting.done
    assert node.produce("b", transactional_id="tx", base_sequence=1, **options).base_offset == 1
    assert len(asked) == 1
    refused = node.send_produce("c", partition=1, transactional_id="tx", base_sequence=0, **options)
    assert isinstance(refused, Completion)
    verdict[1].succeed({TopicPartition("t", 1): ErrorCode.INVALID_TXN_STATE})
    answer = refused.result()
    assert answer is not None
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_TXN_STATE


# --- fetch


@pytest.mark.parametrize("version", range(4, 19))
def test_fetch_gives_the_batches_in_every_version(version: int) -> None:
    node = Node()
    node.produce("a", "b")
    node.produce("c")
    data = node.fetch_one(1, version=version)
    assert values_of(data) == ["a", "b", "c"]
    assert (data.high_watermark, data.last_stable_offset, data.error_code) == (3, 3, 0)


def test_fetch_waits_for_data_and_is_answered_by_the_next_produce() -> None:
    node = Node()
    waiting = node.send_fetch({0: 0, 1: 0}, max_wait_ms=500)
    assert isinstance(waiting, Completion)
    node.advance(0.4)
    assert not waiting.done
    node.produce("a", partition=1)
    assert [values_of(data) for data in waiting.result().responses[0].partitions] == [[], ["a"]]
    assert len(node.replicas.fetch_purgatory) == 0


def test_fetch_gives_up_waiting_after_max_wait() -> None:
    node = Node()
    waiting = node.send_fetch({0: 0}, max_wait_ms=500)
    assert isinstance(waiting, Completion)
    node.advance(0.5)
    assert waiting.result().responses[0].partitions[0].records == b""


def test_fetch_waits_until_there_are_min_bytes() -> None:
    node = Node()
    size = len(encode_batch([(NOW_MS, b"k", b"x", None)]))
    waiting = node.send_fetch({0: 0, 1: 0}, max_wait_ms=500, min_bytes=3 * size)
    assert isinstance(waiting, Completion)
    node.produce("x")
    node.produce("x", partition=1)
    assert not waiting.done
    node.produce("x")
    assert sum(len(data.records or b"") for data in waiting.result().responses[0].partitions) == 3 * size


def test_waiting_fetch_is_answered_when_leadership_moves_or_the_topic_goes() -> None:
    node = Node()
    first, second = node.send_fetch({0: 0}, max_wait_ms=500), node.send_fetch({1: 0}, max_wait_ms=500)
    assert isinstance(first, Completion)
    assert isinstance(second, Completion)
    both = PartitionImage(2, 1, (1, 2), (1, 2))
    node.follow(TopicImage("t", TOPIC_ID, (both, PartitionImage(1, 0, (1,), (1,)))))
    assert first.result().responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    node.follow()
    assert second.result().responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_fetch_of_a_closed_connection_waits_no_longer() -> None:
    node = Node()
    node.send_fetch({0: 0}, max_wait_ms=2**31 - 1)
    assert (len(node.replicas.fetch_purgatory), len(node.wheel)) == (1, 1)
    node.replicas.on_connection_closed(1)
    assert (len(node.replicas.fetch_purgatory), len(node.wheel)) == (0, 0)


def test_no_fetch_waits_for_weeks() -> None:
    node = Node()
    waiting = node.send_fetch({0: 0}, max_wait_ms=2**31 - 1)
    assert isinstance(waiting, Completion)
    node.advance(301)
    assert waiting.done


def test_limits_hold_over_partitions_but_the_first_batch_always_comes() -> None:
    node = Node()
    for partition in (0, 1):
        for _ in range(3):
            node.produce("x" * 100, partition=partition)
    size = len(encode_batch([(NOW_MS, b"k", b"x" * 100, None)]))

    def sizes(**options: int) -> list[int]:
        (found,) = node.fetch({0: 0, 1: 0}, **options).responses
        return [len(data.records or b"") // size for data in found.partitions]

    assert sizes() == [3, 3]
    assert sizes(max_bytes=4 * size) == [3, 1]
    assert sizes(max_bytes=1) == [1, 0]
    assert sizes(partition_max_bytes=1) == [1, 0]
    assert sizes(partition_max_bytes=2 * size) == [2, 2]


@pytest.mark.parametrize(
    ("offset", "epoch", "code"),
    [
        (0, -1, ErrorCode.NONE),
        (0, 3, ErrorCode.NONE),
        (0, 2, ErrorCode.FENCED_LEADER_EPOCH),
        (0, 4, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (5, -1, ErrorCode.OFFSET_OUT_OF_RANGE),
        (-1, -1, ErrorCode.OFFSET_OUT_OF_RANGE),
    ],
)
def test_fetch_checks_offset_and_leader_epoch(offset: int, epoch: int, code: ErrorCode) -> None:
    node = Node(topic("t", TOPIC_ID, 1, epoch=3))
    node.produce("a")
    assert node.fetch_one(offset, epoch=epoch).error_code == code


def test_reader_from_a_lost_history_learns_where_it_diverged() -> None:
    node = Node(topic("t", TOPIC_ID, 1, epoch=0))
    node.produce("a")
    node.produce("b")
    node.follow(topic("t", TOPIC_ID, 1, epoch=3))
    node.produce("c")
    data = node.fetch_one(3, last_fetched_epoch=1)
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset, data.records) == (0, 2, b"")
    assert values_of(node.fetch_one(2, last_fetched_epoch=0)) == ["c"]


def test_read_committed_stops_at_the_last_stable_offset_and_lists_aborted_transactions() -> None:
    node = Node()
    node.produce("plain")
    node.produce("t", transactional_id="x", producer_id=4, producer_epoch=0, base_sequence=0, transactional=True)
    assert values_of(node.fetch_one(0, isolation_level=1)) == ["plain"]
    assert values_of(node.fetch_one(0)) == ["plain", "t"]
    log: InternalLog = node.replicas
    done = log.append_marker(
        "t", 0, producer_id=4, producer_epoch=0, coordinator_epoch=0, committed=False, now=0.0, wall_ms=NOW_MS
    )
    assert done.result() == 3
    data = node.fetch_one(0, isolation_level=1)
    assert [(entry.producer_id, entry.first_offset) for entry in data.aborted_transactions or []] == [(4, 1)]
    assert data.last_stable_offset == 3
    assert node.fetch_one(0).aborted_transactions is None


@pytest.mark.parametrize("version", [12, 15])
def test_client_that_calls_itself_a_replica_is_not_believed(version: int) -> None:
    node = Node()
    node.produce("a")
    assert node.fetch_one(0, version=version, replica_id=2).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    strict = Node(authorizer=Authorizer(enabled=True, allow_when_no_acl_found=False))
    answer = strict.fetch_one(0, version=version, replica_id=2)
    assert answer.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


# --- sessions


@pytest.mark.parametrize("version", [7, 12, 13, 17])
def test_session_tells_only_news(version: int) -> None:
    node = Node()
    full = node.fetch({0: 0, 1: 0}, version=version, session_epoch=0)
    assert full.session_id > 0
    assert len(full.responses[0].partitions) == 2
    session = {"session_id": full.session_id, "version": version}
    assert node.fetch({}, session_epoch=1, **session).responses == []
    node.produce("a", partition=1)
    news = node.fetch({}, session_epoch=2, **session)
    assert [(data.partition_index, values_of(data)) for data in news.responses[0].partitions] == [(1, ["a"])]
    moved_on = node.fetch({1: 1}, session_epoch=3, **session)
    assert moved_on.responses == []
    node.produce("b", partition=0)
    forgot = node.fetch({}, session_epoch=4, forgotten=[0], **session)
    assert forgot.responses == []


def test_session_tells_a_new_high_watermark_even_without_records() -> None:
    node = Node()
    session_id = node.fetch({0: 0, 1: 0}, session_epoch=0).session_id
    node.produce("a", partition=0)
    node.produce("b", partition=1)
    news = node.fetch({}, session_id=session_id, session_epoch=1, max_bytes=1).responses[0].partitions
    assert [(data.partition_index, values_of(data), data.high_watermark) for data in news] == [
        (0, ["a"], 1),
        (1, [], 1),
    ]


def test_session_errors() -> None:
    node = Node()
    session_id = node.fetch({0: 0}, session_epoch=0).session_id
    assert node.fetch({}, session_id=session_id, session_epoch=5).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert node.fetch({}, session_id=12345, session_epoch=1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    mixed = node.fetch({}, session_id=session_id, session_epoch=1, version=13)
    assert mixed.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    node.fetch({0: 0}, session_id=session_id, session_epoch=-1)
    assert node.fetch({}, session_id=session_id, session_epoch=1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_session_repeats_a_partition_after_its_error_is_over() -> None:
    node = Node(topic("t", TOPIC_ID, 1, 1))
    node.produce("a")
    session_id = node.fetch({0: 9}, session_epoch=0).session_id
    again = node.fetch({}, session_id=session_id, session_epoch=1)
    assert again.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    healed = node.fetch({0: 1}, session_id=session_id, session_epoch=2)
    assert healed.responses[0].partitions[0].error_code == 0
    assert node.fetch({}, session_id=session_id, session_epoch=3).responses == []


def test_full_session_cache_refuses_new_sessions_until_one_is_old() -> None:
    node = Node(config=ReplicaConfig(max_incremental_fetch_session_cache_slots=2))
    first, second = (node.fetch({0: 0}, session_epoch=0).session_id for _ in range(2))
    assert node.fetch({0: 0}, session_epoch=0).session_id == 0
    node.advance(100)
    node.fetch({}, session_id=first, session_epoch=1)
    node.advance(30)
    third = node.fetch({0: 0}, session_epoch=0).session_id
    assert third not in (0, first, second)
    assert node.fetch({}, session_id=second, session_epoch=1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert node.fetch({}, session_id=first, session_epoch=2).error_code == 0


# --- questions


def test_list_offsets_knows_times_and_special_timestamps() -> None:
    node = Node(topic("t", TOPIC_ID, 1, epoch=2))
    for step in range(3):
        node.produce(records=encode_batch([(NOW_MS + 10 * step + i, b"k", b"v", None) for i in range(2)]))
    assert node.list_offset(-1) == (0, -1, 6, 2)
    assert node.list_offset(-2) == (0, -1, 0, 2)
    assert node.list_offset(-3) == (0, NOW_MS + 21, 5, 2)
    assert node.list_offset(-4) == (0, -1, 0, 2)
    assert node.list_offset(-5) == (0, -1, -1, -1)
    assert node.list_offset(-6) == (0, -1, -1, -1)
    assert node.list_offset(NOW_MS + 5) == (0, NOW_MS + 10, 2, 2)
    assert node.list_offset(NOW_MS + 11) == (0, NOW_MS + 11, 3, 2)
    assert node.list_offset(NOW_MS + 99) == (0, -1, -1, -1)
    assert node.list_offset(-1, epoch=1)[0] == ErrorCode.FENCED_LEADER_EPOCH


@pytest.mark.parametrize(("timestamp", "version"), [(-3, 6), (-4, 7), (-5, 8), (-6, 10), (-7, 11)])
def test_list_offsets_refuses_timestamps_that_its_version_does_not_know(timestamp: int, version: int) -> None:
    assert Node().list_offset(timestamp, version=version)[0] == ErrorCode.UNSUPPORTED_VERSION


def test_latest_is_the_last_stable_offset_for_read_committed() -> None:
    node = Node()
    node.produce("a")
    node.produce("t", transactional_id="x", producer_id=4, producer_epoch=0, base_sequence=0, transactional=True)
    assert node.list_offset(-1)[2] == 2
    assert node.list_offset(-1, isolation_level=1)[2] == 1
    assert node.list_offset(NOW_MS, isolation_level=1)[2] == 0


@pytest.mark.parametrize(("asked", "answer"), [(0, (0, 2)), (1, (0, 2)), (4, (4, 3)), (5, (-1, -1)), (-1, (-1, -1))])
def test_offset_for_leader_epoch(asked: int, answer: tuple[int, int]) -> None:
    node = Node(topic("t", TOPIC_ID, 1, epoch=0))
    node.produce("a", "b")
    node.follow(topic("t", TOPIC_ID, 1, epoch=4))
    node.produce("c")
    request = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic("t", [OffsetForLeaderPartition(partition=0, leader_epoch=asked)])]
    )
    response = node.replicas.offset_for_leader_epoch(node.context(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4), request)
    found = response.topics[0].partitions[0]
    assert (found.leader_epoch, found.end_offset) == answer


def delete_records(node: Node, offset: int, **options: str) -> tuple[int, int]:
    request = DeleteRecordsRequest([DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])], 1000)
    response = node.replicas.delete_records(node.context(ApiKey.DELETE_RECORDS, 2, **options), request)
    found = response.topics[0].partitions[0]
    return found.error_code, found.low_watermark


def test_deleted_records_stay_deleted_after_a_restart() -> None:
    node = Node()
    for value in "abcd":
        node.produce(value)
    assert delete_records(node, 2) == (0, 2)
    assert delete_records(node, 9) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert node.fetch_one(0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    again = Node(storage=node.storage)  # killed, not closed
    assert again.list_offset(-2)[2] == 2
    assert delete_records(again, -1) == (0, 4)


def test_records_of_a_topic_that_is_only_compacted_cannot_be_deleted() -> None:
    node = Node(topic("t", TOPIC_ID, 1, cleanup_policy="compact"))
    assert delete_records(node, 0)[0] == ErrorCode.POLICY_VIOLATION


def test_describe_producers_and_log_dirs() -> None:
    node = Node()
    node.produce("t", transactional_id="x", producer_id=4, producer_epoch=2, base_sequence=0, transactional=True)
    producers = node.replicas.describe_producers(
        node.context(ApiKey.DESCRIBE_PRODUCERS, 0), DescribeProducersRequest([TopicRequest("t", [0, 1, 5])])
    )
    first, second, unknown = producers.topics[0].partitions
    (entry,) = first.active_producers
    assert (entry.producer_id, entry.producer_epoch, entry.last_sequence, entry.current_txn_start_offset) == (
        4,
        2,
        0,
        0,
    )
    assert second.active_producers == []
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    described = node.replicas.describe_log_dirs(
        node.context(ApiKey.DESCRIBE_LOG_DIRS, 4), DescribeLogDirsRequest(topics=None)
    )
    (directory,) = described.results
    assert [(p.partition_index, p.partition_size > 0) for p in directory.topics[0].partitions] == [
        (0, True),
        (1, False),
    ]


# --- rights


def test_rights_are_checked_for_every_api() -> None:
    binding = AclBinding(
        ResourceType.TOPIC, "t", PatternType.LITERAL, "User:reader", "*", Operation.READ, Permission.ALLOW
    )
    authorizer = Authorizer(enabled=True)
    authorizer.set_bindings((binding,))
    node = Node(authorizer=authorizer)
    assert node.produce("a", user="reader").error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert node.fetch_one(0, user="reader").error_code == 0
    assert node.fetch_one(0, user="stranger").error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert node.list_offset(-1)[0] == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert delete_records(node, 0, user="reader")[0] == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    log_dirs = node.replicas.describe_log_dirs(
        node.context(ApiKey.DESCRIBE_LOG_DIRS, 4, user="reader"), DescribeLogDirsRequest(topics=None)
    )
    assert log_dirs.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_transactional_batch_needs_the_right_on_the_id_whatever_the_request_says() -> None:
    write = AclBinding(ResourceType.TOPIC, "t", PatternType.LITERAL, "User:w", "*", Operation.WRITE, Permission.ALLOW)
    authorizer = Authorizer(enabled=True)
    authorizer.set_bindings((write,))
    node = Node(authorizer=authorizer)
    options: dict[str, Any] = {
        "producer_id": 4,
        "producer_epoch": 0,
        "base_sequence": 0,
        "transactional": True,
        "user": "w",
    }
    for transactional_id in (None, "x"):
        answer = node.produce("t", transactional_id=transactional_id, **options)
        assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


# --- following the image


def test_leadership_changes_are_reported_once() -> None:
    node = Node(topic("t", TOPIC_ID, 1, 2))
    assert node.changes == [LeadershipChange("t", 0, 0, True)]
    assert node.follow(topic("t", TOPIC_ID, 1, 2)) == []
    assert node.follow(topic("t", TOPIC_ID, 1, 2, epoch=1)) == [LeadershipChange("t", 0, 1, True)]
    moved = replace(topic("t", TOPIC_ID, 2, 2), partitions=(PartitionImage(2, 2, (1, 2), (1, 2)),) * 2)
    assert node.follow(moved) == [LeadershipChange("t", 0, 2, False)]
    assert node.follow() == []


def test_deleted_topic_leaves_nothing_and_a_new_one_of_its_name_begins_empty(tmp_path: pathlib.Path) -> None:
    node = Node(storage=DirectoryStorage(str(tmp_path)))
    node.produce("old")
    assert node.follow() == [LeadershipChange("t", 0, 0, False), LeadershipChange("t", 1, 0, False)]
    assert not list(tmp_path.glob("t-*"))
    node.follow(topic("t", OTHER_ID, 1))
    assert node.list_offset(-1)[2] == 0


def test_topic_created_again_while_the_broker_was_down_begins_empty(tmp_path: pathlib.Path) -> None:
    node = Node(storage=DirectoryStorage(str(tmp_path)))
    node.produce("old")
    node.replicas.close(NOW_MS)
    again = Node(topic("t", OTHER_ID, 1), storage=DirectoryStorage(str(tmp_path)))
    assert again.list_offset(-1)[2] == 0


@pytest.mark.parametrize("name", ["../x", "..", ".", "", "/etc", "a\0b", "x" * 250, "%2e%2e", "ünïcode", "a b", "a\n"])
def test_names_that_could_leave_the_directory_are_refused(tmp_path: pathlib.Path, name: str) -> None:
    root = tmp_path / "data"
    node = Node(storage=DirectoryStorage(str(root)))
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(InvalidTopicException):
        node.replicas.create_partition(TopicPartition(name, 0), TOPIC_ID, node.replicas.hosted(TopicPartition("t", 0)).log.config, wall_ms=0)  # fmt: skip # noqa: E501
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["memory", "directory"])
@pytest.mark.parametrize("clean", [True, False])
def test_restart_on_the_same_storage_loses_nothing(tmp_path: pathlib.Path, kind: str, clean: bool) -> None:
    storage: Storage = MemoryStorage() if kind == "memory" else DirectoryStorage(str(tmp_path))
    node = Node(storage=storage)
    for number in range(20):
        node.produce(f"v{number}", partition=number % 2, producer_id=8, producer_epoch=0, base_sequence=number // 2)
    if clean:
        node.replicas.close(NOW_MS)
    again = Node(storage=storage if kind == "memory" else DirectoryStorage(str(tmp_path)))
    assert values_of(again.fetch_one(0, 0)) == [f"v{number}" for number in range(0, 20, 2)]
    assert values_of(again.fetch_one(0, 1)) == [f"v{number}" for number in range(1, 20, 2)]
    duplicate = again.produce("v18", partition=0, producer_id=8, producer_epoch=0, base_sequence=9)
    assert duplicate.base_offset == 9
    assert again.produce("v20", partition=0, producer_id=8, producer_epoch=0, base_sequence=10).base_offset == 10


# --- the coordinators' log


def test_internal_log_appends_marks_and_reads_back() -> None:
    node = Node(topic("__consumer_offsets", TOPIC_ID, 1, cleanup_policy="compact"))
    log: InternalLog = node.replicas
    records = [CoordinatorRecord(b"k1", b"v1"), CoordinatorRecord(b"k2", None)]
    assert log.append("__consumer_offsets", 0, records, now=0.0, wall_ms=NOW_MS).result() == 2
    pending = [CoordinatorRecord(b"k3", b"v3")]
    log.append("__consumer_offsets", 0, pending, now=0.0, wall_ms=NOW_MS, producer_id=6, producer_epoch=1)
    marker = log.append_marker(
        "__consumer_offsets",
        0,
        producer_id=6,
        producer_epoch=1,
        coordinator_epoch=3,
        committed=True,
        now=0.0,
        wall_ms=NOW_MS,
    )
    assert marker.result() == 4
    loaded = log.read_all("__consumer_offsets", 0)
    assert [(batch.base_offset, batch.transactional, batch.commits, list(batch.records)) for batch in loaded] == [
        (0, False, None, records),
        (2, True, None, pending),
        (3, True, True, []),
    ]
    assert [(batch.producer_id, batch.producer_epoch) for batch in loaded] == [(-1, -1), (6, 1), (6, 1)]


def test_internal_log_of_a_partition_that_is_not_here_fails_its_completion() -> None:
    node = Node(topic("__transaction_state", TOPIC_ID, 2))
    log: InternalLog = node.replicas
    elsewhere = log.append("__transaction_state", 0, [CoordinatorRecord(b"k", b"v")], now=0.0, wall_ms=NOW_MS)
    nowhere = log.append("__transaction_state", 5, [CoordinatorRecord(b"k", b"v")], now=0.0, wall_ms=NOW_MS)
    assert isinstance(elsewhere.error, NotLeaderOrFollower)
    assert isinstance(nowhere.error, UnknownTopicOrPartition)


# --- housekeeping


def test_housekeeping_applies_retention_as_often_as_configured() -> None:
    node = Node(
        topic("t", TOPIC_ID, 1, retention_ms="1000", segment_ms="100"),
        config=ReplicaConfig(log_retention_check_interval_ms=5000),
    )
    for step in range(4):
        node.produce(records=encode_batch([(NOW_MS + step * 200, b"k", b"v", None)]))
    node.replicas.housekeeping(node.now, node.wall_ms)
    node.advance(4.9)
    node.replicas.housekeeping(node.now, node.wall_ms)
    assert node.list_offset(-2)[2] == 0
    node.advance(0.2)
    node.replicas.housekeeping(node.now, node.wall_ms)
    assert node.list_offset(-2)[2] == 4


def test_housekeeping_forgets_silent_producers() -> None:
    node = Node(config=ReplicaConfig(producer_id_expiration_ms=1000))
    node.produce("v", producer_id=8, producer_epoch=0, base_sequence=0)
    node.advance(0.9)
    node.replicas.housekeeping(node.now, node.wall_ms)
    assert node.replicas.hosted(TopicPartition("t", 0)).log.producers.entries
    node.advance(0.2)
    node.replicas.housekeeping(node.now, node.wall_ms)
    assert not node.replicas.hosted(TopicPartition("t", 0)).log.producers.entries
    assert node.produce("v", producer_id=8, producer_epoch=0, base_sequence=5).base_offset == 1


def test_housekeeping_syncs_closed_segments_so_that_a_crash_leaves_less_to_check() -> None:
    node = Node(
        topic("t", TOPIC_ID, 1, segment_ms="100"), config=ReplicaConfig(log_flush_offset_checkpoint_interval_ms=1000)
    )
    for step in range(4):
        node.produce(records=encode_batch([(NOW_MS + step * 200, b"k", b"v", None)]))
    log = node.replicas.hosted(TopicPartition("t", 0)).log
    points = []
    for _ in range(6):
        node.replicas.housekeeping(node.now, node.wall_ms)
        points.append(log.recovery_point)
        node.advance(1.0)
    assert points == [0, 1, 2, 3, 3, 3]  # the active segment is left to the operating system


class BrokenDirectory(MemoryStorage):
    """A disk that fails for one partition."""

    def directory(self, name: str) -> Storage:
        if name == "t-0":
            raise OSError(5, "Input/output error")
        return super().directory(name)


def test_partition_whose_disk_fails_is_offline_and_the_others_are_served() -> None:
    node = Node(storage=BrokenDirectory())
    assert node.produce("a").error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert node.fetch_one(0).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert node.produce("a", partition=1).error_code == 0
