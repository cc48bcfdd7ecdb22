"""What the controller decides, keeps and tells."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pykclient.broker import config_changes, topic_changes
from pykclient.broker.authorizer import AclBinding, AclFilter, Operation, PatternType, Permission, ResourceType
from pykclient.broker.config_changes import Alteration, AlterOperation, ConfigResource
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.controller import Controller, ControllerLink, ControllerState
from pykclient.broker.image import NO_TOPIC_ID, BrokerImage, MetadataImage
from pykclient.broker.journal import FileJournal, MemoryJournal, snapshot
from pykclient.broker.topic_changes import Decision, TopicSpec
from pykclient.errors import ErrorCode, FatalError
from pykclient.net.scram import ScramCredential
from pykclient.net.transport import Endpoint


def a_controller(nodes: int = 1, journal: Any = None, **config: object) -> Controller:
    controller = Controller(journal=journal or MemoryJournal(), config=BrokerConfig(config), rng=random.Random(7))
    for node_id in range(1, nodes + 1):
        broker = BrokerImage(node_id, {"PLAINTEXT": Endpoint("127.0.0.1", 9000 + node_id)})
        controller.run(registration(broker))
    return controller


def registration(broker: BrokerImage) -> Callable[[ControllerState], Decision[None]]:
    return lambda state: topic_changes.register_broker(state.image, broker)


def create(controller: Controller, *specs: TopicSpec, validate_only: bool = False) -> list[topic_changes.TopicResult]:
    return controller.run(
        lambda state: topic_changes.create_topics(
            state.image, state.config, state.rng, specs, validate_only=validate_only
        )
    ).result()


def created_error(controller: Controller, spec: TopicSpec) -> ErrorCode:
    return create(controller, spec)[0].error


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (TopicSpec("ok"), ErrorCode.NONE),
        (TopicSpec("ok-2", 3, 1), ErrorCode.NONE),
        (TopicSpec("taken"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (TopicSpec("a_b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TopicSpec("zero", 0), ErrorCode.INVALID_PARTITIONS),
        (TopicSpec("negative", -2), ErrorCode.INVALID_PARTITIONS),
        (TopicSpec("many", 10_001), ErrorCode.INVALID_PARTITIONS),
        (TopicSpec("factor", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (TopicSpec("factor", 1, 2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (TopicSpec("factor", 1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (TopicSpec("config", configs={"retention.ms": "soon"}), ErrorCode.INVALID_CONFIG),
        (TopicSpec("config", configs={"retention.ms": "-2"}), ErrorCode.INVALID_CONFIG),
        (TopicSpec("config", configs={"cleanup.policy": "compact,shred"}), ErrorCode.INVALID_CONFIG),
        (TopicSpec("config", configs={"no.such": "1"}), ErrorCode.INVALID_CONFIG),
        (TopicSpec("config", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG),
        (TopicSpec("given", assignments={0: [1], 1: [2]}), ErrorCode.NONE),
        (TopicSpec("given", 2, assignments={0: [1], 1: [2]}), ErrorCode.INVALID_REQUEST),
        (TopicSpec("given", -1, 1, assignments={0: [1]}), ErrorCode.INVALID_REQUEST),
        (TopicSpec("given", assignments={0: [1], 2: [2]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (TopicSpec("given", assignments={0: []}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (TopicSpec("given", assignments={0: [9]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (TopicSpec("given", assignments={0: [1, 1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (TopicSpec("given", assignments={0: [1, 2]}), ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_what_a_new_topic_may_be(spec: TopicSpec, error: ErrorCode) -> None:
    controller = a_controller(nodes=3)
    create(controller, TopicSpec("taken"), TopicSpec("a.b"))
    result = create(controller, spec)[0]
    assert result.error == error
    assert (result.message is None) == (error == ErrorCode.NONE)
    assert (spec.name in controller.image.topics) == (error in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS))


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "/etc", "a/b", "nul\0", "x" * 250, "%2e%2e", "töpic", "a b", "new\nline", "back\\slash"],
)
def test_a_name_that_could_leave_the_data_directory_is_no_topic(name: str) -> None:
    assert created_error(a_controller(), TopicSpec(name)) == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_names_that_differ_by_case_are_two_topics() -> None:
    controller = a_controller()
    assert [r.error for r in create(controller, TopicSpec("orders"), TopicSpec("Orders"))] == [0, 0]


def test_one_bad_item_does_not_spoil_the_others_and_twins_are_both_refused() -> None:
    controller = a_controller()
    results = create(controller, TopicSpec("a"), TopicSpec("b"), TopicSpec("b"), TopicSpec("c", 0))
    assert {r.name: r.error for r in results} == {
        "a": ErrorCode.NONE,
        "b": ErrorCode.INVALID_REQUEST,
        "c": ErrorCode.INVALID_PARTITIONS,
    }
    assert set(controller.image.topics) == {"a"}


def test_validate_only_says_yes_and_does_nothing() -> None:
    controller = a_controller()
    before = controller.image.version
    assert create(controller, TopicSpec("a"), validate_only=True)[0].error == ErrorCode.NONE
    assert controller.image.topics == {}
    assert controller.image.version == before


def test_partitions_are_spread_over_the_brokers() -> None:
    controller = a_controller(nodes=3)
    create(controller, TopicSpec("t", 6))
    leaders = [p.leader for p in controller.image.topics["t"].partitions]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]
    assert all(leaders[i] != leaders[i + 1] for i in range(5))


def test_delete_by_name_and_by_id() -> None:
    controller = a_controller()
    create(controller, TopicSpec("a"), TopicSpec("b"), TopicSpec("c"))
    b_id = controller.image.topics["b"].topic_id
    targets = [("a", NO_TOPIC_ID), (None, b_id), ("no", NO_TOPIC_ID), (None, uuid.UUID(int=5)), ("a", NO_TOPIC_ID)]
    results = controller.run(lambda s: topic_changes.delete_topics(s.image, s.config, targets)).result()
    assert [(name, error) for name, _, error, _ in results] == [
        ("a", ErrorCode.NONE),
        ("b", ErrorCode.NONE),
        ("no", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
        ("a", ErrorCode.INVALID_REQUEST),
    ]
    assert set(controller.image.topics) == {"c"}
    assert b_id not in controller.image.topic_names


@pytest.mark.parametrize(
    ("count", "assignments", "error"),
    [
        (4, None, ErrorCode.NONE),
        (2, None, ErrorCode.INVALID_PARTITIONS),
        (1, None, ErrorCode.INVALID_PARTITIONS),
        (3, [[2]], ErrorCode.NONE),
        (4, [[2]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (3, [[7]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_growing_a_topic(count: int, assignments: list[list[int]] | None, error: ErrorCode) -> None:
    controller = a_controller(nodes=2)
    create(controller, TopicSpec("t", 2))
    old = controller.image.topics["t"].partitions
    result = controller.run(
        lambda s: topic_changes.create_partitions(s.image, s.rng, [("t", count, assignments)], validate_only=False)
    ).result()[0]
    assert result.error == error
    partitions = controller.image.topics["t"].partitions
    assert partitions[:2] == old
    assert len(partitions) == (count if error == ErrorCode.NONE else 2)


def test_a_broker_that_leaves_takes_its_partitions_off_line_and_brings_them_back_in_a_new_epoch() -> None:
    controller = a_controller(nodes=2)
    create(controller, TopicSpec("t", 2))
    index = next(i for i, p in enumerate(controller.image.topics["t"].partitions) if p.leader == 2)
    broker = controller.image.brokers[2]
    controller.run(lambda s: topic_changes.unregister_broker(s.image, 2))
    gone = controller.image.topics["t"].partitions[index]
    assert (gone.leader, gone.replicas) == (-1, (2,))
    assert controller.image.topics["t"].partitions[1 - index].leader == 1
    controller.run(lambda s: topic_changes.register_broker(s.image, broker))
    back = controller.image.topics["t"].partitions[index]
    assert (back.leader, back.leader_epoch) == (2, gone.leader_epoch + 1)


def test_producer_id_blocks_never_overlap_even_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "metadata.journal"
    seen: set[int] = set()
    for _ in range(3):
        journal = FileJournal(path)
        controller = a_controller(journal=journal)
        for _ in range(2):
            first, count = controller.run(lambda s: topic_changes.allocate_producer_ids(s.image)).result()
            block = set(range(first, first + count))
            assert not seen & block
            seen |= block
        controller.close()


def fill(controller: Controller) -> None:
    create(controller, TopicSpec("orders", 3, configs={"retention.ms": "1000"}), TopicSpec("gone"))
    controller.run(lambda s: topic_changes.delete_topics(s.image, s.config, [("gone", NO_TOPIC_ID)]))
    binding = AclBinding(ResourceType.TOPIC, "o", PatternType.PREFIXED, "User:a", "*", Operation.READ, Permission.ALLOW)
    controller.run(lambda s: config_changes.create_acls([binding]))
    credential = ScramCredential(b"salt", 4096, b"stored", b"server")
    controller.run(lambda s: config_changes.alter_scram(s.image, [], [("alice", 1, credential)]))
    entity = (("client-id", None), ("user", "alice"))
    controller.run(
        lambda s: config_changes.alter_quotas(s.image, [(entity, [("producer_byte_rate", 5.0)])], validate_only=False)
    )
    controller.run(
        lambda s: config_changes.alter_configs(
            s.image,
            [(ConfigResource.BROKER, "", [Alteration("log.retention.ms", AlterOperation.SET, "5")])],
            replace_all=False,
            validate_only=False,
        )
    )
    controller.run(
        lambda s: config_changes.update_features(s.image, [("transaction.version", 1, 2)], validate_only=False)
    )
    controller.run(lambda s: topic_changes.allocate_producer_ids(s.image))


def lasting(image: MetadataImage) -> list[object]:
    topics = {
        name: (t.topic_id, [p.replicas for p in t.partitions], dict(t.configs)) for name, t in image.topics.items()
    }
    return [image.cluster_id, topics, image.acls, image.scram, image.quotas, image.broker_configs, image.features,
            image.next_producer_id]  # fmt: skip


def test_everything_but_the_living_brokers_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "metadata.journal"
    controller = a_controller(journal=FileJournal(path))
    fill(controller)
    controller.close()
    again = Controller(journal=FileJournal(path), config=BrokerConfig(), rng=random.Random(8))
    assert lasting(again.image) == lasting(controller.image)
    assert again.image.features["transaction.version"] == 1
    assert again.image.brokers == {}
    assert {p.leader for p in again.image.topics["orders"].partitions} == {-1}
    again.close()


def test_a_snapshot_says_the_same_as_the_changes_that_led_to_it(tmp_path: Path) -> None:
    controller = a_controller()
    fill(controller)
    journal = MemoryJournal()
    journal.set_cluster_id(controller.image.cluster_id)
    journal.append(snapshot(controller.image))
    again = Controller(journal=journal, config=BrokerConfig(), rng=random.Random(8))
    assert lasting(again.image) == lasting(controller.image)


def test_a_long_journal_is_rewritten_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "metadata.journal"
    controller = a_controller(journal=FileJournal(path))
    fill(controller)
    controller.close()
    size = path.stat().st_size
    monkeypatch.setattr("pykclient.broker.journal.LINES_BEFORE_SNAPSHOT", 3)
    again = Controller(journal=FileJournal(path), config=BrokerConfig(), rng=random.Random(8))
    assert path.stat().st_size < size
    assert lasting(again.image) == lasting(controller.image)
    again.close()


def test_a_torn_tail_is_cut_wherever_it_tears(tmp_path: Path) -> None:
    path = tmp_path / "metadata.journal"
    controller = a_controller(journal=FileJournal(path))
    create(controller, TopicSpec("kept"))
    whole = path.stat().st_size
    create(controller, TopicSpec("torn"))
    controller.close()
    content = path.read_bytes()
    for size in range(whole + 1, len(content)):
        path.write_bytes(content[:size])
        again = Controller(journal=FileJournal(path), config=BrokerConfig(), rng=random.Random(8))
        assert set(again.image.topics) == {"kept"}
        again.close()
        assert path.stat().st_size == whole


def test_damage_before_the_tail_is_an_error_and_not_a_smaller_cluster(tmp_path: Path) -> None:
    path = tmp_path / "metadata.journal"
    controller = a_controller(journal=FileJournal(path))
    create(controller, TopicSpec("a"))
    create(controller, TopicSpec("b"))
    controller.close()
    content = bytearray(path.read_bytes())
    content[content.index(b'"a"') + 1] ^= 1
    path.write_bytes(content)
    with pytest.raises(FatalError, match="damaged"):
        FileJournal(path)


def test_the_reply_waits_until_every_live_node_has_the_image() -> None:
    controller = a_controller(nodes=2)
    delivered: dict[int, MetadataImage] = {}
    for node_id in (1, 2):
        controller.attach(node_id, partial(delivered.__setitem__, node_id))
        controller.acknowledge(node_id, controller.image.version)
    done = controller.run(
        lambda s: topic_changes.create_topics(s.image, s.config, s.rng, [TopicSpec("t")], validate_only=False)
    )
    assert set(delivered[2].topics) == {"t"}
    controller.acknowledge(1, delivered[1].version)
    assert not done.done
    controller.acknowledge(2, delivered[2].version)
    assert done.done


def test_a_node_that_dies_is_not_waited_for() -> None:
    controller = a_controller(nodes=2)
    controller.attach(2, lambda image: None)
    done = controller.run(
        lambda s: topic_changes.create_topics(s.image, s.config, s.rng, [TopicSpec("t")], validate_only=False)
    )
    assert not done.done
    controller.detach(2)
    assert done.done


def test_a_link_reports_an_operation_that_fails_to_its_waiter() -> None:
    there: list[Any] = []
    back: list[Any] = []
    link = ControllerLink(a_controller(), there.append, back.append)

    def broken(state: ControllerState) -> Decision[None]:
        raise ValueError("no")

    completion = link.run(broken)
    there.pop()()
    assert not completion.done, "completed on the node's thread only"
    back.pop()()
    assert isinstance(completion.error, ValueError)


@pytest.mark.parametrize(
    ("alteration", "error", "value"),
    [
        (Alteration("retention.ms", AlterOperation.SET, "7"), ErrorCode.NONE, ("retention.ms", "7")),
        (Alteration("retention.ms", AlterOperation.DELETE, None), ErrorCode.NONE, ("retention.ms", None)),
        (
            Alteration("cleanup.policy", AlterOperation.APPEND, "compact"),
            ErrorCode.NONE,
            ("cleanup.policy", "delete,compact"),
        ),
        (Alteration("cleanup.policy", AlterOperation.SUBTRACT, "delete"), ErrorCode.NONE, ("cleanup.policy", "")),
        (Alteration("retention.ms", AlterOperation.APPEND, "1"), ErrorCode.INVALID_CONFIG, None),
        (Alteration("retention.ms", AlterOperation.SET, "x"), ErrorCode.INVALID_CONFIG, None),
        (Alteration("retention.ms", AlterOperation.SET, None), ErrorCode.INVALID_REQUEST, None),
        (Alteration("nothing", AlterOperation.SET, "x"), ErrorCode.INVALID_CONFIG, None),
        (Alteration("cleanup.policy", 9, "x"), ErrorCode.INVALID_REQUEST, None),
    ],
)
def test_altering_a_topic(alteration: Alteration, error: ErrorCode, value: tuple[str, str | None] | None) -> None:
    controller = a_controller()
    create(controller, TopicSpec("t", configs={"retention.ms": "5"}))
    before = controller.image.topics["t"]
    resources = [(int(ConfigResource.TOPIC), "t", [alteration])]
    outcome = controller.run(
        lambda s: config_changes.alter_configs(s.image, resources, replace_all=False, validate_only=False)
    ).result()[0]
    assert outcome[0] == error
    if value is None:
        assert controller.image.topics["t"] == before
    else:
        assert controller.image.topics["t"].configs.get(value[0]) == value[1]


def test_deleting_acls_says_what_was_deleted() -> None:
    controller = a_controller()
    fill(controller)
    matched = controller.run(
        lambda s: config_changes.delete_acls(s.image, [AclFilter(principal="User:b"), AclFilter(principal="User:a")])
    ).result()
    assert [len(found) for found in matched] == [0, 1]
    assert controller.image.acls == ()


def test_deleting_a_user_that_is_not_there_is_said() -> None:
    controller = a_controller()
    fill(controller)
    outcomes = controller.run(lambda s: config_changes.alter_scram(s.image, [("alice", 1), ("nobody", 1)], [])).result()
    assert outcomes["alice"][0] == ErrorCode.NONE
    assert outcomes["nobody"][0] == ErrorCode.RESOURCE_NOT_FOUND
    assert controller.image.scram == {}


def test_a_credential_never_shows_its_keys() -> None:
    assert "stored" not in repr(ScramCredential(b"salt", 4096, b"stored", b"server"))


def test_unknown_broker_settings_are_refused_and_keyword_names_understood() -> None:
    with pytest.raises(Exception, match="Unknown config name"):
        BrokerConfig({"no.such": 1})
    assert BrokerConfig({"auto.create.topics.enable": False}).flag("auto.create.topics.enable") is False
    assert "hunter2" not in repr(BrokerConfig({"ssl.keystore.password": "hunter2"}))
