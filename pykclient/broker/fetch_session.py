"""Fetch sessions (KIP-227): a consumer tells its partitions once, and later only what changed; the answer holds only
what changed too.

Owned by the broker node's thread; time is an argument, session ids come from the randomness passed in. The cache is
bounded: when it is full and nothing in it is old enough, new fetchers go without a session, which every client can do.
It must never answer for a session that it does not hold.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pykclient.errors import FetchSessionIdNotFound, FetchSessionTopicIdError, InvalidFetchSessionEpoch
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, PartitionData

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
EPOCH_MAX = 2**31 - 1
EVICTION_S = 120.0
TOPIC_IDS_FROM_VERSION = 13

PartitionKey: TypeAlias = "tuple[str | uuid.UUID, int]"
"""The topic's name, or its id where the request speaks of ids, and the partition."""


class Randomness(Protocol):
    """Where session ids come from."""

    def getrandbits(self, count: int, /) -> int:
        """A number of so many random bits."""
        ...


@dataclass(slots=True)
class FetchWish:
    """What a fetcher wants of one partition."""

    key: PartitionKey
    offset: int
    bytes_max: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1


@dataclass(slots=True)
class _Cached:
    """A partition in a session, and what the fetcher was told of it last."""

    wish: FetchWish
    high_watermark: int = -1
    log_start_offset: int = -1

    def is_news(self, data: PartitionData) -> bool:
        """Whether the answer tells more than the last one; remembers it."""
        news = (
            bool(data.records)
            or data.error_code != 0
            or data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
            or data.preferred_read_replica != -1
            or data.diverging_epoch.epoch >= 0
        )
        # An error has -1 here, so the next good answer goes out whatever the watermark is.
        self.high_watermark = data.high_watermark
        self.log_start_offset = data.log_start_offset
        return news


@dataclass(slots=True)
class FetchSession:
    """The partitions of one fetcher, in the order in which they are served: those that gave data go to the end."""

    session_id: int
    uses_topic_ids: bool
    partitions: dict[PartitionKey, _Cached]
    epoch: int
    used_at: float

    def apply(self, wishes: Iterable[FetchWish], forgotten: Iterable[PartitionKey]) -> None:
        """Take what an incremental request changes."""
        for wish in wishes:
            known = self.partitions.get(wish.key)
            if known is None:
                self.partitions[wish.key] = _Cached(wish)
            else:
                known.wish = wish
        for key in forgotten:
            self.partitions.pop(key, None)


@dataclass(slots=True)
class FetchContext:
    """One request, resolved: what to fetch, and which session the answer belongs to."""

    wishes: list[FetchWish]
    session: FetchSession | None = None
    incremental: bool = False

    @property
    def session_id(self) -> int:
        """The id for the answer."""
        return self.session.session_id if self.session is not None else NO_SESSION

    def select(self, answers: Iterable[tuple[PartitionKey, PartitionData]]) -> list[tuple[PartitionKey, PartitionData]]:
        """The answers to send: all of them, or in an incremental fetch those with news."""
        session = self.session
        if session is None:
            return list(answers)
        selected = []
        for key, data in answers:
            cached = session.partitions.get(key)
            news = cached is None or cached.is_news(data)
            if news or not self.incremental:
                selected.append((key, data))
            if cached is not None and news and self.incremental:
                session.partitions[key] = session.partitions.pop(key)
        return selected


class FetchSessionCache:
    """The sessions of one broker."""

    def __init__(self, rng: Randomness, *, slot_count: int = 1000) -> None:
        self._rng = rng
        self._slot_count = slot_count
        self._sessions: dict[int, FetchSession] = {}  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def resolve(self, request: FetchRequest, version: int, now: float) -> FetchContext:
        """What a request asks for. A session that is unknown or out of step raises the BrokerError for the whole
        answer."""
        wishes = list(_wishes(request, version))
        if version < 7 or request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            if version < 7 or request.session_epoch == FINAL_EPOCH:
                return FetchContext(wishes)
            return FetchContext(wishes, self._begin(wishes, version, now))
        session = self._sessions.get(request.session_id)
        if session is None:
            raise FetchSessionIdNotFound()
        if session.uses_topic_ids != (version >= TOPIC_IDS_FROM_VERSION):
            raise FetchSessionTopicIdError()
        if session.epoch != request.session_epoch:
            raise InvalidFetchSessionEpoch(f"Expected epoch {session.epoch}, got {request.session_epoch}")
        session.apply(wishes, _forgotten(request, version))
        session.used_at = now
        session.epoch = 1 if session.epoch == EPOCH_MAX else session.epoch + 1
        del self._sessions[session.session_id]
        if session.partitions:
            self._sessions[session.session_id] = session
        return FetchContext([cached.wish for cached in session.partitions.values()], session, incremental=True)

    def _begin(self, wishes: list[FetchWish], version: int, now: float) -> FetchSession | None:
        if not wishes or self._slot_count <= 0:
            return None
        if len(self._sessions) >= self._slot_count:
            oldest = next(iter(self._sessions.values()))
            if now - oldest.used_at < EVICTION_S:
                return None
            del self._sessions[oldest.session_id]
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = self._rng.getrandbits(31)
        partitions = {wish.key: _Cached(wish) for wish in wishes}
        session = FetchSession(session_id, version >= TOPIC_IDS_FROM_VERSION, partitions, 1, now)
        self._sessions[session_id] = session
        return session


def _wishes(request: FetchRequest, version: int) -> Iterator[FetchWish]:
    by_id = version >= TOPIC_IDS_FROM_VERSION
    for topic in request.topics:
        name: str | uuid.UUID = topic.topic_id if by_id else topic.topic
        for partition in topic.partitions:
            yield _wish(name, partition)


def _wish(name: str | uuid.UUID, partition: FetchPartition) -> FetchWish:
    return FetchWish(
        (name, partition.partition),
        partition.fetch_offset,
        partition.partition_max_bytes,
        partition.current_leader_epoch,
        partition.last_fetched_epoch,
    )


def _forgotten(request: FetchRequest, version: int) -> Iterator[PartitionKey]:
    by_id = version >= TOPIC_IDS_FROM_VERSION
    for topic in request.forgotten_topics_data:
        for partition in topic.partitions:
            yield (topic.topic_id if by_id else topic.topic), partition


__all__ = ["FetchContext", "FetchSession", "FetchSessionCache", "FetchWish", "PartitionKey", "Randomness"]
