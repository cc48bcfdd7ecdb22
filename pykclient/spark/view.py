"""What the driver asks the brokers: which partitions there are, where they begin and end, what a time means.

Runs in the driver's Python processes. Retries inside: an exception in the driver ends a streaming query. Connects when
first asked, not before: readers are made on the driver and sent to the executors.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pykclient.consumer.consumer import KafkaConsumer
from pykclient.errors import AuthenticationError, KafkaError, UnknownTopicOrPartition, UsageError
from pykclient.spark.offsets import EARLIEST, LATEST, Offsets
from pykclient.spark.options import Bound, SourceOptions, consumer_settings
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)
T = TypeVar("T")

LATEST_TTL_S = 0.25
"""Spark asks an idle query about 80 times a second; the brokers are asked no more often than this."""


class KafkaView:
    """The cluster as the options see it."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._consumer: KafkaConsumer | None = None
        self._partitions: tuple[float, list[TopicPartition]] | None = None
        self._latest: tuple[float, Offsets] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_consumer": None}

    def close(self) -> None:
        """Disconnect; the next question connects again."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close(1.0)

    def _ask(self, question: Callable[[KafkaConsumer], T]) -> T:
        """Ask, and ask again with a new connection, as often as fetchOffset.numRetries says."""
        for attempt in range(self._options.retries + 1):
            try:
                if self._consumer is None:
                    self._consumer = KafkaConsumer(consumer_settings(self._options))
                return question(self._consumer)
            except KafkaError as error:
                self.close()
                final = isinstance(error, (UsageError, AuthenticationError)) or attempt == self._options.retries
                if final and not (isinstance(error, UnknownTopicOrPartition) and attempt < self._options.retries):
                    raise
                logger.warning("asking for offsets failed (%s); trying again", error)
                time.sleep(self._options.retry_interval_s)
        raise AssertionError("unreachable")

    def partitions(self, *, missing_ok: bool = False) -> list[TopicPartition]:
        """The partitions to read, as they are now. A topic that is not there is an error unless ``missing_ok``."""
        if self._partitions is not None and time.monotonic() - self._partitions[0] < self._options.metadata_ttl_s:
            return self._partitions[1]
        topics = self._ask(lambda consumer: consumer.list_topics())
        found = self._select(topics, missing_ok)
        self._partitions = (time.monotonic(), found)
        return found

    def _select(self, topics: dict[str, list[int]], missing_ok: bool) -> list[TopicPartition]:
        options = self._options
        if options.assign is not None:
            wanted = list(options.assign)
            missing = [tp for tp in wanted if tp.partition not in topics.get(tp.topic, ())]
            if missing and not missing_ok:
                raise UsageError(f"assign: there is no {', '.join(f'{tp.topic}-{tp.partition}' for tp in missing)}")
            return [tp for tp in wanted if tp not in missing]
        if options.pattern is not None:
            pattern = re.compile(options.pattern)
            names = [name for name in topics if not name.startswith("__") and pattern.fullmatch(name)]
        else:
            names = [name for name in options.subscribe or () if name in topics]
            absent = [name for name in options.subscribe or () if name not in topics]
            if absent and not missing_ok:
                raise UsageError(f"subscribe: there is no topic {', '.join(map(repr, absent))}, or no right to see it")
        return sorted(TopicPartition(name, partition) for name in names for partition in topics[name])

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """Where they begin."""
        wanted = list(partitions)
        return self._ask(lambda consumer: consumer.beginning_offsets(wanted)) if wanted else {}

    def latest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """Where they end; with read_committed, where the first open transaction begins."""
        wanted = list(partitions)
        return self._ask(lambda consumer: consumer.end_offsets(wanted)) if wanted else {}

    def latest_now(self) -> Offsets:
        """The ends of all partitions there are, at most a quarter of a second old."""
        if self._latest is None or time.monotonic() - self._latest[0] >= LATEST_TTL_S:
            self._latest = (time.monotonic(), self.latest(self.partitions(missing_ok=True)))
        return dict(self._latest[1])

    def latest_after(self, start: Offsets) -> Offsets:
        """As above, but waiting rather than giving an old answer when that one had nothing new: "nothing there" must be
        true now, or a test that waits for all rows would end too early."""
        if self._latest is not None and all(start.get(tp) == end for tp, end in self._latest[1].items()):
            time.sleep(max(0.0, self._latest[0] + LATEST_TTL_S - time.monotonic()))
        return self.latest_now()

    def forget_latest(self) -> None:
        """Ask again, now."""
        self._latest = self._partitions = None

    def at_times(self, times: dict[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """The first offset at or after each time; None where there is none."""
        if not times:
            return {}
        # 0 and other small numbers mean "from the beginning of time" to Spark; the consumer suspects seconds there.
        asked = {tp: moment for tp, moment in times.items() if moment > 100_000_000_000}
        found = self._ask(lambda consumer: consumer.offsets_for_times(asked)) if asked else {}
        early = self.earliest(tp for tp in times if tp not in asked)
        return {
            tp: early[tp] if tp in early else (None if (at := found.get(tp)) is None else at.offset) for tp in times
        }

    def resolve(self, bound: Bound, *, starting: bool) -> Offsets:
        """The offsets that an option means."""
        partitions = self.partitions()
        name = "starting" if starting else "ending"
        if bound.timestamp_ms is not None:
            return self._by_time(dict.fromkeys(partitions, bound.timestamp_ms), starting)
        if bound.timestamps is not None:
            _require_all(f"{name}OffsetsByTimestamp", bound.timestamps, partitions)
            return self._by_time(bound.timestamps, starting)
        if bound.offsets is not None:
            _require_all(f"{name}Offsets", bound.offsets, partitions)
            early = self.earliest(tp for tp, offset in bound.offsets.items() if offset == EARLIEST)
            late = self.latest(tp for tp, offset in bound.offsets.items() if offset == LATEST)
            return {**bound.offsets, **early, **late}
        return self.earliest(partitions) if bound.special == EARLIEST else self.latest(partitions)

    def _by_time(self, times: dict[TopicPartition, int], starting: bool) -> Offsets:
        found = self.at_times(times)
        unmatched = [tp for tp, offset in found.items() if offset is None]
        if unmatched and starting and not self._options.unmatched_is_latest:
            tp = unmatched[0]
            raise UsageError(
                f"no offset matched from request of topic-partition {tp.topic}-{tp.partition} and timestamp "
                f"{times[tp]}; set startingOffsetsByTimestampStrategy=latest to start at the end there"
            )
        late = self.latest(unmatched)
        return {tp: late[tp] if offset is None else offset for tp, offset in found.items()}


def _require_all(option: str, named: Offsets, partitions: list[TopicPartition]) -> None:
    if set(named) != set(partitions):
        shown = [", ".join(f"{tp.topic}-{tp.partition}" for tp in sorted(each)) for each in (named, partitions)]
        raise UsageError(
            f"if {option} contains specific partitions, all must be named. Use -1 for latest, -2 for earliest. "
            f"Specified: {shown[0]}. Assigned: {shown[1]}"
        )


__all__ = ["KafkaView"]
