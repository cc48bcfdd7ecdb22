"""The client's half of a fetch session (KIP-227): after one full fetch, only what changed is sent to a broker.

One per leader, owned by the fetcher on the reactor thread. Pure: given what we want to read now, it says what to put
into the request; given the answer, it keeps or drops the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from pykclient.types import TopicPartition

EPOCH_MAX = 0x7FFFFFFF
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
FETCH_VERSION_WITH_EPOCH = 12


class Wanted(NamedTuple):
    """What to read of one partition."""

    fetch_offset: int
    bytes_max: int
    current_leader_epoch: int
    last_fetched_epoch: int
    topic_id: UUID | None


class FetchPlan(NamedTuple):
    """What goes into the next request."""

    session_id: int
    session_epoch: int
    send: dict[TopicPartition, Wanted]
    """Partitions to name: all of them in a full fetch, new and changed ones in an incremental one."""
    forget: dict[TopicPartition, UUID | None]
    """Partitions to take out of the session, with the id they were in it under."""


class FetchSession:
    """A session with one broker. ``session_id`` 0: none yet, or the broker keeps none for us."""

    def __init__(self) -> None:
        self.session_id = 0
        self._epoch = INITIAL_EPOCH
        self.partitions: dict[TopicPartition, Wanted] = {}
        """What the broker believes we want."""

    def plan(self, wanted: Mapping[TopicPartition, Wanted]) -> FetchPlan:
        """The next request for these partitions."""
        if self._epoch == INITIAL_EPOCH:
            self.partitions = dict(wanted)
            return FetchPlan(self.session_id, INITIAL_EPOCH, dict(wanted), {})
        send: dict[TopicPartition, Wanted] = {}
        forget: dict[TopicPartition, UUID | None] = {}
        for tp, known in self.partitions.items():
            now = wanted.get(tp)
            if now is None:
                forget[tp] = known.topic_id
            elif now.topic_id != known.topic_id:
                # The topic was made again: the old one must leave the session, or the broker would serve both.
                forget[tp] = known.topic_id
                send[tp] = now
            elif now != known:
                send[tp] = now
        for tp, now in wanted.items():
            if tp not in self.partitions:
                send[tp] = now
        self.partitions = dict(wanted)
        return FetchPlan(self.session_id, self._epoch, send, forget)

    def answered(self, session_id: int) -> None:
        """A good answer. With an id the session is open or goes on; id 0 means the broker has no room for one."""
        if session_id == 0:
            self.reset()
        else:
            self.session_id = session_id
            self._epoch = 1 if self._epoch >= EPOCH_MAX else self._epoch + 1

    def reset(self) -> None:
        """The session is of no more use: a full fetch comes next."""
        self.session_id = 0
        self._epoch = INITIAL_EPOCH
        self.partitions = {}

    def close_quietly(self) -> None:
        """No answer: the broker may or may not have moved on. The next fetch is full and replaces the session."""
        self._epoch = INITIAL_EPOCH


def as_of(message: FetchRequest, version: int) -> FetchRequest:
    """Brokers before Kafka 2.7 cannot be told the epoch of what was read last; they are asked about it beforehand."""
    if version < FETCH_VERSION_WITH_EPOCH:
        for topic in message.topics:
            for partition in topic.partitions:
                partition.last_fetched_epoch = -1
    return message


def named_topics(plan: FetchPlan) -> list[FetchTopic]:
    """As the request has them."""
    topics: dict[tuple[str, UUID | None], FetchTopic] = {}
    for (topic, partition), want in plan.send.items():
        row = topics.get((topic, want.topic_id))
        if row is None:
            row = topics[topic, want.topic_id] = FetchTopic(topic=topic, topic_id=want.topic_id or UUID(int=0))
        row.partitions.append(
            FetchPartition(
                partition=partition,
                current_leader_epoch=want.current_leader_epoch,
                fetch_offset=want.fetch_offset,
                last_fetched_epoch=want.last_fetched_epoch,
                partition_max_bytes=want.bytes_max,
            )
        )
    return list(topics.values())


def forgotten_topics(plan: FetchPlan) -> list[ForgottenTopic]:
    """As the request has them."""
    topics: dict[tuple[str, UUID | None], ForgottenTopic] = {}
    for (topic, partition), topic_id in plan.forget.items():
        row = topics.get((topic, topic_id))
        if row is None:
            row = topics[topic, topic_id] = ForgottenTopic(topic=topic, topic_id=topic_id or UUID(int=0))
        row.partitions.append(partition)
    return list(topics.values())


__all__ = ["FetchPlan", "FetchSession", "Wanted", "as_of", "forgotten_topics", "named_topics"]
