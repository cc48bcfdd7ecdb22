"""Who is asked, and how often: controller, leaders, coordinators, every broker; moves, losses and time-outs."""

from __future__ import annotations

import pytest

from pykclient.admin import configs, groups, offsets, topics, transactions, users
from pykclient.admin.configs import ConfigChange
from pykclient.admin.results import Results
from pykclient.admin.routing import BrokerUnknown, Session
from pykclient.admin.types import ConfigResource, CreatedTopic, NewTopic, OffsetSpec, ScramUpsertion
from pykclient.client.engine import Operation
from pykclient.errors import (
    CoordinatorLoadInProgress,
    GroupIdNotFound,
    KafkaTimeoutError,
    NotController,
    NotCoordinator,
    NotLeaderOrFollower,
    TopicAlreadyExists,
    UnknownTopicOrPartition,
    UnsupportedVersionError,
)
from pykclient.net.client_request import Request
from pykclient.net.scram import salted_password
from pykclient.net.server_connection import ServerRequest
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from pykclient.protocol.messages.consumer_group_describe import ConsumerGroupDescribeResponse
from pykclient.protocol.messages.consumer_group_describe import DescribedGroup as NewGroup
from pykclient.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from pykclient.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from pykclient.protocol.messages.describe_configs import DescribeConfigsResponse, DescribeConfigsResult
from pykclient.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from pykclient.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)
from pykclient.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from pykclient.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from pykclient.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykclient.types import OffsetAndTimestamp, TopicPartition
from tests.unit.admin.desk import Desk, Handler
from tests.unit.fake_cluster import Drop, Hang, metadata_of, run, topic_of


def created(code: int = 0) -> Handler:
    def answer(request: ServerRequest) -> CreateTopicsResponse:
        asked: CreateTopicsRequest = request.message()
        return CreateTopicsResponse(
            topics=[CreatableTopicResult(name=each.name, error_code=code, num_partitions=1) for each in asked.topics]
        )

    return answer


def create(desk: Desk, *names: str, timeout_s: float = 60.0, wait: bool = False) -> Results[str, CreatedTopic]:
    return desk.run(
        lambda s: topics.create_topics(s, [NewTopic(name) for name in names], validate_only=False, wait=wait), timeout_s
    )


# ---- the controller ----


def test_changes_go_to_the_broker_that_metadata_name_as_controller() -> None:
    desk = Desk()
    desk.handle(ApiKey.CREATE_TOPICS, created())
    create(desk, "a", "b")
    assert desk.asked(ApiKey.CREATE_TOPICS) == [1]


def test_a_broker_that_is_not_the_controller_is_asked_again_after_fresh_metadata() -> None:
    desk = Desk()
    answers = [NotController.code, NotController.code, 0]
    desk.handle(ApiKey.CREATE_TOPICS, lambda request: created(answers.pop(0))(request))
    results = create(desk, "a")
    assert results.succeeded.keys() == {"a"}
    assert desk.asked(ApiKey.CREATE_TOPICS) == [1, 1, 1]
    assert len(desk.asked(ApiKey.METADATA)) >= 2


def test_a_final_error_is_not_asked_about_again_and_only_open_items_are() -> None:
    desk = Desk()
    rounds: list[list[str]] = []

    def answer(request: ServerRequest) -> CreateTopicsResponse:
        asked: CreateTopicsRequest = request.message()
        rounds.append([each.name for each in asked.topics])
        codes = {"there": TopicAlreadyExists.code, "busy": NotController.code if len(rounds) == 1 else 0}
        return CreateTopicsResponse(
            topics=[CreatableTopicResult(name=each.name, error_code=codes.get(each.name, 0)) for each in asked.topics]
        )

    desk.handle(ApiKey.CREATE_TOPICS, answer)
    results = create(desk, "there", "busy", "new")
    assert rounds == [["there", "busy", "new"], ["busy"]]
    assert isinstance(results.error("there"), TopicAlreadyExists)
    assert list(results) == ["there", "busy", "new"]


def test_a_lost_connection_is_survived_and_a_silent_cluster_ends_with_the_calls_time() -> None:
    desk = Desk()
    answers: list[object] = [Drop(), Drop()]
    desk.handle(ApiKey.CREATE_TOPICS, lambda request: answers.pop(0) if answers else created()(request))
    assert create(desk, "a").succeeded
    desk.handle(ApiKey.CREATE_TOPICS, lambda request: Hang())
    began = desk.clock.now()
    results = create(desk, "b", timeout_s=5)
    assert isinstance(results.error("b"), KafkaTimeoutError)
    assert desk.clock.now() - began <= 5.5


def test_an_api_that_the_broker_lacks_is_named_with_both_ranges() -> None:
    desk = Desk()
    for node in desk.nodes.values():
        node.ranges[ApiKey.LIST_TRANSACTIONS] = (0, 1)
    with pytest.raises(UnsupportedVersionError) as raised:
        desk.run(
            lambda s: transactions.list_transactions(
                s, states=(), producer_ids=(), longer_than_ms=None, pattern="tx-.*"
            )
        )
    assert (raised.value.api, raised.value.needed, raised.value.offered) == ("ListTransactions", (2, 2), (0, 1))
    for word in ("ListTransactions", "2 to 2", "0 to 1"):
        assert word in str(raised.value)


def test_a_call_that_is_given_up_withdraws_every_request() -> None:
    desk = Desk()
    desk.handle(ApiKey.LIST_GROUPS, lambda request: Hang())
    requests: list[Request[ListGroupsResponse]] = []

    def operation(session: Session) -> Operation[object]:
        yield from session.connected()
        requests.extend(Request(ListGroupsRequest(), node_id=node_id) for node_id in desk.nodes)
        return (yield from session.gather(requests))

    call = desk.engine.spawn(operation(desk.session()))
    run(desk.engine, desk.cluster, lambda: len(desk.asked(ApiKey.LIST_GROUPS)) == 3)
    call.withdraw()
    assert [request.withdrawn for request in requests] == [True, True, True]


# ---- waiting for topics ----


def test_waiting_ends_when_the_last_broker_serves_the_topic() -> None:
    desk = Desk()
    desk.handle(ApiKey.CREATE_TOPICS, created())
    knows_at = {1: desk.clock.now(), 2: desk.clock.now() + 1, 3: desk.clock.now() + 4}
    for node_id, at in knows_at.items():

        def answer(request: ServerRequest, at: float = at) -> object:
            known = {"a": topic_of("a", {0: (1, 0)})} if desk.clock.now() >= at else {}
            return metadata_of(request, desk.endpoints, known)

        desk.handle(ApiKey.METADATA, answer, node=node_id)
    assert create(desk, "a", wait=True).succeeded
    assert desk.clock.now() >= knows_at[3]


def test_a_topic_that_some_broker_never_serves_is_a_timeout_that_says_it_was_made() -> None:
    desk = Desk()
    desk.handle(ApiKey.CREATE_TOPICS, created())
    results = create(desk, "a", wait=True, timeout_s=3)
    assert isinstance(results.error("a"), KafkaTimeoutError)
    assert "made" in str(results.error("a"))


# ---- leaders ----


def offsets_of(request: ServerRequest, code: int = 0) -> ListOffsetsResponse:
    asked: ListOffsetsRequest = request.message()
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(partition_index=row.partition_index, error_code=code, offset=7)
                    for row in topic.partitions
                ],
            )
            for topic in asked.topics
        ]
    )


def latest(desk: Desk, *partitions: TopicPartition) -> Results[TopicPartition, OffsetAndTimestamp]:
    return desk.run(
        lambda s: offsets.list_offsets(s, dict.fromkeys(partitions, OffsetSpec.LATEST), read_committed=False)
    )


def test_each_leader_is_asked_once_for_all_its_partitions() -> None:
    desk = Desk()
    desk.topics["t"] = topic_of("t", {0: (1, 0), 1: (2, 0), 2: (2, 0)})
    desk.handle(ApiKey.LIST_OFFSETS, offsets_of)
    results = latest(desk, *(TopicPartition("t", index) for index in range(3)))
    assert {tp.partition: row.offset for tp, row in results.items()} == {0: 7, 1: 7, 2: 7}
    assert desk.asked(ApiKey.LIST_OFFSETS) == [1, 2]


def test_a_partition_that_moved_is_asked_of_its_new_leader_and_the_others_are_not_asked_again() -> None:
    desk = Desk()
    desk.topics["t"] = topic_of("t", {0: (1, 0), 1: (2, 0)})
    desk.handle(ApiKey.LIST_OFFSETS, offsets_of)

    def moved(request: ServerRequest) -> ListOffsetsResponse:
        desk.topics["t"] = topic_of("t", {0: (1, 0), 1: (3, 1)})
        return offsets_of(request, NotLeaderOrFollower.code)

    desk.handle(ApiKey.LIST_OFFSETS, moved, node=2)
    results = latest(desk, TopicPartition("t", 0), TopicPartition("t", 1))
    assert not results.errors
    assert desk.asked(ApiKey.LIST_OFFSETS) == [1, 2, 3]


def test_a_topic_that_is_not_there_fails_after_a_moment_and_does_not_hold_up_the_rest() -> None:
    desk = Desk()
    desk.topics["t"] = topic_of("t", {0: (1, 0)})
    desk.handle(ApiKey.LIST_OFFSETS, offsets_of)
    began = desk.clock.now()
    results = latest(desk, TopicPartition("t", 0), TopicPartition("nope", 0), TopicPartition("t", 9))
    assert results.succeeded.keys() == {TopicPartition("t", 0)}
    assert all(isinstance(error, UnknownTopicOrPartition) for error in results.errors.values())
    assert desk.clock.now() - began < 3
    assert desk.asked(ApiKey.LIST_OFFSETS) == [1]


# ---- coordinators ----


def coordinated(desk: Desk, where: dict[str, int]) -> None:
    def answer(request: ServerRequest) -> FindCoordinatorResponse:
        asked: FindCoordinatorRequest = request.message()
        if request.version < 4:
            return FindCoordinatorResponse(node_id=where[asked.key], host="broker", port=1)
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(key=key, node_id=where[key], host="broker", port=1) for key in asked.coordinator_keys
            ]
        )

    desk.handle(ApiKey.FIND_COORDINATOR, answer)


def deleted(request: ServerRequest, code: int = 0) -> DeleteGroupsResponse:
    asked: DeleteGroupsRequest = request.message()
    return DeleteGroupsResponse(
        results=[DeletableGroupResult(group_id=name, error_code=code) for name in asked.groups_names]
    )


@pytest.mark.parametrize("version_max", [6, 3])
def test_groups_are_looked_up_together_where_possible_and_asked_of_their_coordinators(version_max: int) -> None:
    desk = Desk()
    for node in desk.nodes.values():
        node.ranges[ApiKey.FIND_COORDINATOR] = (0, version_max)
    coordinated(desk, {"a": 1, "b": 3, "c": 3})
    desk.handle(ApiKey.DELETE_GROUPS, deleted)
    assert not desk.run(lambda s: groups.delete_groups(s, ["a", "b", "c"])).errors
    assert desk.asked(ApiKey.DELETE_GROUPS) == [1, 3]
    assert len(desk.asked(ApiKey.FIND_COORDINATOR)) == (1 if version_max >= 4 else 3)


@pytest.mark.parametrize(("code", "lookups"), [(NotCoordinator.code, 2), (CoordinatorLoadInProgress.code, 1)])
def test_a_coordinator_that_moved_is_looked_up_again_and_one_that_loads_is_waited_for(code: int, lookups: int) -> None:
    desk = Desk()
    where = {"a": 1}
    coordinated(desk, where)
    answers = [code, 0]

    def answer(request: ServerRequest) -> DeleteGroupsResponse:
        if code == NotCoordinator.code:
            where["a"] = 2
        return deleted(request, answers.pop(0))

    desk.handle(ApiKey.DELETE_GROUPS, answer)
    assert not desk.run(lambda s: groups.delete_groups(s, ["a"])).errors
    assert len(desk.asked(ApiKey.FIND_COORDINATOR)) == lookups
    assert desk.asked(ApiKey.DELETE_GROUPS) == ([1, 2] if lookups == 2 else [1, 1])


def test_classic_groups_are_described_by_the_classic_request_and_only_those() -> None:
    desk = Desk()
    coordinated(desk, {"new": 1, "old": 1, "gone": 1})
    desk.handle(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        lambda request: ConsumerGroupDescribeResponse(
            groups=[
                NewGroup(group_id="new", group_state="Stable", group_epoch=4, assignor_name="uniform"),
                *(NewGroup(group_id=name, error_code=GroupIdNotFound.code) for name in ("old", "gone")),
            ]
        ),
    )
    asked: list[list[str]] = []

    def classic(request: ServerRequest) -> DescribeGroupsResponse:
        message: DescribeGroupsRequest = request.message()
        asked.append(message.groups)
        return DescribeGroupsResponse(
            groups=[
                DescribedGroup(group_id="old", group_state="Empty", protocol_type="consumer"),
                DescribedGroup(group_id="gone", group_state="Dead"),
            ]
        )

    desk.handle(ApiKey.DESCRIBE_GROUPS, classic)
    results = desk.run(lambda s: groups.describe_groups(s, ["old", "new", "gone"], include_authorized_operations=False))
    assert asked == [["old", "gone"]]
    assert (results["new"].type, results["new"].group_epoch) == ("Consumer", 4)
    assert (results["old"].type, results["old"].group_epoch) == ("Classic", None)
    assert isinstance(results.error("gone"), GroupIdNotFound)


# ---- every broker ----


def test_groups_of_all_brokers_are_listed_and_one_that_loads_is_waited_for() -> None:
    desk = Desk()
    loading = [CoordinatorLoadInProgress.code, 0]
    for node_id in desk.nodes:

        def answer(request: ServerRequest, node_id: int = node_id) -> ListGroupsResponse:
            if node_id == 2 and (code := loading.pop(0)):
                return ListGroupsResponse(error_code=code)
            return ListGroupsResponse(groups=[ListedGroup(group_id=f"g{node_id}", group_type="classic")])

        desk.handle(ApiKey.LIST_GROUPS, answer, node=node_id)
    found = desk.run(lambda s: groups.list_groups(s, states=(), types=()))
    assert list(found) == ["g1", "g2", "g3"]
    assert desk.asked(ApiKey.LIST_GROUPS) == [1, 2, 2, 3]


def test_a_broker_answers_for_itself_and_one_that_left_is_named() -> None:
    desk = Desk()

    def answer(request: ServerRequest) -> DescribeConfigsResponse:
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(resource_type=row.resource_type, resource_name=row.resource_name)
                for row in request.message().resources
            ]
        )

    desk.handle(ApiKey.DESCRIBE_CONFIGS, answer)
    wanted = [ConfigResource.broker(2), ConfigResource.broker(3), ConfigResource.broker(9)]
    results = desk.run(
        lambda s: configs.describe_configs(s, wanted, names=None, include_synonyms=False, include_documentation=False)
    )
    assert desk.asked(ApiKey.DESCRIBE_CONFIGS) == [2, 3]
    assert isinstance(results.error(wanted[2]), BrokerUnknown)
    assert "9" in str(results.error(wanted[2]))


# ---- pages ----


def test_large_topics_are_read_page_by_page() -> None:
    desk = Desk()
    cursors: list[tuple[str, int] | None] = []

    def answer(request: ServerRequest) -> DescribeTopicPartitionsResponse:
        message: DescribeTopicPartitionsRequest = request.message()
        cursor = message.cursor
        cursors.append(None if cursor is None else (cursor.topic_name, cursor.partition_index))
        start = 0 if cursor is None else cursor.partition_index
        end = min(start + 2, 5)
        rows = [
            DescribeTopicPartitionsResponsePartition(partition_index=index, leader_id=1) for index in range(start, end)
        ]
        return DescribeTopicPartitionsResponse(
            topics=[DescribeTopicPartitionsResponseTopic(name="t", partitions=rows)],
            next_cursor=None if end == 5 else ResponseCursor(topic_name="t", partition_index=end),
        )

    desk.handle(ApiKey.DESCRIBE_TOPIC_PARTITIONS, answer)
    found = desk.run(lambda s: topics.describe_topics(s, ["t"], include_authorized_operations=False))["t"]
    assert [row.partition for row in found.partitions] == [0, 1, 2, 3, 4]
    assert cursors == [None, ("t", 2), ("t", 4)]


# ---- secrets ----


def test_only_the_salted_password_leaves() -> None:
    desk = Desk()
    sent: list[AlterUserScramCredentialsRequest] = []

    def answer(request: ServerRequest) -> AlterUserScramCredentialsResponse:
        sent.append(request.message())
        return AlterUserScramCredentialsResponse(results=[AlterUserScramCredentialsResult(user="al")])

    desk.handle(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, answer)
    assert desk.run(lambda s: users.alter_users(s, [ScramUpsertion("al", "open sesame", iterations=4096)])) == {
        "al": None
    }
    (row,) = sent[0].upsertions
    assert row.salted_password == salted_password("SCRAM-SHA-512", "open sesame", b"s" * 24, 4096)
    assert b"open sesame" not in sent[0].write(0)
    assert "open sesame" not in repr(ScramUpsertion("al", "open sesame"))


def test_changes_of_configurations_carry_their_kind() -> None:
    changes: dict[str, ConfigChange] = {"a": 1, "b": None, "c": True}
    rows = [configs._change(name, value) for name, value in changes.items()]
    assert [(row.config_operation, row.value) for row in rows] == [(0, "1"), (1, None), (0, "true")]
