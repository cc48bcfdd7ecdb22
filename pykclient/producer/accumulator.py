"""RecordAccumulator: where records wait, batch by batch and partition by partition, until the Sender takes them.

One of the three doors: ``append`` is called by user threads, the rest by the Sender (the reactor thread), all under
this file's one lock, which is never held while anything waits or calls out. Decides what is ready and in which order it
leaves; knows nothing of sockets or requests. Longer than most modules because whoever appends and whoever drains meet
under one lock, and its rules are read best in one place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pykclient.errors import BufferExhausted, ClientClosed, RecordTooLarge
from pykclient.net.transport import Clock
from pykclient.producer.batch import Delivery, ProducerBatch, RecordFuture
from pykclient.producer.buffer_pool import BufferPool, Waiter
from pykclient.producer.partitioners import Partitions, Random, StickyPartition
from pykclient.producer.queues import (
    AccumulatorSettings,
    Leaders,
    PartitionQueue,
    Ready,
    Sequencer,
    TopicQueues,
    precedes,
    settled,
)
from pykclient.protocol import accel, batch_builder
from pykclient.types import RecordMetadata, TopicPartition

if TYPE_CHECKING:
    from pykclient.protocol.columns import EncodedRows

Callback = Callable[["RecordMetadata | None", "Exception | None"], None]
_append = accel.active.append_to

# A compressed batch may take this many standard buffers before compression; beyond, the gain in size no longer pays for
# the wait.
_MAX_STANDARD_BUFFERS = 8


class RecordAccumulator:
    """Batches under construction, batches that wait, and the memory they use."""

    def __init__(
        self,
        settings: AccumulatorSettings,
        *,
        clock: Clock,
        random: Random,
        wake_sender: Callable[[], None],
        sequencer: Sequencer | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._random = random
        self._wake_sender = wake_sender
        self._sequencer = sequencer
        self.lock = self._lock = threading.Lock()
        """For ``append_direct``, which needs it where it is not native."""
        self._changed = threading.Condition(self._lock)  # a batch was delivered or failed
        self._observers = 0  # threads that wait on _changed
        self._pool = BufferPool(settings.buffer_bytes, settings.batch_bytes)
        self._topics: dict[str, TopicQueues] = {}
        self._incomplete: dict[ProducerBatch, None] = {}  # in order of creation
        self._flushes = 0
        self._flush_watchers: list[tuple[list[ProducerBatch], Callable[[], object]]] = []
        self._closed: Exception | None = None
        self._look_at = float("inf")  # when the Sender looks again at the latest, if nothing wakes it
        self._drain_start: dict[int, int] = {}
        self._node_wait: dict[int, tuple[float, float]] = {}  # node -> (last ready, last drained)

    # ---- user threads ------------------------------------------------------------------------------------------------

    def topic(self, topic: str, partitions: Partitions) -> TopicQueues:
        """The topic's queues, with the partitions as they are known now."""
        with self._lock:
            queues = self._topics.get(topic)
            if queues is None:
                sticky = StickyPartition(self._settings.batch_bytes, self._random)
                queues = self._topics[topic] = TopicQueues(topic, partitions, sticky)
            else:
                queues.partitions = partitions
            if len(queues.lane) != partitions.count + 1:
                # A new list: the length of the old one is what those who hold it choose partitions by.
                queues.lane = (queues.lane + [None] * (partitions.count + 1))[: partitions.count + 1]
            return queues

    def append(
        self,
        topic: TopicQueues,
        partition: int | None,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
        callback: Callback | None,
        deadline: float | None = None,
    ) -> RecordFuture:
        """Add a record to its partition's open batch, or to a new one; waits for memory until ``deadline`` (monotonic
        seconds).

        ``partition`` None means the topic's sticky partition; ``deadline`` None means max_block from when waiting
        begins.
        """
        with self._lock:
            # What follows is _try_append without its calls: this is where nearly every record goes.
            if self._closed is None:
                queue = topic.queues.get(topic.sticky.current if partition is None else partition)
                if queue is not None and queue.batches:
                    future = _append(RecordFuture, queue.batches[-1], timestamp, key, value, headers, callback)
                    if future is not None:
                        return future
            future = self._try_append(topic, partition, timestamp, key, value, headers, callback)
            if future is not None:
                return future
            size = self._buffer_size(topic, key, value, headers)
            buffer = self._pool.try_allocate(size)
            if buffer is not None:
                return self._append_to_new(topic, partition, buffer, timestamp, key, value, headers, callback)
            granted = threading.Event()
            waiter = self._pool.join(size, granted.set)
        self._wake_sender()  # memory is short: whatever waits for its linger time may go now
        self._wait_for_memory(waiter, granted, deadline)
        return self.append_granted(waiter, topic, partition, timestamp, key, value, headers, callback)

    def append_or_join(
        self,
        wake: Callable[[], object],
        topic: TopicQueues,
        partition: int | None,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
        callback: Callback | None,
    ) -> RecordFuture | Waiter:
        """As ``append`` for those who must not wait: a place in the queue for memory, when there is none. ``wake`` is
        called when the place has come up: then ``append_granted``; whoever gives up instead calls ``leave``."""
        with self._lock:
            future = self._try_append(topic, partition, timestamp, key, value, headers, callback)
            if future is not None:
                return future
            size = self._buffer_size(topic, key, value, headers)
            buffer = self._pool.try_allocate(size)
            if buffer is not None:
                return self._append_to_new(topic, partition, buffer, timestamp, key, value, headers, callback)
            waiter = self._pool.join(size, wake)
        self._wake_sender()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Give up a place in the queue for memory."""
        with self._lock:
            self._pool.leave(waiter)

    def append_granted(
        self,
        waiter: Waiter,
        topic: TopicQueues,
        partition: int | None,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
        callback: Callback | None,
    ) -> RecordFuture:
        """The memory that was waited for has come: append with it."""
        with self._lock:
            if waiter.buffer is None:  # woken by close()
                self._pool.leave(waiter)
                assert self._closed is not None, "woken without memory"
                raise self._closed
            buffer, waiter.buffer = waiter.buffer, None
            # Others may have opened a batch meanwhile: fill that one first, or batches get small under pressure.
            future = self._try_append(topic, partition, timestamp, key, value, headers, callback, give_back=buffer)
            if future is not None:
                self._pool.release(buffer)
                return future
            return self._append_to_new(topic, partition, buffer, timestamp, key, value, headers, callback)

    def draw_sticky(self, topic: TopicQueues, size: int) -> int:
        """The topic's sticky partition, for ``size`` bytes of rows."""
        with self._lock:
            partition = topic.sticky.choose(topic.partitions)
            topic.sticky.appended(size, topic.partitions, batch_ready=True)
            return partition

    def append_rows(self, topic: TopicQueues, partition: int, rows: EncodedRows) -> ProducerBatch:
        """Queue rows that are encoded already (behind room for a header) as a batch of their own, behind what is there;
        waits for memory like ``append``."""
        section, row_count, base_timestamp, max_timestamp = rows
        batch_builder.fill(section, row_count, base_timestamp, max_timestamp)
        size = len(section)
        granted = threading.Event()
        with self._lock:
            if self._closed is not None:
                raise self._closed
            waiter = self._pool.join(size, granted.set, section)
        if waiter.buffer is None:
            self._wake_sender()
        self._wait_for_memory(waiter, granted, None)
        with self._lock:
            assert waiter.buffer is not None
            buffer, waiter.buffer = waiter.buffer, None
            queue = topic.queue(partition)
            if queue.batches:
                queue.batches[-1].open = False  # records sent later must not overtake these rows
            batch = ProducerBatch(queue.topic_partition, buffer, size, self._clock.now(), self, row_count, False)
            batch.exclusive = size != self._pool.poolable_bytes
            queue.batches.append(batch)
            self._incomplete[batch] = None
            held = queue.held
        if not held:
            self._wake_sender()
        return batch

    def _try_append(
        self,
        topic: TopicQueues,
        partition: int | None,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
        callback: Callback | None,
        give_back: bytearray | None = None,
    ) -> RecordFuture | None:
        if self._closed is not None:
            if give_back is not None:
                self._pool.release(give_back)
            raise self._closed
        queue = topic.queue(topic.sticky.choose(topic.partitions) if partition is None else partition)
        if not queue.batches:
            return None
        batch = queue.batches[-1]
        future = _append(RecordFuture, batch, timestamp, key, value, headers, callback)
        if future is None:
            batch.open = False
        return future

    def _append_to_new(
        self,
        topic: TopicQueues,
        partition: int | None,
        buffer: bytearray,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
        callback: Callback | None,
    ) -> RecordFuture:
        """Open a batch in ``buffer`` with this record in it. A sticky partition that has had its share moves first."""
        sticky = partition is None
        if partition is None:
            previous = topic.queue(topic.sticky.choose(topic.partitions)).batches
            filled = previous[-1].size_bytes if previous else self._settings.batch_bytes
            if topic.sticky.appended(filled, topic.partitions, batch_ready=True):
                future = self._try_append(topic, None, timestamp, key, value, headers, callback, give_back=buffer)
                if future is not None:
                    self._pool.release(buffer)
                    return future
            partition = topic.sticky.current
        queue = topic.queue(partition)
        batch_builder.begin(buffer)
        batch = ProducerBatch(queue.topic_partition, buffer, len(buffer), self._clock.now(), self)
        future = _append(RecordFuture, batch, timestamp, key, value, headers, callback)
        assert future is not None, "a buffer made for the record does not hold it"
        if sticky:
            topic.lane[0] = batch
        if partition + 1 < len(topic.lane):
            topic.lane[partition + 1] = batch
        queue.batches.append(batch)
        self._incomplete[batch] = None
        # The Sender must learn of the full batch before this one, or of this one if it would look too late.
        if not queue.held and (
            len(queue.batches) > 1 or batch.created_at + self._settings.linger_s < self._look_at or self._urgent()
        ):
            self._wake_sender()
        return future

    def _buffer_size(
        self,
        topic: TopicQueues,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] | None,
    ) -> int:
        """One standard buffer; several when the topic's records compress well; the record's own size when it is bigger
        than that."""
        standard = self._settings.batch_bytes
        if self._settings.compressed:
            fit = int(1 / max(topic.compression_ratio * 1.05, 1 / _MAX_STANDARD_BUFFERS))
            standard *= max(1, min(fit, _MAX_STANDARD_BUFFERS, self._pool.total_bytes // (4 * standard) or 1))
        own = batch_builder.size_upper_bound(key, value, headers)
        size = max(standard, own)
        if size > self._pool.total_bytes:
            if own > self._pool.total_bytes:
                raise RecordTooLarge(
                    f"the record takes {own} bytes, more than all of buffer_memory "
                    f"({self._pool.total_bytes}); raise buffer_memory"
                )
            size = self._pool.total_bytes
        return size

    def _wait_for_memory(self, waiter: Waiter, granted: threading.Event, deadline: float | None) -> None:
        if deadline is None:
            deadline = self._clock.now() + self._settings.max_block_s
        try:
            while not granted.wait(min(max(0.0, deadline - self._clock.now()), threading.TIMEOUT_MAX)):
                if self._clock.now() >= deadline:
                    break
        except BaseException:  # Ctrl-C while waiting: the place in the queue must not leak
            with self._lock:
                self._pool.leave(waiter)
            raise
        with self._lock:
            if waiter.buffer is not None and self._closed is None:
                return
            held = self._pool.total_bytes - self._pool.available_bytes
            self._pool.leave(waiter)
            if self._closed is not None:
                raise self._closed
        raise BufferExhausted(
            f"no room for {waiter.size} bytes within max_block_ms: {held} of buffer_memory {self._pool.total_bytes} "
            "bytes wait for delivery; the brokers are slower than this producer, or away",
            buffered=held,
            limit=self._pool.total_bytes,
        )

    def add_callback(self, future: RecordFuture, callback: Callback) -> bool:
        """Tell ``callback`` when the future's batch is done; False when it is done already."""
        with self._lock:
            batch, index = future.batch.at(future.index)
            if batch.delivery is not None:
                return False
            batch.add_callback(index, callback, future)
            return True

    def wait_until(self, condition: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait until ``condition()`` holds, looking again whenever a batch is done; False when out of time."""
        with self._changed:
            self._observers += 1
            try:
                return self._changed.wait_for(condition, timeout_s)
            finally:
                self._observers -= 1

    def flush(self, timeout_s: float | None) -> int:
        """Send all that was appended before this call without lingering and wait for it; gives the number of records
        still not done."""
        with self._lock:
            self._flushes += 1
            waiting_for = list(self._incomplete)
        self._wake_sender()
        left = waiting_for[::-1]

        def done() -> bool:
            # Asked once per answer: what is settled is not looked at again, or a flush would cost the square of it.
            while left and settled(left[-1]):
                left.pop()
            return not left

        try:
            self.wait_until(done, timeout_s)
        finally:
            with self._lock:
                self._flushes -= 1
        return sum(batch.record_count for batch in waiting_for if not settled(batch))

    def flush_soon(self, done: Callable[[], object]) -> Callable[[], int]:
        """As ``flush`` for those who must not wait: ``done`` is called, on the Sender thread or here, when all is
        settled. Gives a function that counts the records that are not."""
        with self._lock:
            waiting_for = list(self._incomplete)
            if waiting_for:
                self._flushes += 1
                self._flush_watchers.append((waiting_for, done))
        self._wake_sender()
        if not waiting_for:
            done()
        return lambda: sum(batch.record_count for batch in waiting_for if not settled(batch))

    def _notify_flushed(self) -> None:
        """Under the lock: tell those whose batches are all settled."""
        still = []
        for waiting_for, done in self._flush_watchers:
            if all(map(settled, waiting_for)):
                self._flushes -= 1
                done()
            else:
                still.append((waiting_for, done))
        self._flush_watchers = still

    # ---- the Sender --------------------------------------------------------------------------------------------------

    @property
    def available_bytes(self) -> int:
        """Memory that nobody holds."""
        with self._lock:
            return self._pool.available_bytes

    @property
    def waiting_threads(self) -> int:
        """Appends that wait for memory."""
        return self._pool.waiting

    @property
    def incomplete_records(self) -> int:
        """Records that were appended and have no outcome yet."""
        with self._lock:
            return sum(batch.record_count for batch in self._incomplete)

    @property
    def has_incomplete(self) -> bool:
        """Whether any batch has no outcome yet."""
        return bool(self._incomplete)

    def backoff_s(self, attempts: int) -> float:
        """How long a batch waits after its ``attempts``-th failure: doubling, up to the maximum, with up to a fifth of
        jitter."""
        if attempts == 0:
            return 0.0
        exponential = self._settings.retry_backoff_s * float(2 ** min(attempts - 1, 30))
        jitter = 0.8 + 0.4 * self._random.getrandbits(16) / 65536
        return min(exponential, self._settings.retry_backoff_max_s) * jitter

    def ready(self, leaders: Leaders, now: float, full: Container[int] = ()) -> Ready:
        """Which nodes have sendable batches. ``full`` are those that take no more requests before they answer."""
        nodes: set[int] = set()
        leaderless: set[str] = set()
        wake_at = float("inf")
        with self._lock:
            urgent = self._urgent()
            for topic in self._topics.values():
                queue_sizes: dict[int, int] = {}
                for queue in topic.queues.values():
                    leader = leaders.leader(queue.topic_partition)
                    queue.held = leader is not None and leader[0] in full
                    if leader is not None and not self._is_slow(leader[0]):
                        queue_sizes[queue.topic_partition.partition] = len(queue.batches)
                    if not queue.batches:
                        continue
                    if leader is None:
                        leaderless.add(topic.topic)
                    elif not queue.muted:
                        due_at = self._due_at(queue, leader[1], urgent)
                        if due_at <= now:
                            nodes.add(leader[0])
                        elif due_at < wake_at:
                            wake_at = due_at
                self._update_load(topic, queue_sizes)
            self._look_at = wake_at
            return Ready(nodes, wake_at, leaderless, self._next_deadline())

    def _urgent(self) -> bool:
        """Nothing lingers."""
        return bool(
            self._flushes
            or self._pool.waiting
            or self._closed is not None
            or (self._sequencer is not None and self._sequencer.completing)
        )

    def _update_load(self, topic: TopicQueues, queue_sizes: dict[int, int]) -> None:
        # Until every partition has been used once, an even draw is the only fair one: unused partitions have no queue
        # to compare.
        known = self._settings.adaptive and len(topic.queues) >= topic.partitions.count
        topic.sticky.update_load(queue_sizes if known else None)

    def _is_slow(self, node_id: int) -> bool:
        limit = self._settings.availability_timeout_s
        ready_at, drained_at = self._node_wait.get(node_id, (0.0, 0.0))
        return limit > 0 and ready_at - drained_at > limit

    def note_node(self, node_id: int, now: float, *, drained: bool) -> None:
        """The node had records ready at ``now`` and could, or could not, take them
        (partitioner.availability.timeout.ms)."""
        _, drained_at = self._node_wait.get(node_id, (now, now))
        self._node_wait[node_id] = (now, now if drained else drained_at)

    def _due_at(self, queue: PartitionQueue, leader_epoch: int, urgent: bool) -> float:
        """When the first batch may leave: after its back-off, else when full, urgent or lingered enough. A new leader
        ends the back-off."""
        batch = queue.batches[0]
        if batch.attempts > 0:
            if leader_epoch != queue.last_leader_epoch and queue.last_leader_epoch >= 0 and leader_epoch >= 0:
                return 0.0
            return batch.retry_at
        if urgent or len(queue.batches) > 1 or not batch.open:
            return 0.0
        return batch.created_at + self._settings.linger_s

    def drain(
        self, leaders: Leaders, rooms: Mapping[int, int], now: float, request_bytes_max: int
    ) -> tuple[list[tuple[int, list[ProducerBatch]]], float]:
        """Fill requests for nodes that are ready, up to ``rooms[node]`` each: one batch per partition and request, up
        to ``request_bytes_max``. Gives (node, batches) in order, and when what is left is due."""
        requests: list[tuple[int, list[ProducerBatch]]] = []
        full: set[int] = set()
        wake_at = float("inf")
        with self._lock:
            urgent = self._urgent()
            for node_id, room in rooms.items():
                for number in range(room):
                    queues = self._queues_of(leaders, node_id)
                    # What made the node ready lets its other partitions go along, as in Java; a further request needs
                    # a reason of its own.
                    if number and not any(not q.muted and self._due_at(q, epoch, urgent) <= now for q, epoch in queues):
                        break
                    batches = self._take(node_id, queues, now, request_bytes_max)
                    if not batches:
                        break
                    requests.append((node_id, batches))
                else:
                    full.add(node_id)
            for topic in self._topics.values():
                for queue in topic.queues.values():
                    leader = leaders.leader(queue.topic_partition)
                    if leader is None:
                        continue
                    queue.held = queue.held or leader[0] in full
                    if queue.batches and not queue.muted:
                        due_at = self._due_at(queue, leader[1], urgent)
                        if now < due_at < wake_at:
                            wake_at = due_at
            self._look_at = wake_at
        return requests, wake_at

    def _queues_of(self, leaders: Leaders, node_id: int) -> list[tuple[PartitionQueue, int]]:
        """The queues with batches for this node, with their leader epochs."""
        return [
            (queue, leader[1])
            for topic in self._topics.values()
            for queue in topic.queues.values()
            if queue.batches and (leader := leaders.leader(queue.topic_partition)) is not None and leader[0] == node_id
        ]

    def _take(
        self, node_id: int, queues: Sequence[tuple[PartitionQueue, int]], now: float, request_bytes_max: int
    ) -> list[ProducerBatch]:
        """The batches of one request, starting at another partition each time."""
        taken: list[ProducerBatch] = []
        if not queues:
            return taken
        start = self._drain_start.get(node_id, 0) % len(queues)
        size = 0
        for index in range(start, start + len(queues)):
            queue, leader_epoch = queues[index % len(queues)]
            if queue.muted or self._due_at(queue, leader_epoch, True) > now:
                continue
            batch = queue.batches[0]
            if self._sequencer is not None and not self._sequencer.may_drain(batch):
                continue
            batch.open = False  # first of all: appends may need no lock, but from here on its numbers hold
            batch_bytes = batch.size_bytes
            if taken and size + batch_bytes > request_bytes_max:
                self._drain_start[node_id] = index
                break
            if self._sequencer is not None:
                self._sequencer.assign(batch)
            queue.batches.popleft()
            queue.last_leader_epoch = leader_epoch
            batch.in_flight = True
            batch.drained_at = now
            size += batch_bytes
            taken.append(batch)
        else:
            self._drain_start[node_id] = start + 1
        return taken

    def mute(self, topic_partition: TopicPartition, muted: bool) -> None:
        """Hold a partition back while a request is in flight, when only one may be (order without idempotence)."""
        topic = self._topics.get(topic_partition.topic)
        if topic is not None:
            topic.queue(topic_partition.partition).muted = muted

    def reenqueue(self, batch: ProducerBatch, now: float) -> None:
        """Put a batch back after a failed attempt: in sequence order when it has a sequence, else at the front."""
        with self._lock:
            batch.attempts += 1
            batch.last_attempt_at = now
            batch.retry_at = now + self.backoff_s(batch.attempts)
            batch.in_flight = False
            self._insert(batch)

    def _insert(self, batch: ProducerBatch) -> None:
        queue = self._topics[batch.topic_partition.topic].queue(batch.topic_partition.partition)
        position = 0
        if batch.has_sequence:
            while position < len(queue.batches) and precedes(queue.batches[position], batch):
                position += 1
        queue.batches.insert(position, batch)

    def replace(self, batch: ProducerBatch, parts: Sequence[tuple[int, ProducerBatch]]) -> None:
        """A batch was split: its parts, (first index, batch) in order, take its place in front and its callbacks."""
        with self._lock:
            for _, part in reversed(parts):
                self._incomplete[part] = None
                self._insert(part)
            batch.children = list(parts)
            batch.accumulator = None
            for index, callback, future in batch.callbacks or ():
                target, target_index = batch.at(index)
                target.add_callback(target_index, callback, future)
            batch.callbacks = None
            self._incomplete.pop(batch, None)
            self._give_back(batch)  # not straight to the pool: a part that is split again was never taken from it

    def allocate_for_split(self, size: int) -> bytearray:
        """Memory for a part. It may exceed the budget for a moment rather than wait: the Sender must never wait for
        itself."""
        return bytearray(size)

    def expire(self, now: float) -> list[ProducerBatch]:
        """Take out the queued batches that are past delivery.timeout.ms, oldest first."""
        expired: list[ProducerBatch] = []
        with self._lock:
            for topic in self._topics.values():
                for queue in topic.queues.values():
                    while queue.batches and self.deadline(queue.batches[0]) <= now:
                        batch = queue.batches.popleft()
                        batch.open = False
                        expired.append(batch)
        return expired

    def deadline(self, batch: ProducerBatch) -> float:
        """When delivery.timeout.ms ends for the batch."""
        return batch.created_at + self._settings.delivery_timeout_s

    def next_deadline(self) -> float:
        """When the oldest incomplete batch expires."""
        with self._lock:
            return self._next_deadline()

    def _next_deadline(self) -> float:
        for oldest in self._incomplete:
            return self.deadline(oldest)
        return float("inf")

    def incomplete(self) -> list[ProducerBatch]:
        """All batches with no outcome yet, oldest first."""
        with self._lock:
            return list(self._incomplete)

    def undrained(self) -> list[ProducerBatch]:
        """Take out every batch that is queued and not in flight (a transaction is being aborted, the producer is being
        closed)."""
        taken: list[ProducerBatch] = []
        with self._lock:
            for topic in self._topics.values():
                for queue in topic.queues.values():
                    while queue.batches:
                        batch = queue.batches.popleft()
                        batch.open = False
                        taken.append(batch)
        return taken

    def settle(self, batch: ProducerBatch, delivery: Delivery) -> list[tuple[int, Callback, RecordFuture]]:
        """The batch has its outcome: wake those who wait, give its memory back. Gives the callbacks, for the Sender to
        run with no lock held.

        A batch that is still on the wire keeps its buffer until ``release``: it may yet be sent again from it.
        """
        return next((callbacks for _, _, callbacks in self.settle_all([(batch, delivery)])), [])

    def settle_all(
        self, outcomes: Iterable[tuple[ProducerBatch, Delivery]]
    ) -> list[tuple[ProducerBatch, Delivery, list[tuple[int, Callback, RecordFuture]]]]:
        """As ``settle`` for all batches of an answer: those who wait are woken once. Gives those with callbacks."""
        to_tell = []
        with self._lock:
            for batch, delivery in outcomes:
                if batch.delivery is not None:
                    continue
                batch.delivery = delivery
                batch.accumulator = None
                self._incomplete.pop(batch, None)
                if not batch.in_flight:
                    self._give_back(batch)
                if batch.callbacks:
                    to_tell.append((batch, delivery, batch.callbacks))
                batch.callbacks = None
            if self._observers:
                self._changed.notify_all()
            if self._flush_watchers:
                self._notify_flushed()
        return to_tell

    def release(self, batch: ProducerBatch) -> None:
        """A settled batch is no longer in flight."""
        with self._lock:
            batch.in_flight = False
            if batch.delivery is not None:
                self._give_back(batch)

    def _give_back(self, batch: ProducerBatch) -> None:
        buffer, batch.buffer = batch.buffer, _NOTHING
        batch.sealed = None
        if buffer is not _NOTHING and batch.pooled:
            self._pool.release(buffer)

    def note_compression(self, topic: str, ratio: float) -> None:
        """A batch was compressed to ``ratio`` of its size. Worse news is believed at once, better news slowly."""
        queues = self._topics.get(topic)
        if queues is not None:
            if ratio > queues.compression_ratio:
                queues.compression_ratio = min(1.0, max(ratio, queues.compression_ratio + 0.05))
            else:
                queues.compression_ratio = max(ratio, queues.compression_ratio - 0.005)

    def reset_compression(self, topic: str) -> None:
        """A batch came out too large: assume that nothing compresses until shown otherwise."""
        self._topics[topic].compression_ratio = 1.0

    def close(self, error: Exception | None = None) -> None:
        """No more appends; those that wait for memory get the error now."""
        with self._lock:
            self._closed = error or ClientClosed("the producer is closed")
            for batch in self._incomplete:
                batch.open = False  # send() looks no further than at the open batch
            waiters = self._pool.waiters()
        for waiter in waiters:
            waiter.wake()


_NOTHING = bytearray()
