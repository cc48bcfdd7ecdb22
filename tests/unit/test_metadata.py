"""The cluster view and the manager that keeps it fresh, in virtual time."""

from __future__ import annotations

import random
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from pykclient.client.cluster import BROKERS_MAX, Cluster, LeaderHint, merge, with_hints
from pykclient.client.engine import Engine
from pykclient.client.metadata import MetadataManager, MetadataSettings
from pykclient.errors import (
    AuthenticationError,
    ClientClosed,
    InvalidTopicException,
    KafkaConnectionError,
    KafkaTimeoutError,
    ProtocolError,
    RebootstrapRequired,
    TopicAuthorizationFailed,
    UnknownTopicOrPartition,
)
from pykclient.net.connection import Security
from pykclient.net.failures import ConnectTimedOut
from pykclient.net.link import NetworkSettings
from pykclient.net.network_client import NetworkClient
from pykclient.net.server_connection import ServerRequest
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from pykclient.protocol.messages.sasl_handshake import SaslHandshakeResponse
from pykclient.types import Node, TopicPartition

from .fake_cluster import After, FakeCluster, FakeNode, Hang, VirtualClock, metadata_of, run, settle, topic_of

ORDERS = TopicPartition("orders", 0)


def answer(*topics: MetadataResponseTopic, brokers: int = 3, **fields: Any) -> MetadataResponse:
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id, f"b{node_id}.test", 9092) for node_id in range(brokers)],
        cluster_id="c",
        controller_id=1,
        topics=list(topics),
        **fields,
    )


# ---- the view ----


def test_view_answers_what_clients_ask() -> None:
    view = merge(Cluster(), answer(topic_of("orders", {0: (1, 5), 1: (-1, 6)})), keep=())
    assert view.leader(ORDERS) == (1, 5)
    assert view.leader(TopicPartition("orders", 1)) is None
    assert view.leader(TopicPartition("orders", 9)) is None
    assert view.leader(TopicPartition("nope", 0)) is None
    assert view.partition_count("orders") == 2
    assert view.partition_count("nope") is None
    assert view.topic_id("orders") == UUID(int=7)
    assert view.topic_name(UUID(int=7)) == "orders"
    assert view.controller_id == 1
    assert [info.leader for info in view.partitions_for("orders")] == [Node(1, "b1.test", 9092), None]
    assert view.endpoints()[2] == Endpoint("b2.test", 9092)


def test_view_cannot_be_changed() -> None:
    view = merge(Cluster(), answer(topic_of("orders", {0: (1, 5)})), keep=())
    for mapping in (view.brokers, view.topics, view.errors, view.topics["orders"].partitions):
        with pytest.raises(TypeError):
            mapping["x"] = 1  # type: ignore[index]


def test_older_leader_epoch_is_never_believed() -> None:
    view = merge(Cluster(), answer(topic_of("orders", {0: (1, 5)})), keep=())
    assert merge(view, answer(topic_of("orders", {0: (2, 4)})), keep=()).leader(ORDERS) == (1, 5)
    assert merge(view, answer(topic_of("orders", {0: (2, 6)})), keep=()).leader(ORDERS) == (2, 6)
    assert merge(view, answer(topic_of("orders", {0: (2, -1)})), keep=()).leader(ORDERS) == (2, -1)


def test_topic_made_again_starts_with_new_epochs() -> None:
    view = merge(Cluster(), answer(topic_of("orders", {0: (1, 5)})), keep=())
    again = merge(view, answer(topic_of("orders", {0: (2, 0)}, topic_id=8)), keep=())
    assert again.leader(ORDERS) == (2, 0)
    assert again.topic_id("orders") == UUID(int=8)
    assert again.topic_name(UUID(int=7)) is None


def test_partial_answer_keeps_the_other_topics() -> None:
    view = merge(Cluster(), answer(topic_of("a", {0: (0, 1)}, 1), topic_of("b", {0: (0, 1)}, 2)), keep=())
    assert set(merge(view, answer(topic_of("b", {0: (1, 2)}, 2)), keep=None).topics) == {"a", "b"}
    assert set(merge(view, answer(topic_of("b", {0: (1, 2)}, 2)), keep=()).topics) == {"b"}
    assert set(merge(view, answer(topic_of("b", {0: (1, 2)}, 2)), keep=("a", "zzz")).topics) == {"a", "b"}


@pytest.mark.parametrize(("code", "stays"), [(3, False), (17, False), (29, False), (5, True), (-1, True)])
def test_topic_error_drops_the_topic_only_when_it_says_that_it_is_gone(code: int, stays: bool) -> None:
    view = merge(Cluster(), answer(topic_of("orders", {0: (1, 5)})), keep=())
    after = merge(view, answer(MetadataResponseTopic(error_code=code, name="orders")), keep=())
    assert ("orders" in after.topics) is stays
    assert after.errors["orders"].code == code
    assert after.errors["orders"].topic == "orders"
    healed = merge(after, answer(topic_of("orders", {0: (1, 6)})), keep=())
    assert not healed.errors


@pytest.mark.parametrize("broker", [(1, "", 9092), (1, "h", 0), (1, "h", 70_000), (-4, "h", 9092)])
def test_senseless_broker_is_a_protocol_error(broker: tuple[int, str, int]) -> None:
    with pytest.raises(ProtocolError):
        merge(Cluster(), MetadataResponse(brokers=[MetadataResponseBroker(*broker)]), keep=())


def test_absurd_number_of_brokers_is_refused() -> None:
    with pytest.raises(ProtocolError, match=str(BROKERS_MAX)):
        merge(Cluster(), answer(brokers=BROKERS_MAX + 1), keep=())


def test_hint_moves_a_leader_forward_and_never_back() -> None:
    view = merge(Cluster(), answer(topic_of("orders", {0: (1, 5)})), keep=())
    new_node = Node(7, "b7.test", 9092)
    moved = with_hints(view, [LeaderHint(ORDERS, 7, 6)], [new_node])
    assert moved.leader(ORDERS) == (7, 6)
    assert moved.node(7) == new_node
    assert with_hints(moved, [LeaderHint(ORDERS, 1, 5)], []) is moved
    assert with_hints(moved, [LeaderHint(ORDERS, 99, 9)], []) is moved
    assert with_hints(moved, [LeaderHint(TopicPartition("nope", 0), 1, 9)], []) is moved
    assert with_hints(moved, [LeaderHint(ORDERS, 8, 9)], [Node(8, "", 0)]) is moved


# ---- the manager ----


class World:
    """Brokers b0..bn; all of them are bootstrap servers unless said otherwise."""

    def __init__(
        self,
        nodes: int = 2,
        *,
        seed: int = 1,
        bootstrap: int | None = None,
        security: Security | None = None,
        **settings: Any,
    ):
        self.clock = VirtualClock()
        self.nodes = [FakeNode(Endpoint(f"b{index}.test", 9092)) for index in range(nodes)]
        self.members = {index: node.endpoint for index, node in enumerate(self.nodes)}
        self.topics: dict[str, MetadataResponseTopic] = {}
        self.cluster_id = "c"
        self.transport = FakeCluster(self.clock, self.nodes)
        network_settings = NetworkSettings(security=security or Security())
        self.network = NetworkClient(self.transport, network_settings, rng=random.Random(seed))
        servers = tuple(node.endpoint for node in self.nodes[:bootstrap])
        self.metadata = MetadataManager(MetadataSettings(servers, **settings), self.network, rng=random.Random(2))
        self.engine = Engine(self.transport, self.clock, self.network, [self.metadata])
        for node in self.nodes:
            node.handlers[ApiKey.METADATA] = self.answer

    def answer(self, request: ServerRequest) -> Any:
        return metadata_of(request, self.members, self.topics, self.cluster_id)

    def asked(self) -> int:
        return sum(node.apis().count(ApiKey.METADATA) for node in self.nodes)

    def wait_for(self, *topics: str, within_s: float = 60.0) -> Cluster:
        completion = self.metadata.wait_for_topics(topics, self.clock.time + within_s)
        run(self.engine, self.transport, lambda: completion.done)
        return completion.result()

    def settle(self, seconds: float) -> None:
        settle(self.engine, self.transport, seconds)


def test_brokers_are_learned_from_any_bootstrap_server() -> None:
    world = World(3, bootstrap=1)
    world.settle(0.1)
    assert set(world.network.nodes) == {0, 1, 2}
    assert world.metadata.cluster.cluster_id == "c"
    assert world.asked() == 1


def test_bootstrap_tries_every_server() -> None:
    world = World(3)
    world.nodes[0].refuses = world.nodes[1].refuses = True
    world.settle(0.1)
    assert set(world.network.nodes) == {0, 1, 2}


def test_view_is_refreshed_by_age_only_when_nothing_is_wrong() -> None:
    world = World(max_age_s=300.0)
    world.settle(299.0)
    assert world.asked() == 1
    world.settle(3.0)
    assert world.asked() == 2


def test_refresh_on_demand_respects_the_back_off() -> None:
    world = World(retry_backoff_s=0.1)
    world.settle(10.0)
    for _ in range(100):
        world.metadata.request_update()
        world.settle(0.01)
    assert 2 <= world.asked() <= 12


def test_new_topic_is_asked_for_at_once_and_kept_fresh() -> None:
    world = World()
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.settle(10.0)
    start = world.clock.time
    assert world.wait_for("orders").leader(ORDERS) == (1, 5)
    assert world.clock.time == start
    world.topics["orders"] = topic_of("orders", {0: (0, 6)})
    world.metadata.request_update()
    world.settle(1.0)
    assert world.metadata.cluster.leader(ORDERS) == (0, 6)


def test_topic_asked_for_while_a_question_is_on_its_way_does_not_wait_for_the_back_off() -> None:
    """As a client does that subscribes right after it was made."""
    world = World()
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    for node in world.nodes:
        node.handlers[ApiKey.METADATA] = lambda request: After(0.05, world.answer(request))
    run(world.engine, world.transport, lambda: world.asked() == 1)
    start = world.clock.time
    assert world.wait_for("orders").leader(ORDERS) == (1, 5)
    assert world.clock.time - start < 0.11, "two answers, and no pause between"


def test_partition_that_is_not_there_is_told_when_news_had_time_to_spread() -> None:
    world = World()
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.wait_for("orders")
    missing = world.metadata.missing
    assert missing(ORDERS, 60.0) is None
    assert missing(TopicPartition("never asked for", 0), 60.0) is None
    assert missing(TopicPartition("orders", 3), 1.0) is None
    error = missing(TopicPartition("orders", 3), 2.0)
    assert isinstance(error, UnknownTopicOrPartition)
    assert "the topic has 1 partitions" in str(error)
    assert error.node in ("b0.test:9092", "b1.test:9092")
    world.topics["closed"] = MetadataResponseTopic(error_code=29, name="closed")
    world.topics["busy"] = MetadataResponseTopic(error_code=5, name="busy")
    world.metadata.add_topics(["closed", "busy"])
    world.settle(1.0)
    assert isinstance(missing(TopicPartition("closed", 0), 0.0), TopicAuthorizationFailed)
    assert missing(TopicPartition("busy", 0), 60.0) is None, "it may pass"


def test_topic_that_does_not_exist_is_reported_within_two_seconds() -> None:
    world = World()
    start = world.clock.time
    with pytest.raises(UnknownTopicOrPartition, match="nope"):
        world.wait_for("nope")
    assert 1.0 <= world.clock.time - start < 2.0


def test_topic_that_appears_meanwhile_is_found() -> None:
    world = World()
    completion = world.metadata.wait_for_topics(["late"], world.clock.time + 60.0)
    world.settle(1.0)
    assert not completion.done
    world.topics["late"] = topic_of("late", {0: (0, 0)})
    world.settle(1.0)
    assert completion.result().leader(TopicPartition("late", 0)) == (0, 0)


@pytest.mark.parametrize(("code", "error"), [(17, InvalidTopicException), (29, TopicAuthorizationFailed)])
def test_forbidden_topic_is_reported_at_once(code: int, error: type[Exception]) -> None:
    world = World()
    world.topics["bad"] = MetadataResponseTopic(error_code=code, name="bad")
    start = world.clock.time
    with pytest.raises(error):
        world.wait_for("bad")
    assert world.clock.time - start < 0.2
    # An old refusal does not count for a new question: rights may have been granted.
    world.topics["bad"] = topic_of("bad", {0: (0, 0)})
    world.wait_for("bad")


def test_leaderless_partition_is_asked_for_again_with_growing_pauses() -> None:
    world = World()
    world.topics["orders"] = topic_of("orders", {0: (-1, 5)})
    assert world.wait_for("orders").leader(ORDERS) is None
    world.settle(20.0)
    assert 15 <= world.asked() <= 30
    world.topics["orders"] = topic_of("orders", {0: (1, 6)})
    world.settle(1.5)
    assert world.metadata.cluster.leader(ORDERS) == (1, 6)
    quiet = world.asked()
    world.settle(60.0)
    assert world.asked() == quiet


def test_wait_ends_at_its_deadline_and_tells_the_last_problem() -> None:
    world = World(bootstrap_patience_s=1000.0)
    for node in world.nodes:
        node.refuses = True
    start = world.clock.time
    with pytest.raises(KafkaTimeoutError, match=r"orders.*b\d\.test:9092"):
        world.wait_for("orders", within_s=10.0)
    assert world.clock.time == pytest.approx(start + 10.0)


def test_unreachable_bootstrap_servers_are_reported_before_five_seconds() -> None:
    world = World()
    for node in world.nodes:
        node.refuses = True
    start = world.clock.time
    with pytest.raises(KafkaConnectionError, match=r"b0\.test:9092"):
        world.wait_for("orders")
    assert world.clock.time - start < 5.0
    for node in world.nodes:
        node.refuses = False
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.wait_for("orders")


def test_wrong_credentials_are_reported_at_once_and_not_repeated() -> None:
    class Wrong:
        done = False

        def step(self, challenge: bytes) -> bytes:
            raise AuthenticationError("wrong password")

    world = World(security=Security(sasl_mechanism="PLAIN", sasl=lambda endpoint: Wrong()))
    for node in world.nodes:
        node.handlers[ApiKey.SASL_HANDSHAKE] = lambda request: SaslHandshakeResponse(mechanisms=["PLAIN"])
    start = world.clock.time
    with pytest.raises(AuthenticationError):
        world.wait_for("orders")
    assert world.clock.time - start < 1.0
    world.settle(60.0)
    assert sum(len(node.connects) for node in world.nodes) == 1


def test_broker_that_does_not_answer_is_passed_over() -> None:
    world = World()
    world.settle(1.0)
    for node in world.nodes:
        node.handlers[ApiKey.METADATA] = lambda request: Hang()
    world.nodes[1].handlers[ApiKey.METADATA] = world.answer
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    start = world.clock.time
    world.wait_for("orders")
    assert world.clock.time - start < 2.5


def test_broker_that_hangs_before_it_negotiates_is_passed_over() -> None:
    for seed in range(5):
        world = World(3, seed=seed)
        world.nodes[0].silent = world.nodes[1].silent = True
        world.topics["orders"] = topic_of("orders", {0: (1, 5)})
        start = world.clock.time
        world.wait_for("orders", within_s=9.0)
        assert world.clock.time - start < 5.0


def slowly(world: World, request: ServerRequest) -> After:
    return After(2.5, world.answer(request))


def test_broker_that_was_slow_once_is_asked_again_when_the_others_are_gone() -> None:
    """A broker pauses for longer than we wait for an answer, and by the time we turn to the others they have died."""
    for seed in range(5):
        world = World(2, seed=seed)
        world.topics["orders"] = topic_of("orders", {0: (1, 5)})
        world.wait_for("orders")
        world.nodes[1].refuses = True
        world.transport.break_all(world.nodes[1].endpoint)
        world.nodes[0].handlers[ApiKey.METADATA] = partial(slowly, world)
        world.metadata.request_update()
        world.settle(2.4)
        world.nodes[0].handlers[ApiKey.METADATA] = world.answer
        world.topics["orders"] = topic_of("orders", {0: (0, 6)})
        world.settle(3.0)
        assert world.metadata.cluster.leader(ORDERS) == (0, 6), f"seed {seed}"


def test_silent_bootstrap_server_is_reported_by_name_before_five_seconds() -> None:
    world = World(1)
    world.nodes[0].silent = True
    start = world.clock.time
    with pytest.raises(ConnectTimedOut, match=r"b0\.test:9092"):
        world.wait_for("orders")
    assert world.clock.time - start < 5.0


def test_update_by_others_is_merged() -> None:
    world = World()
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.wait_for("orders")
    seen: list[Cluster] = []
    world.metadata.listeners.append(seen.append)
    world.metadata.apply_leader_hints([LeaderHint(ORDERS, 0, 6)], [])
    assert world.metadata.cluster.leader(ORDERS) == (0, 6)
    news = metadata_of_members(world, topic_of("orders", {0: (1, 7)}))
    world.metadata.apply(news, world.clock.time, None)
    assert world.metadata.cluster.leader(ORDERS) == (1, 7)
    assert len(seen) == 2
    world.metadata.apply_leader_hints([LeaderHint(ORDERS, 0, 6)], [])
    assert len(seen) == 2


def metadata_of_members(world: World, *topics: MetadataResponseTopic) -> MetadataResponse:
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id, each.host, each.port) for node_id, each in world.members.items()],
        cluster_id=world.cluster_id,
        controller_id=0,
        topics=list(topics),
    )


def test_next_update_can_be_waited_for() -> None:
    world = World()
    world.settle(10.0)
    completion = world.metadata.wait_for_update(world.clock.time + 5.0)
    assert not completion.done
    world.settle(1.0)
    assert completion.result().update_count == 2


def test_withdrawn_wait_is_forgotten() -> None:
    world = World()
    completion = world.metadata.wait_for_topics(["nope"], world.clock.time + 60.0)
    completion.withdraw()
    world.settle(61.0)
    assert not completion.done


def test_closing_fails_whoever_waits() -> None:
    world = World()
    completion = world.metadata.wait_for_topics(["nope"], world.clock.time + 60.0)
    world.engine.stop()
    assert isinstance(completion.error, ClientClosed)


def test_topic_nobody_uses_is_forgotten() -> None:
    world = World(topic_idle_s=60.0, max_age_s=30.0)
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.wait_for("orders")
    world.settle(100.0)
    assert "orders" not in world.metadata.cluster.topics


def test_topic_asked_for_before_the_first_poll_is_not_old() -> None:
    world = World(topic_idle_s=60.0)
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.metadata.add_topics(["orders"])
    world.settle(50.0)
    world.metadata.request_update()
    world.settle(5.0)
    assert "orders" in world.metadata.cluster.topics


def test_slow_answer_does_not_shorten_the_patience_with_a_new_topic() -> None:
    world = World(1)
    slow = [True]

    def answer_slowly(request: ServerRequest) -> Any:
        return After(1.8, world.answer(request)) if slow[0] else world.answer(request)

    world.nodes[0].handlers[ApiKey.METADATA] = answer_slowly
    completion = world.metadata.wait_for_topics(["late"], world.clock.time + 60.0)
    world.settle(1.9)
    slow[0] = False
    world.topics["late"] = topic_of("late", {0: (0, 0)})
    world.settle(1.0)
    assert completion.result().partition_count("late") == 1


def test_all_topics_mode_sees_every_topic() -> None:
    world = World()
    world.topics = {name: topic_of(name, {0: (0, 0)}, ord(name)) for name in "abc"}
    world.metadata.all_topics = True
    world.settle(1.0)
    assert set(world.metadata.cluster.topics) == {"a", "b", "c"}
    del world.topics["b"]
    world.metadata.request_update()
    world.settle(1.0)
    assert set(world.metadata.cluster.topics) == {"a", "c"}


# ---- back to the bootstrap servers ----


def test_when_all_known_brokers_are_gone_the_bootstrap_servers_are_asked_again() -> None:
    world = World(3, bootstrap=1)
    world.members = {1: world.nodes[1].endpoint}
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.wait_for("orders")
    assert set(world.network.nodes) == {1}
    # The cluster moves: broker 1 is gone, broker 2 has its place.
    world.nodes[1].refuses = True
    world.transport.break_all(world.nodes[1].endpoint)
    world.members = {2: world.nodes[2].endpoint}
    world.topics["orders"] = topic_of("orders", {0: (2, 6)})
    world.metadata.request_update()
    world.settle(3.0)
    assert set(world.network.nodes) == {2}
    assert world.metadata.cluster.leader(ORDERS) == (2, 6)


def test_recovery_strategy_none_stays_with_the_known_brokers() -> None:
    world = World(2, bootstrap=1, rebootstrap=False)
    world.members = {1: world.nodes[1].endpoint}
    world.settle(1.0)
    world.nodes[1].refuses = True
    world.transport.break_all(world.nodes[1].endpoint)
    world.metadata.request_update()
    world.settle(30.0)
    assert set(world.network.nodes) == {1}


def test_epochs_survive_the_way_back_to_the_bootstrap_servers() -> None:
    world = World(2, bootstrap=1)
    world.members = {1: world.nodes[1].endpoint}
    world.topics["orders"] = topic_of("orders", {0: (1, 5)})
    world.wait_for("orders")
    world.nodes[1].refuses = True
    world.transport.break_all(world.nodes[1].endpoint)
    world.members = {0: world.nodes[0].endpoint}
    world.topics["orders"] = topic_of("orders", {0: (0, 4)})
    world.metadata.request_update()
    world.settle(3.0)
    assert world.metadata.cluster.leader(ORDERS) is None
    world.topics["orders"] = topic_of("orders", {0: (0, 6)})
    world.metadata.request_update()
    world.settle(2.0)
    assert world.metadata.cluster.leader(ORDERS) == (0, 6)


def test_broker_may_ask_for_a_new_bootstrap() -> None:
    world = World(2, bootstrap=1)
    world.members = {1: world.nodes[1].endpoint}
    world.settle(1.0)
    world.nodes[1].handlers[ApiKey.METADATA] = lambda request: MetadataResponse(error_code=129)
    world.members = {0: world.nodes[0].endpoint}
    world.metadata.request_update()
    world.settle(1.0)
    assert set(world.network.nodes) == {0}
    world.metadata.note_error(RebootstrapRequired())
    assert set(world.network.nodes) == {-1}


def test_long_failure_triggers_a_new_bootstrap_even_while_connected() -> None:
    world = World(2, bootstrap=1, rebootstrap_trigger_s=30.0)
    world.members = {1: world.nodes[1].endpoint}
    world.settle(1.0)
    world.nodes[1].handlers[ApiKey.METADATA] = lambda request: MetadataResponse(brokers=[])
    world.members = {0: world.nodes[0].endpoint}
    world.metadata.request_update()
    world.settle(25.0)
    assert set(world.network.nodes) == {1}
    world.settle(10.0)
    assert set(world.network.nodes) == {0}


def test_another_cluster_is_not_mixed_with_the_known_one() -> None:
    world = World(2, bootstrap=1)
    world.members = {1: world.nodes[1].endpoint}
    world.topics["orders"] = topic_of("orders", {0: (1, 500)})
    world.wait_for("orders")
    world.cluster_id = "another"
    world.topics["orders"] = topic_of("orders", {0: (1, 1)})
    views: list[Cluster] = []
    world.metadata.listeners.append(views.append)
    world.metadata.request_update()
    world.settle(1.0)
    assert not views[0].topics
    assert views[-1].cluster_id == "another"
    assert views[-1].leader(ORDERS) == (1, 1)
    assert len(world.nodes[0].connects) == 2


def test_broker_that_has_just_started_and_knows_nobody_is_asked_again() -> None:
    world = World(1)
    answers: list[Any] = [MetadataResponse(brokers=[]), MetadataResponse(brokers=[])]
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: answers.pop() if answers else world.answer(request)
    world.settle(2.0)
    assert set(world.network.nodes) == {0}


def test_senseless_answer_is_not_believed_and_asked_again() -> None:
    world = World(1)
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: answer(brokers=BROKERS_MAX + 1)
    world.settle(5.0)
    assert set(world.network.nodes) == {-1}
    assert 3 <= world.asked() <= 12
    assert isinstance(world.metadata.last_error, ProtocolError)
