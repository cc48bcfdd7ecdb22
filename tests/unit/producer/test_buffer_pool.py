"""The memory budget: nothing is lost, nobody overtakes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pykclient.producer.buffer_pool import BufferPool, Waiter


def test_a_released_standard_buffer_is_reused() -> None:
    pool = BufferPool(100, 10)
    buffer = pool.try_allocate(10)
    assert buffer is not None
    pool.release(buffer)
    assert pool.try_allocate(10) is buffer


def test_a_large_request_takes_pooled_buffers_apart() -> None:
    pool = BufferPool(30, 10)
    buffers = [pool.try_allocate(10) for _ in range(3)]
    assert pool.try_allocate(10) is None
    for buffer in buffers:
        assert buffer is not None
        pool.release(buffer)
    large = pool.try_allocate(25)
    assert large is not None
    assert len(large) == 25
    assert pool.available_bytes == 5


def test_waiters_are_served_in_order_and_the_big_one_blocks_the_small_one() -> None:
    pool = BufferPool(30, 10)
    held = [pool.try_allocate(10) for _ in range(3)]
    order: list[str] = []
    big = pool.join(20, lambda: order.append("big"))
    small = pool.join(10, lambda: order.append("small"))
    assert pool.try_allocate(10) is None
    for buffer in held:
        assert buffer is not None
        pool.release(buffer)
    assert order == ["big", "small"]
    assert big.buffer is not None
    assert len(big.buffer) == 20
    assert small.buffer is not None


def test_a_waiter_that_leaves_gives_back_what_it_gathered() -> None:
    pool = BufferPool(30, 10)
    first, second = pool.try_allocate(10), pool.try_allocate(20)
    assert first is not None
    assert second is not None
    waiter = pool.join(25, lambda: None)
    pool.release(first)
    assert waiter.gathered_bytes == 10
    pool.leave(waiter)
    assert pool.available_bytes == 10
    pool.release(second)
    assert pool.available_bytes == 30


def test_a_waiter_that_leaves_after_it_was_served_gives_the_buffer_to_the_next() -> None:
    pool = BufferPool(10, 10)
    held = pool.try_allocate(10)
    assert held is not None
    first, second = pool.join(10, lambda: None), pool.join(10, lambda: None)
    pool.release(held)
    assert first.buffer is not None
    pool.leave(first)
    assert second.buffer is held


class PoolMachine(RuleBasedStateMachine):
    """Random traffic: whatever happens, bytes held and bytes available add up, and the head of the queue is never
    passed."""

    @initialize(total=st.integers(20, 200), poolable=st.integers(1, 20))
    def start(self, total: int, poolable: int) -> None:
        self.pool = BufferPool(total, poolable)
        self.held: list[bytearray] = []
        self.queue: list[Waiter] = []

    @rule(data=st.data())
    def allocate(self, data: st.DataObject) -> None:
        size = data.draw(st.one_of(st.just(self.pool.poolable_bytes), st.integers(1, self.pool.total_bytes)))
        buffer = self.pool.try_allocate(size)
        if buffer is not None:
            assert not self.queue
            assert len(buffer) == size
            self.held.append(buffer)
        else:
            self.queue.append(self.pool.join(size, lambda: None))
        self._collect()

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        self.pool.release(self.held.pop(data.draw(st.integers(0, len(self.held) - 1))))
        self._collect()

    @precondition(lambda self: self.queue)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.pool.leave(self.queue.pop(data.draw(st.integers(0, len(self.queue) - 1))))
        self._collect()

    def _collect(self) -> None:
        while self.queue and self.queue[0].buffer is not None:
            buffer = self.queue.pop(0).buffer
            assert buffer is not None
            self.held.append(buffer)
        assert all(waiter.buffer is None for waiter in self.queue), "somebody was served before the one ahead"

    @invariant()
    def bytes_add_up(self) -> None:
        if hasattr(self, "pool"):
            assert self.pool.available_bytes + sum(map(len, self.held)) == self.pool.total_bytes
            assert self.pool.waiting == len(self.queue)

    def teardown(self) -> None:
        if hasattr(self, "pool"):
            while self.held or self.queue:
                while self.held:
                    self.pool.release(self.held.pop())
                self._collect()
            assert self.pool.available_bytes == self.pool.total_bytes


TestPool = PoolMachine.TestCase


@given(st.integers(1, 64), st.integers(1, 1000))
def test_the_whole_pool_can_always_be_had_when_nothing_is_held(poolable: int, total: int) -> None:
    pool = BufferPool(total, poolable)
    buffer = pool.try_allocate(total)
    assert buffer is not None
    assert pool.available_bytes == 0
