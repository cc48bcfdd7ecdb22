"""Fetch sessions: what the broker believes we want is always what we want, whatever was sent before."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pykclient.consumer.fetch_session import EPOCH_MAX, FetchSession, Wanted
from pykclient.types import TopicPartition

PARTITIONS = st.builds(TopicPartition, st.sampled_from("ab"), st.integers(0, 2))
WANTED = st.builds(
    Wanted,
    fetch_offset=st.integers(0, 3),
    bytes_max=st.just(100),
    current_leader_epoch=st.integers(0, 1),
    last_fetched_epoch=st.integers(-1, 1),
    topic_id=st.sampled_from([UUID(int=1), UUID(int=2)]),
)


class Sessions(RuleBasedStateMachine):
    """The broker's half, by the rules of KIP-227, beside the client's."""

    def __init__(self) -> None:
        super().__init__()
        self.client = FetchSession()
        self.broker: dict[tuple[TopicPartition, UUID | None], Wanted] = {}
        self.broker_id = 0
        self.broker_epoch = 0
        self.next_id = 1
        self.wanted: dict[TopicPartition, Wanted] = {}
        self.in_step = False

    @rule(
        wanted=st.dictionaries(PARTITIONS, WANTED, max_size=4),
        fate=st.sampled_from(["kept", "kept", "kept", "lost", "evicted", "full"]),
    )
    def fetch(self, wanted: dict[TopicPartition, Wanted], fate: str) -> None:
        self.in_step = False
        plan = self.client.plan(wanted)
        self.wanted = wanted
        if plan.session_epoch == 0:
            assert plan.send == wanted
            assert not plan.forget
            if plan.session_id == self.broker_id:
                self.broker_id = 0
            self.broker = {(tp, want.topic_id): want for tp, want in wanted.items()}
            if fate == "full":
                self.client.answered(0)
                return
            if self.broker_id == 0:
                self.broker_id, self.next_id = self.next_id, self.next_id + 1
            self.broker_epoch = 1
        elif fate == "evicted" or (plan.session_id, plan.session_epoch) != (self.broker_id, self.broker_epoch):
            self.broker_id = 0
            self.client.reset()
            return
        else:
            for tp, topic_id in plan.forget.items():
                assert self.broker.pop((tp, topic_id), None) is not None, "only what it knows is forgotten"
            for tp, want in plan.send.items():
                self.broker[tp, want.topic_id] = want
            self.broker_epoch += 1
        if fate == "lost":
            self.client.close_quietly()
            return
        self.client.answered(self.broker_id)
        self.in_step = True

    @invariant()
    def the_broker_reads_what_we_want(self) -> None:
        if self.in_step:
            assert self.broker == {(tp, want.topic_id): want for tp, want in self.wanted.items()}


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)


def test_an_unchanged_wish_is_not_repeated() -> None:
    session = FetchSession()
    wish = {TopicPartition("a", 0): Wanted(5, 100, 0, -1, UUID(int=1))}
    assert session.plan(wish).send == wish
    session.answered(9)
    again = session.plan(wish)
    assert (again.session_id, again.session_epoch, again.send, again.forget) == (9, 1, {}, {})


@given(st.just(EPOCH_MAX))
def test_the_epoch_starts_again_at_one_after_its_end(last: int) -> None:
    session = FetchSession()
    session.plan({})
    session.answered(3)
    session._epoch = last
    session.answered(3)
    assert session.plan({}).session_epoch == 1
