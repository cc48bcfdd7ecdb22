"""The same requests, byte for byte, to Apache Kafka and to the embedded broker: topics, records, settings.

Mostly the questions that well-behaved clients never ask: wrong names, wrong epochs, wrong order, every version.
"""

from __future__ import annotations

import uuid

import pytest

from pykclient.protocol.compression import CompressionType
from pykclient.protocol.messages.api_versions import ApiVersionsRequest
from pykclient.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from pykclient.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykclient.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from pykclient.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from pykclient.protocol.messages.describe_cluster import DescribeClusterRequest
from pykclient.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from pykclient.protocol.messages.describe_producers import DescribeProducersRequest
from pykclient.protocol.messages.describe_producers import TopicRequest as ProducersOf
from pykclient.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from pykclient.protocol.messages.describe_topic_partitions import TopicRequest as PartitionsOf
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from pykclient.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.records import encode_batch
from tests.interop.clients import wait_until
from tests.interop.talk import NOW_MS, batch, fetch, list_offsets, new_topic, produce
from tests.interop.wire import Compare, Conversation, Wire

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(120)]


def test_topics(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = c.names["topic"]

        def create(label: str, version: int = 7, **options: object) -> None:
            one = CreatableTopic(name=topic, num_partitions=1, replication_factor=1)
            validate_only = bool(options.pop("validate_only", False))
            for name, value in options.items():
                setattr(one, name, value)
            c.ask(f"create {label}", CreateTopicsRequest(topics=[one], validate_only=validate_only), version)

        create("validated only", validate_only=True)
        create("with settings", configs=[CreatableTopicConfig(name="retention.ms", value="1000")])
        create("again")
        create("again, validated only", validate_only=True)
        for version in (2, 3, 4, 5, 6):
            create("again", version)
        create("no partitions", name=f"{topic}-a", num_partitions=0)
        create("negative partitions", name=f"{topic}-a", num_partitions=-3)
        create("too many replicas", name=f"{topic}-a", replication_factor=9)
        create("no replicas", name=f"{topic}-a", replication_factor=0)
        for name in ("", ".", "..", "a/b", "a b", "x" * 250, "ü"):
            create(f"named {name[:20]!r}", name=name)
        create("unknown setting", name=f"{topic}-a", configs=[CreatableTopicConfig(name="no.such", value="1")])
        create("bad setting", name=f"{topic}-a", configs=[CreatableTopicConfig(name="retention.ms", value="soon")])
        create(
            "assigned to nobody",
            name=f"{topic}-a",
            num_partitions=-1,
            replication_factor=-1,
            assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[99])],
        )
        create(
            "assigned twice",
            name=f"{topic}-a",
            assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1])],
        )
        create("colliding name", name=topic.replace("-", ".").replace(".", "_"))
        create("defaults", name=f"{topic}-default", num_partitions=-1, replication_factor=-1)
        two = [CreatableTopic(name=f"{topic}-twice", num_partitions=1, replication_factor=1)] * 2
        c.ask("create the same twice", CreateTopicsRequest(topics=two), 7)

        def more(label: str, count: int, name: str = topic) -> None:
            c.ask(
                f"partitions {label}",
                CreatePartitionsRequest(topics=[CreatePartitionsTopic(name=name, count=count)], timeout_ms=5000),
                3,
            )

        more("the same", 1)
        more("fewer", 0)
        more("of nothing", 5, f"{topic}-none")
        more("more", 3)
        c.ask(
            "delete unknown", DeleteTopicsRequest(topics=[DeleteTopicState(name=f"{topic}-none")], timeout_ms=5000), 6
        )
        c.ask(
            "delete unknown id",
            DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=uuid.UUID(int=9))], timeout_ms=5000),
            6,
        )
        c.ask("delete", DeleteTopicsRequest(topics=[DeleteTopicState(name=f"{topic}-default")], timeout_ms=5000), 6)
        c.ask("delete again", DeleteTopicsRequest(topic_names=[f"{topic}-default"], timeout_ms=5000), 5)

    compare(talk)


def test_metadata(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)
        for version in range(14):
            c.ask("a topic", MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), version)
        asked = {"a stranger": f"{topic}-none", "a bad name": "a/b", "nothing": "", "a long name": "x" * 250}
        for label, name in asked.items():
            for version in (4, 9, 13):
                c.ask(
                    label,
                    MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False),
                    version,
                )
        unknown = MetadataRequestTopic(topic_id=uuid.UUID(int=5), name=None)
        c.ask("an unknown id", MetadataRequest(topics=[unknown], allow_auto_topic_creation=False), 12)
        both = MetadataRequestTopic(topic_id=uuid.UUID(int=5), name=topic)
        c.ask("an id and a name", MetadataRequest(topics=[both], allow_auto_topic_creation=False), 12)
        everything = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], include_topic_authorized_operations=True
        )
        c.ask("what I may do", everything, 12)
        c.ask("no topics", MetadataRequest(topics=[]), 12)
        c.ask("the cluster", DescribeClusterRequest(), 0)
        c.ask("the cluster", DescribeClusterRequest(include_cluster_authorized_operations=True), 1)
        c.ask("the controllers", DescribeClusterRequest(endpoint_type=2), 1)
        c.ask("the cluster", DescribeClusterRequest(), 2)
        partitions = DescribeTopicPartitionsRequest(
            topics=[PartitionsOf(name=topic), PartitionsOf(name=f"{topic}-none")]
        )
        c.ask("partitions", partitions, 0)
        partitions.response_partition_limit = 1
        c.ask("one partition", partitions, 0)

    compare(talk)


def test_produce(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)
        for version in range(3, 13):
            c.ask("a batch", produce(topic, batch(b"a", b"b")), version)
        c.ask("acks 1", produce(topic, batch(b"a"), acks=1), 12)
        c.ask("acks 2", produce(topic, batch(b"a"), acks=2), 12)
        c.ask("unknown topic", produce(f"{topic}-none", batch(b"a")), 12)
        c.ask("unknown partition", produce(topic, batch(b"a"), partition=7), 12)
        # A null for records is left out: Kafka 4.3 never answers it.
        c.ask("empty records", produce(topic, b""), 12)
        broken = bytearray(batch(b"abc"))
        broken[-1] ^= 1
        c.ask("bad checksum", produce(topic, bytes(broken)), 12)
        c.ask("cut short", produce(topic, batch(b"abcdefgh")[:-3]), 12)
        c.ask("two batches", produce(topic, batch(b"a") + batch(b"b")), 12)
        c.ask("two batches, then", produce(topic, batch(b"a") + batch(b"b")), 9)
        c.ask("large", produce(topic, batch(b"x" * 1_100_000)), 12)
        c.ask("control", produce(topic, batch(b"x", control=True)), 12)
        c.ask("no header for transactions", produce(topic, batch(b"x", transactional=True)), 12)
        old = encode_batch([(NOW_MS - 10**12, None, b"old", [])])
        c.ask("an old time", produce(topic, old), 12)
        zstd = batch(b"z" * 100, compression=CompressionType.ZSTD)
        for version in (6, 7, 12):
            c.ask("zstd", produce(topic, zstd), version)
        by_id = ProduceRequest(
            acks=-1,
            timeout_ms=5000,
            topic_data=[
                TopicProduceData(
                    topic_id=uuid.UUID(int=3), partition_data=[PartitionProduceData(index=0, records=batch(b"a"))]
                )
            ],
        )
        c.ask("unknown topic id", by_id, 13)
        offsets = c.wire.ask(list_offsets(topic, -1), 8).topics[0].partitions[0].offset
        c.note("end", offsets)

    compare(talk)


def test_idempotent_produce(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)
        init = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        wait_until(lambda: c.wire.ask(init, 5).error_code == 0, "the first block of producer ids")
        producer = c.ask("init", init, 5)

        def send(label: str, sequence: int, *, epoch: int = 0, count: int = 1, pid: int | None = None) -> None:
            records = batch(
                *[b"v"] * count,
                producer_id=producer.producer_id if pid is None else pid,
                producer_epoch=epoch,
                base_sequence=sequence,
            )
            c.ask(label, produce(topic, records), 12)

        send("first", 0)
        send("second", 1, count=2)
        send("second again", 1, count=2)
        send("first again", 0)
        send("gap", 9)
        send("overlap", 2, count=2)
        for number in range(3, 9):
            send(f"number {number}", number)
        send("older than the last five", 1, count=2)
        send("new epoch, wrong start", 5, epoch=1)
        send("new epoch", 0, epoch=1)
        send("old epoch", 9, epoch=0)
        send("unknown producer in the middle", 5, pid=987_654_321)
        c.ask("producers", DescribeProducersRequest(topics=[ProducersOf(name=topic, partition_indexes=[0, 1, 9])]), 0)

    compare(talk)


def test_fetch_and_offsets(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)
        for value in (b"a", b"b", b"c"):
            c.wire.ask(produce(topic, batch(value)), 12)
        for version in range(4, 13):
            c.ask("from 0", fetch(topic, 0), version)
        c.ask("from 1", fetch(topic, 1), 12)
        c.ask("at the end", fetch(topic, 3), 12)
        c.ask("beyond", fetch(topic, 4), 12)
        c.ask("before", fetch(topic, -1), 12)
        c.ask("unknown topic", fetch(f"{topic}-none", 0), 12)
        c.ask("unknown partition", fetch(topic, 0, partition=9), 12)
        c.ask("one byte", fetch(topic, 0, max_bytes=1), 12)
        c.ask("committed only", fetch(topic, 0, isolation_level=1), 12)
        stale = fetch(topic, 0)
        stale.topics[0].partitions[0].current_leader_epoch = 5
        c.ask("from the future", stale, 12)
        unknown_id = FetchRequest(
            max_wait_ms=0, topics=[FetchTopic(topic_id=uuid.UUID(int=4), partitions=[FetchPartition()])]
        )
        c.ask("unknown id", unknown_id, 13)
        session = c.ask("session", fetch(topic, 0, session_epoch=0), 12)
        nothing_new = FetchRequest(max_wait_ms=0, session_id=session.session_id, session_epoch=1)
        c.ask("session, the same place", nothing_new, 12)
        c.ask("session, wrong epoch", FetchRequest(session_id=session.session_id, session_epoch=9), 12)
        c.ask("no such session", FetchRequest(session_id=12345, session_epoch=1), 12)
        for timestamp in (-1, -2, -3, -4, -5, -6, 0, NOW_MS, NOW_MS + 1, -99):
            for version in (1, 5, 7, 8, 9, 10, 11):
                if timestamp >= -2 or version > 5:
                    c.ask(f"offset at {timestamp}", list_offsets(topic, timestamp), version)
        c.ask("offset, unknown topic", list_offsets(f"{topic}-none", -1), 9)
        c.ask("offset, unknown partition", list_offsets(topic, -1, partition=9), 9)
        c.ask("offset, future epoch", list_offsets(topic, -1, epoch=9), 9)
        c.ask("offset, committed", list_offsets(topic, -1, isolation=1), 9)
        for epoch in (-1, 0, 1):
            where = OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
            request = OffsetForLeaderEpochRequest(
                replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[where])]
            )
            c.ask(f"end of epoch {epoch}", request, 4)
        for offset in (2, 9, -1, -7):
            request_ = DeleteRecordsRequest(
                timeout_ms=5000,
                topics=[
                    DeleteRecordsTopic(
                        name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)]
                    )
                ],
            )
            c.ask(f"delete records before {offset}", request_, 2)
        c.ask("after the deletion", fetch(topic, 0), 12)
        c.ask("earliest now", list_offsets(topic, -2), 9)

    compare(talk)


def test_settings(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)

        def describe(label: str, kind: int, name: str, keys: list[str] | None, version: int = 4) -> None:
            resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            c.ask(f"describe {label}", DescribeConfigsRequest(resources=[resource]), version)

        for version in (1, 2, 3, 4):
            describe("a topic's retention", 2, topic, ["retention.ms", "cleanup.policy", "no.such"], version)
        describe("an unknown topic", 2, f"{topic}-none", None)
        describe("a badly named topic", 2, "a/b", None)
        describe("an unknown kind", 99, "x", None)
        describe("a strange broker", 4, "77777", None)
        describe("not a broker", 4, "abc", None)

        def alter(
            label: str, key: str, value: str | None, operation: int = 0, *, name: str = topic, kind: int = 2
        ) -> None:
            config = AlterableConfig(name=key, config_operation=operation, value=value)
            resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
            c.ask(f"alter {label}", IncrementalAlterConfigsRequest(resources=[resource]), 1)

        alter("well", "retention.ms", "5000")
        alter("to nonsense", "retention.ms", "soon")
        alter("an unknown key", "no.such", "1")
        alter("an unknown topic", "retention.ms", "1", name=f"{topic}-none")
        alter("to nothing", "retention.ms", None)
        alter("a list", "cleanup.policy", "compact", 2)
        alter("a list that is none", "retention.ms", "1", 2)
        # An unknown operation is left out: Kafka answers with an internal error, and we say what is wrong.
        settled(c, topic, "cleanup.policy", "delete,compact")
        describe("after the change", 2, topic, ["retention.ms", "cleanup.policy"])
        alter("back", "retention.ms", None, 1)
        settled(c, topic, "retention.ms", "604800000")
        describe("after the change back", 2, topic, ["retention.ms"])

    compare(talk)


def settled(c: Conversation, topic: str, key: str, value: str) -> None:
    """A broker of Kafka hears of a change from the controller a moment after it was answered."""
    resource = DescribeConfigsResource(resource_type=2, resource_name=topic, configuration_keys=[key])
    request = DescribeConfigsRequest(resources=[resource])
    wait_until(lambda: c.wire.ask(request, 4).results[0].configs[0].value == value, f"{key}={value}")


def test_every_topic_setting_has_kafkas_name_type_and_default(embedded_bootstrap: str, real_bootstrap: str) -> None:
    found = []
    for bootstrap in (real_bootstrap, embedded_bootstrap):
        wire = Wire(bootstrap)
        topic = f"settings-{uuid.uuid4().hex[:8]}"
        wire.ask(CreateTopicsRequest(topics=[CreatableTopic(name=topic, num_partitions=1, replication_factor=1)]), 7)
        resource = DescribeConfigsResource(resource_type=2, resource_name=topic, configuration_keys=None)
        response = wire.ask(DescribeConfigsRequest(resources=[resource]), 4)
        found.append({config.name: (config.value, config.config_type) for config in response.results[0].configs})
        wire.close()
    real, embedded = found
    assert {name: embedded[name] for name in real if name in embedded} == {
        name: real[name] for name in real if name in embedded
    }
    assert set(embedded) <= set(real)


def test_connections(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        c.ask("versions", MetadataRequest(topics=[]), 12)
        c.wire.send(bytes.fromhex("00000011 0012 0063 0000004d 0006") + b"differ\0")  # ApiVersions v99: answered as v0
        frame = c.wire.receive()
        c.note("versions of the future", frame[:6].hex())
        c.ask(
            "versions by a nameless client", ApiVersionsRequest(client_software_name="", client_software_version=""), 3
        ) and None
        for label, data in {
            "an unknown API": "00000010 7fff 0000 0000004d 0006" + b"differ".hex(),
            "an unknown version": "00000010 0003 0063 0000004d 0006" + b"differ".hex(),
            "a frame of -1": "ffffffff",
        }.items():
            c.wire.send(bytes.fromhex(data))
            try:
                c.note(label, c.wire.receive())
            except Exception as error:
                c.note(label, type(error).__name__)

    compare(talk)
