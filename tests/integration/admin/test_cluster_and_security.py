"""The cluster, disks, replicas, rights, users, quotas and transactions, on the embedded cluster and on Apache Kafka."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from pykclient import KafkaAdminClient, TopicPartition
from pykclient.admin import (
    Acl,
    AclFilter,
    AclOperation,
    AclPatternType,
    AclPermission,
    AclResourceType,
    FencedProducer,
    LogDir,
    ScramDeletion,
    ScramUpsertion,
)
from pykclient.client.engine import Operation, call
from pykclient.errors import (
    BrokerError,
    BrokerIdNotRegistered,
    DelegationTokenNotFound,
    DelegationTokenRequestNotAllowed,
    InvalidReplicaAssignment,
    InvalidUpdateVersion,
    KafkaError,
    LogDirNotFound,
    NoReassignmentInProgress,
    ProducerFenced,
    ResourceNotFound,
    TransactionalIdNotFound,
    UnknownTopicOrPartition,
    UsageError,
)
from pykclient.net.client_request import Request
from pykclient.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from pykclient.protocol.records import encode_batch
from tests.integration.admin.conftest import ROOT, Stage, eventually, fill


def test_cluster_names_its_brokers(admin: KafkaAdminClient) -> None:
    found = admin.describe_cluster(include_authorized_operations=True)
    assert found.cluster_id
    assert found.controller in found.brokers
    assert found.fenced == ()
    assert found.authorized_operations
    assert AclOperation.ALTER in found.authorized_operations


def test_features_are_told_and_a_senseless_level_is_refused(admin: KafkaAdminClient) -> None:
    found = admin.describe_features()
    assert found.finalized["metadata.version"] >= 7
    admin.update_features({"metadata.version": found.finalized["metadata.version"]}, validate_only=True)
    assert admin.describe_features(admin.describe_cluster().brokers[0].id).supported == found.supported
    low, high = found.supported["metadata.version"]
    assert low <= found.finalized["metadata.version"] <= high
    with pytest.raises(KafkaError) as raised:
        admin.update_features({"metadata.version": 9999}, validate_only=True).raise_for_errors()
    assert isinstance(raised.value, InvalidUpdateVersion)


def test_quorum_has_a_leader_that_votes(admin: KafkaAdminClient) -> None:
    found = admin.describe_quorum()
    assert found.leader_id in {voter.node_id for voter in found.voters}
    assert found.high_watermark > 0


def test_disks_hold_what_was_written(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    fill(stage, topic, 30)
    results = admin.describe_log_dirs()
    assert list(results) == sorted(node.id for node in admin.describe_cluster().brokers)
    replicas = {
        tp: log.size
        for dirs in results.values()
        for found in dirs.values()
        if isinstance(found, LogDir)
        for tp, log in found.replicas.items()
        if tp.topic == topic
    }
    assert replicas.keys() == {TopicPartition(topic, index) for index in range(3)}
    assert all(size > 0 for size in replicas.values())
    assert admin.describe_log_dirs(4711).error(4711) is not None


@pytest.mark.real_kafka
def test_replicas_move_between_disks(real_stage: Stage, name: str) -> None:
    with real_stage.admin() as admin:
        admin.create_topics(name, wait=True).raise_for_errors()
        tp = TopicPartition(name, 0)

        def place() -> str | None:
            rows = [row for row in admin.describe_log_dirs(1, partitions=[tp])[1].values() if isinstance(row, LogDir)]
            return next((row.path for row in rows if tp in row.replicas and not row.replicas[tp].future), None)

        paths = set(admin.describe_log_dirs(1)[1])
        (other,) = paths - {eventually(place, lambda path: path is not None)}
        admin.alter_log_dirs({(1, tp): other}).raise_for_errors()
        eventually(place, lambda path: path == other)
        wrong = admin.alter_log_dirs({(1, tp): "/no/such/place"})
        assert isinstance(wrong.error((1, tp)), LogDirNotFound)


def test_election_of_a_leader_that_leads_is_not_needed(admin: KafkaAdminClient, topic: str) -> None:
    tp, missing = TopicPartition(topic, 0), TopicPartition(f"{topic}-not", 0)
    results = admin.elect_leaders([tp, missing])
    assert results[tp] is False
    assert isinstance(results.error(missing), UnknownTopicOrPartition)
    assert not admin.elect_leaders().errors
    with pytest.raises(UsageError):
        admin.elect_leaders([tp], kind="any")


def test_partitions_are_reassigned(admin: KafkaAdminClient, topic: str) -> None:
    tp, missing = TopicPartition(topic, 0), TopicPartition(f"{topic}-not", 0)
    (target,) = admin.describe_topics(topic)[topic].partitions[0].replicas  # the embedded cluster moves no replicas
    started = admin.alter_partition_reassignments({tp: [target], missing: [target]})
    assert started.succeeded == {tp: None}
    assert isinstance(started.error(missing), UnknownTopicOrPartition)
    eventually(lambda: admin.list_partition_reassignments([tp]), lambda found: not found)
    assert admin.list_partition_reassignments() == {}
    assert admin.describe_topics(topic)[topic].partitions[0].replicas == (target,)
    stopped = admin.alter_partition_reassignments({tp: None})
    assert isinstance(stopped.error(tp), NoReassignmentInProgress)
    nowhere = admin.alter_partition_reassignments({tp: [4711]})
    assert isinstance(nowhere.error(tp), InvalidReplicaAssignment)


def test_rights_are_granted_found_and_withdrawn(admin: KafkaAdminClient, name: str) -> None:
    read = Acl(f"User:{name}", AclOperation.READ, AclResourceType.TOPIC, "orders")
    deny = Acl(
        f"User:{name}",
        AclOperation.WRITE,
        AclResourceType.TOPIC,
        "ord",
        AclPermission.DENY,
        AclPatternType.PREFIXED,
        "127.0.0.1",
    )
    assert admin.create_acls([read, deny]).raise_for_errors() == {read: None, deny: None}
    mine = AclFilter(principal=f"User:{name}")
    found = eventually(lambda: admin.describe_acls(mine), lambda acls: len(acls) == 2)
    assert set(found) == {read, deny}
    matching = AclFilter(f"User:{name}", resource_type=AclResourceType.TOPIC, resource_name="orders",
                         pattern=AclPatternType.MATCH)  # fmt: skip
    assert set(admin.describe_acls(matching)) == {read, deny}
    writes = AclFilter(f"User:{name}", AclOperation.WRITE)
    gone = admin.delete_acls([writes, AclFilter(principal=f"User:{name}-not")])
    assert gone[writes] == [deny]
    assert gone[AclFilter(principal=f"User:{name}-not")] == []
    assert eventually(lambda: admin.describe_acls(mine), lambda acls: len(acls) == 1) == [read]


def test_scram_users_come_and_go(stage: Stage, admin: KafkaAdminClient, name: str) -> None:
    new = [ScramUpsertion(name, "s3cret"), ScramUpsertion(name, "s3cret", "SCRAM-SHA-256", iterations=4096)]
    assert "s3cret" not in repr(new)
    results = admin.alter_scram_users([*new, ScramDeletion(f"{name}-not")])
    assert results.succeeded == {name: None}, results
    assert isinstance(results.error(f"{name}-not"), ResourceNotFound)
    found = eventually(lambda: admin.describe_scram_users(name), lambda rows: not rows.errors)
    assert found[name] == {"SCRAM-SHA-512": 8192, "SCRAM-SHA-256": 4096}
    assert name in admin.describe_scram_users()
    for mechanism in found[name]:
        with stage.login(sasl_mechanism=mechanism, sasl_username=name, sasl_password="s3cret") as user:
            assert user.describe_cluster().brokers
    admin.alter_scram_users([ScramDeletion(name), ScramDeletion(name, "SCRAM-SHA-256")]).raise_for_errors()
    eventually(lambda: admin.describe_scram_users(name), lambda rows: isinstance(rows.error(name), ResourceNotFound))
    with pytest.raises(UsageError):
        admin.alter_scram_users(ScramUpsertion(name, "x", iterations=1))
    with pytest.raises(UsageError):
        admin.alter_scram_users(ScramUpsertion(name, "x", "PLAIN"))


@pytest.mark.real_kafka
def test_tokens_are_made_used_prolonged_and_ended(real_stage: Stage) -> None:
    with real_stage.login(**ROOT) as root:
        token = root.create_delegation_token(renewers=["User:other"], max_lifetime_ms=3_600_000)
        assert (token.owner, token.renewers) == ("User:root", ("User:other",))
        assert token.password not in repr(token)
        assert repr(token.hmac) not in repr(token)
        seen = eventually(lambda: root.describe_delegation_tokens("User:root"), lambda rows: token in rows)
        assert root.describe_delegation_tokens("User:nobody") == []
        assert len(seen) == 1
        credentials = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_username": token.token_id}
        with real_stage.login(**credentials, sasl_password=token.password, sasl_token_auth=True) as bearer:
            assert bearer.describe_cluster().brokers
        expires = root.renew_delegation_token(token, 60_000)
        assert token.issued < expires < token.expires
        root.expire_delegation_token(token)
        eventually(lambda: root.describe_delegation_tokens(), lambda rows: rows == [])
        with pytest.raises(DelegationTokenNotFound):
            root.renew_delegation_token(token)
    with real_stage.admin() as nobody, pytest.raises(DelegationTokenRequestNotAllowed):
        nobody.create_delegation_token()


@pytest.mark.real_kafka
def test_members_of_the_cluster_are_not_changed_by_mistake(real_stage: Stage) -> None:
    with real_stage.admin() as admin:
        with pytest.raises(BrokerIdNotRegistered):
            admin.unregister_broker(4711)
        with pytest.raises(BrokerError):  # the quorum of a test broker is fixed
            admin.add_raft_voter(2, uuid.UUID(int=1), {"CONTROLLER": ("127.0.0.1", 1)})
        with pytest.raises(BrokerError):
            admin.remove_raft_voter(2, uuid.UUID(int=1))


def test_quotas_are_set_and_removed(admin: KafkaAdminClient, name: str) -> None:
    user, key = {"user": name}, (("user", name),)
    admin.alter_client_quotas([(user, {"producer_byte_rate": 1e6, "consumer_byte_rate": 2e6})]).raise_for_errors()
    found = eventually(lambda: admin.describe_client_quotas(user), lambda rows: key in rows)
    assert found == {key: {"producer_byte_rate": 1e6, "consumer_byte_rate": 2e6}}
    assert key in admin.describe_client_quotas(any_of=["user"])
    admin.alter_client_quotas([(user, {"producer_byte_rate": 5.0})], validate_only=True).raise_for_errors()
    wrong = admin.alter_client_quotas([({"user": f"{name}-2"}, {"no_such_quota": 1.0})])
    assert len(wrong.errors) == 1
    admin.alter_client_quotas([(user, {"producer_byte_rate": None, "consumer_byte_rate": None})]).raise_for_errors()
    eventually(lambda: admin.describe_client_quotas(user), lambda rows: not rows)


@pytest.fixture
def open_transaction(stage: Stage, topic: str) -> Iterator[str]:
    """A transaction with one record in partition 0 that nobody ends."""
    producer = stage.producer(transactional_id=f"tx-{topic}")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, value=b"open", partition=0).result(10)
    yield f"tx-{topic}"
    producer.close(0)


def test_an_open_transaction_is_seen_from_both_sides(
    admin: KafkaAdminClient, topic: str, open_transaction: str
) -> None:
    tp = TopicPartition(topic, 0)
    listed = admin.list_transactions(states=["Ongoing"])[open_transaction]
    assert open_transaction in admin.list_transactions(producer_ids=[listed.producer_id])
    assert open_transaction not in admin.list_transactions(states=["Empty"])
    assert open_transaction in admin.list_transactions(pattern="tx-.*")
    assert open_transaction not in admin.list_transactions(longer_than_ms=3_600_000)
    described = admin.describe_transactions([open_transaction, f"{open_transaction}-not"])
    assert described[open_transaction].partitions == {tp}
    assert described[open_transaction].started
    assert isinstance(described.error(f"{open_transaction}-not"), TransactionalIdNotFound)
    (state,) = admin.describe_producers([tp])[tp]
    assert (state.producer_id, state.transaction_start_offset) == (listed.producer_id, 0)
    assert admin.find_hanging_transactions([topic], older_than_s=0) == []
    assert admin.find_hanging_transactions() == []
    with pytest.raises(UnknownTopicOrPartition):
        admin.find_hanging_transactions([f"{topic}-not"])


def test_fencing_aborts_what_is_open(stage: Stage, admin: KafkaAdminClient, topic: str, name: str) -> None:
    producer = stage.producer(transactional_id=f"tx-{name}")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, value=b"open", partition=0).result(10)
    tp = TopicPartition(topic, 0)
    fenced: FencedProducer = admin.fence_producers(f"tx-{name}")[f"tx-{name}"]
    assert fenced.producer_epoch > 0
    eventually(lambda: admin.list_offsets({tp: "latest"}, read_committed=True)[tp].offset, lambda offset: offset == 2)
    with pytest.raises(ProducerFenced):
        producer.commit_transaction()
    producer.close(0)


def _write_behind_the_coordinators_back(
    admin: KafkaAdminClient, tp: TopicPartition, transactional_id: str, producer: FencedProducer
) -> None:
    """A transactional batch that no coordinator was told of."""
    leader = admin.describe_topics(tp.topic).raise_for_errors()[tp.topic].partitions[tp.partition].leader
    assert leader is not None
    batch = encode_batch(
        [(1_700_000_000_000, None, b"lost", [])],
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=0,
        transactional=True,
    )
    message = ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=5000,
        topic_data=[
            TopicProduceData(name=tp.topic, partition_data=[PartitionProduceData(index=tp.partition, records=batch)])
        ],
    )

    def operation() -> Operation[ProduceResponse]:
        return (yield from call(Request[ProduceResponse](message, node_id=leader.id, version_max=11)))

    response = admin._engine.run_blocking(operation(), timeout_s=10)
    assert response.responses[0].partition_responses[0].error_code == 0


@pytest.mark.real_kafka
def test_a_hanging_transaction_is_found_and_aborted(real_stage: Stage, name: str) -> None:
    tp, transactional_id = TopicPartition(name, 0), f"tx-{name}"

    with real_stage.admin() as admin:

        def stable_offset() -> int:
            return admin.list_offsets({tp: "latest"}, read_committed=True)[tp].offset

        admin.create_topics(name, wait=True).raise_for_errors()
        producer = admin.fence_producers(transactional_id)[transactional_id]
        _write_behind_the_coordinators_back(admin, tp, transactional_id, producer)
        assert stable_offset() == 0
        assert admin.find_hanging_transactions([name], older_than_s=365 * 86400 * 50) == []
        (hanging,) = admin.find_hanging_transactions([name], older_than_s=0)
        assert (hanging.topic_partition, hanging.producer_id, hanging.start_offset) == (tp, producer.producer_id, 0)
        admin.abort_transaction(hanging)
        eventually(stable_offset, lambda offset: offset == 2)
        assert admin.find_hanging_transactions([name], older_than_s=0) == []
