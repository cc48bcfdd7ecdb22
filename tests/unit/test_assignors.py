"""Assignors under random groups: complete, disjoint, balanced, sticky, and done in bounded time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.config.tables import ASSIGNOR_NAMES
from pykclient.consumer.assignors import ASSIGNORS
from pykclient.consumer.group_members import Assignment, Member, RebalanceProtocol, Topics
from pykclient.consumer.sticky_assignor import decode_claim, encode_claim
from pykclient.types import TopicPartition
from tests.assignments import check_sound, max_spread_ok

RACKS = ("a", "b", "c")
TOPIC_NAMES = ("apple", "banana", "cherry", "damson")
EAGER = [name for name in ASSIGNOR_NAMES if name != "cooperative-sticky"]


@st.composite
def groups(draw: st.DrawFn, *, same_topics: bool | None = None) -> tuple[Topics, list[Member]]:
    racks = st.frozensets(st.sampled_from(RACKS), max_size=3) if draw(st.booleans()) else st.just(frozenset[str]())
    topics = {name: draw(st.lists(racks, max_size=7)) for name in TOPIC_NAMES if draw(st.booleans())}
    same = draw(st.booleans()) if same_topics is None else same_topics
    wishes = st.frozensets(st.sampled_from(TOPIC_NAMES), max_size=4)
    shared = draw(wishes)
    members = [
        Member(
            f"m{index}",
            shared if same else draw(wishes),
            group_instance_id=draw(st.none() | st.just(f"i{index}")),
            rack=draw(st.none() | st.sampled_from(RACKS)),
        )
        for index in range(draw(st.integers(1, 7)))
    ]
    return topics, members


@st.composite
def claims(draw: st.DrawFn, members: Sequence[Member]) -> list[Member]:
    """Any past at all, likely or not: gone partitions, claims of several members, odd generations."""
    partitions = st.builds(TopicPartition, st.sampled_from((*TOPIC_NAMES, "gone")), st.integers(-1, 9))
    told = []
    for member in members:
        owned, generation = tuple(draw(st.lists(partitions, max_size=8))), draw(st.integers(-1, 3))
        told.append(replace(member, owned=owned, generation=generation, user_data=encode_claim(owned, generation)))
    return told


def with_past(members: Sequence[Member], assignment: Assignment, generation: int) -> list[Member]:
    """The members as they join again after an assignment."""
    return [
        replace(
            member,
            owned=(owned := tuple(assignment.get(member.member_id, ()))),
            generation=generation if member.member_id in assignment else -1,
            user_data=encode_claim(owned, generation) if member.member_id in assignment else None,
        )
        for member in members
    ]


def moved(members: Sequence[Member], assignment: Assignment) -> int:
    """How many partitions their owner loses."""
    return sum(len(set(member.owned) - set(assignment[member.member_id])) for member in members)


@pytest.mark.parametrize("name", EAGER)
@settings(deadline=None)
@given(data=st.data())
def test_assignment_is_complete_disjoint_and_wanted_whatever_the_past(name: str, data: st.DataObject) -> None:
    topics, members = data.draw(groups())
    members = data.draw(claims(members))
    assignment = ASSIGNORS[name].assign(topics, members)
    check_sound(topics, members, assignment, complete=True)
    assert ASSIGNORS[name].assign(dict(sorted(topics.items())), members[::-1]) == assignment


@settings(deadline=None)
@given(data=st.data())
def test_sticky_assignment_is_balanced_whatever_the_past(data: st.DataObject) -> None:
    topics, members = data.draw(groups())
    members = data.draw(claims(members))
    assignment = ASSIGNORS["sticky"].assign(topics, members)
    assert max_spread_ok(topics, members, assignment)
    if all(member.topics == members[0].topics for member in members):
        loads = [len(partitions) for partitions in assignment.values()]
        assert max(loads) - min(loads) <= 1


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
@settings(deadline=None)
@given(group=groups())
def test_nothing_moves_when_nothing_changed(name: str, group: tuple[Topics, list[Member]]) -> None:
    topics, members = group
    # With racks a far partition is offered anew each time, as in Kafka: it may find a nearer reader.
    members = [replace(member, rack=None) for member in members]
    first = ASSIGNORS[name].assign(topics, members)
    rejoined = with_past(members, first, 1)
    assert moved(rejoined, ASSIGNORS[name].assign(topics, rejoined)) == 0


@settings(deadline=None)
@given(group=groups(same_topics=True))
def test_newcomer_takes_its_share_and_no_more(group: tuple[Topics, list[Member]]) -> None:
    topics, members = group
    topics = {name: [frozenset[str]()] * len(racks) for name, racks in topics.items()}
    first = ASSIGNORS["sticky"].assign(topics, members)
    rejoined = with_past([*members, Member("n", members[0].topics)], first, 1)
    second = ASSIGNORS["sticky"].assign(topics, rejoined)
    assert moved(rejoined, second) == len(second["n"])


@settings(deadline=None)
@given(group=groups(same_topics=True), leaver=st.integers(0, 6))
def test_only_the_leavers_partitions_move(group: tuple[Topics, list[Member]], leaver: int) -> None:
    topics, members = group
    topics = {name: [frozenset[str]()] * len(racks) for name, racks in topics.items()}
    first = ASSIGNORS["sticky"].assign(topics, members)
    stayed = [member for index, member in enumerate(members) if index != leaver % len(members)]
    rejoined = with_past(stayed, {member.member_id: first[member.member_id] for member in stayed}, 1)
    assert moved(rejoined, ASSIGNORS["sticky"].assign(topics, rejoined)) == 0


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_cooperative_rebalances_never_overlap_and_settle(data: st.DataObject) -> None:
    """Nobody is given what another honest member still holds, and after a few rounds all is assigned."""
    topics, members = data.draw(groups())
    assignor = ASSIGNORS["cooperative-sticky"]
    current: Assignment = {}
    for generation in range(1, 4):
        if generation == 2:
            _, other = data.draw(groups())
            members = [replace(member, topics=data.draw(st.sampled_from(other)).topics) for member in members]
            members.append(Member("late", data.draw(st.sampled_from(members)).topics))
        for follow_up in range(10):
            joined = with_past(members, current, generation * 10 + follow_up)
            held = {partition: member.member_id for member in joined for partition in member.owned}
            assignment = assignor.assign(topics, joined)
            check_sound(topics, joined, assignment, complete=False)
            for member_id, partitions in assignment.items():
                assert all(held.get(partition, member_id) == member_id for partition in partitions)
            settled = moved(joined, assignment) == 0
            current = assignment
            if settled:
                break
        check_sound(topics, members, current, complete=True)


@settings(deadline=None)
@given(
    st.lists(st.builds(TopicPartition, st.text(max_size=5), st.integers(0, 99)), max_size=9), st.integers(-1, 2**31 - 1)
)
def test_claims_survive_the_wire(partitions: list[TopicPartition], generation: int) -> None:
    claim = decode_claim(encode_claim(partitions, generation))
    assert sorted(claim.partitions) == sorted(partitions)
    assert claim.generation == generation


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_user_data_is_a_claim_or_none(data: bytes) -> None:
    for partition in decode_claim(data).partitions:
        assert isinstance(partition, TopicPartition)
    member = Member("m", frozenset({"apple"}), user_data=data)
    for assignor in ASSIGNORS.values():
        assert len(assignor.assign({"apple": [frozenset[str]()] * 3}, [member])["m"]) == 3


def test_static_members_keep_their_ranges_under_new_member_ids() -> None:
    topics: Topics = {"apple": [frozenset[str]()] * 5}
    wish = frozenset({"apple"})
    before = [Member("z", wish, group_instance_id="1"), Member("a", wish, group_instance_id="2")]
    after = [Member("b", wish, group_instance_id="1"), Member("y", wish, group_instance_id="2")]
    for name in ("range", "roundrobin"):
        first, second = ASSIGNORS[name].assign(topics, before), ASSIGNORS[name].assign(topics, after)
        assert (first["z"], first["a"]) == (second["b"], second["y"])


def test_range_reads_nearby_and_keeps_topics_in_step() -> None:
    racks = [frozenset({"a"}), frozenset({"b"}), frozenset({"c"})]
    wish = frozenset({"apple", "banana"})
    members = [Member(f"m{rack}", wish, rack=rack) for rack in ("c", "b", "a")]
    assignment = ASSIGNORS["range"].assign({"apple": racks, "banana": racks}, members)
    for member in members:
        assert member.rack is not None
        number = "abc".index(member.rack)
        assert assignment[member.member_id] == [TopicPartition("apple", number), TopicPartition("banana", number)]


def test_names_are_those_the_configuration_knows() -> None:
    assert tuple(ASSIGNORS) == ASSIGNOR_NAMES
    assert ASSIGNORS["cooperative-sticky"].protocols[0] is RebalanceProtocol.COOPERATIVE
    for assignor in ASSIGNORS.values():
        assert assignor.assign({}, []) == {}


@pytest.mark.parametrize("name", ASSIGNOR_NAMES)
@pytest.mark.parametrize("same", [True, False])
def test_large_groups_are_assigned_in_bounded_time(name: str, same: bool) -> None:
    """200 members, 2,000 partitions, a past that fits nobody any more: seconds would stall the whole group."""
    topics: Topics = {f"t{number:02}": [frozenset[str]()] * 100 for number in range(20)}
    names = sorted(topics)
    members = [
        Member(f"m{index:03}", frozenset(names if same else names[index % 10 : index % 10 + 10]))
        for index in range(200)
    ]
    first = ASSIGNORS[name].assign(topics, members[:20])
    joined = with_past(members, first, 1)
    start = time.perf_counter()
    assignment = ASSIGNORS[name].assign(topics, joined)
    assert time.perf_counter() - start < 5
    check_sound(topics, joined, assignment, complete=name != "cooperative-sticky")
