"""Managers, operations, the mailbox and the driver thread."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.client.engine import (
    Delivery,
    Engine,
    Operation,
    Poll,
    Task,
    call,
    invoke,
    now,
    sleep,
    wait,
)
from pykclient.errors import ClientClosed, ForkedClientError, KafkaTimeoutError, ReactorDied, UsageError
from pykclient.net.client_request import Request
from pykclient.net.completion import Completion
from pykclient.net.link import NetworkSettings
from pykclient.net.network_client import NetworkClient
from pykclient.net.reactor import Reactor, SystemClock
from pykclient.net.server_connection import ServerConnection
from pykclient.net.transport import Accepted, Endpoint, Received
from pykclient.protocol.messages import APIS, ApiKey
from pykclient.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse

from .fake_cluster import After, FakeCluster, FakeNode, Hang, VirtualClock, run, settle


class World:
    """One broker, one engine, no thread."""

    def __init__(self, *managers: Any) -> None:
        self.clock = VirtualClock()
        self.node = FakeNode(Endpoint("b0.test", 9092))
        self.node.handlers[ApiKey.METADATA] = lambda request: MetadataResponse(cluster_id="c")
        self.transport = FakeCluster(self.clock, [self.node])
        self.network = NetworkClient(self.transport, NetworkSettings(), rng=random.Random(1))
        self.network.set_nodes({0: self.node.endpoint})
        self.engine = Engine(self.transport, self.clock, self.network, managers)

    def finish(self, completion: Completion[Any], limit_s: float = 600.0) -> Any:
        run(self.engine, self.transport, lambda: completion.done, limit_s)
        return completion.result()


def fetch_cluster_id(timeout_s: float = 5.0) -> Operation[str | None]:
    response = yield from call(Request[MetadataResponse](MetadataRequest(topics=[]), timeout_s=timeout_s))
    return response.cluster_id


# ---- operations, in virtual time ----


def test_operation_sends_waits_and_returns() -> None:
    world = World()
    assert world.finish(world.engine.spawn(fetch_cluster_id())) == "c"


def test_operation_sees_the_request_fail_and_may_go_on() -> None:
    def stubborn() -> Operation[tuple[str, str | None]]:
        try:
            yield from fetch_cluster_id(timeout_s=1.0)
        except TimeoutError as error:
            return type(error).__name__, (yield from fetch_cluster_id())
        return "", None

    world = World()
    answers: list[Any] = [Hang(), MetadataResponse(cluster_id="second")]
    world.node.handlers[ApiKey.METADATA] = lambda request: answers.pop(0)
    assert world.finish(world.engine.spawn(stubborn())) == ("RequestExpired", "second")


def test_sleep_and_now_follow_the_engine_clock() -> None:
    def nap() -> Operation[float]:
        before = yield from now()
        yield from sleep(7.5)
        return (yield from now()) - before

    world = World()
    assert world.finish(world.engine.spawn(nap())) == pytest.approx(7.5)


def test_wait_gives_up_at_its_deadline_and_withdraws() -> None:
    withdrawn: list[bool] = []
    promise: Completion[int] = Completion()
    promise.on_withdraw = lambda: withdrawn.append(True)

    def patient() -> Operation[int]:
        start = yield from now()
        return (yield from wait(promise, start + 3.0))

    world = World()
    start = world.clock.time
    with pytest.raises(KafkaTimeoutError):
        world.finish(world.engine.spawn(patient()))
    assert world.clock.time == pytest.approx(start + 3.0)
    assert withdrawn == [True]


def test_wait_for_something_done_goes_on_without_a_step() -> None:
    def quick() -> Operation[int]:
        total = 0
        for value in range(2000):
            total += yield from wait(Completion.of(value))
        return total

    assert World().engine.spawn(quick()).result() == sum(range(2000))


def test_error_inside_an_operation_reaches_its_caller_only() -> None:
    def broken() -> Operation[None]:
        yield from sleep(0.0)
        raise ValueError("mine")

    world = World()
    with pytest.raises(ValueError, match="mine"):
        world.finish(world.engine.spawn(broken()))
    assert world.finish(world.engine.spawn(fetch_cluster_id())) == "c"


def test_cancelled_operation_is_closed_and_its_request_withdrawn() -> None:
    closed: list[str] = []
    requests: list[Request[MetadataResponse]] = []

    def careful() -> Operation[None]:
        requests.append(Request[MetadataResponse](MetadataRequest(topics=[])))
        try:
            yield from call(requests[0])
        finally:
            closed.append("tidied up")

    world = World()
    world.node.handlers[ApiKey.METADATA] = lambda request: After(5.0, MetadataResponse())
    completion = world.engine.spawn(careful())
    run(world.engine, world.transport, lambda: world.network.in_flight_count() > 0)
    completion.withdraw()
    assert closed == ["tidied up"]
    assert requests[0].withdrawn
    settle(world.engine, world.transport, 10.0)
    assert not requests[0].completion.done


def test_cancelling_one_of_two_who_wait_leaves_the_other_waiting() -> None:
    withdrawn: list[bool] = []
    promise: Completion[int] = Completion()
    promise.on_withdraw = lambda: withdrawn.append(True)
    world = World()
    first, second = world.engine.spawn(wait(promise)), world.engine.spawn(wait(promise))
    first.withdraw()
    assert withdrawn == []
    promise.succeed(5)
    assert second.result() == 5
    lonely: Completion[int] = Completion()
    lonely.on_withdraw = lambda: withdrawn.append(True)
    world.engine.spawn(wait(lonely)).withdraw()
    assert withdrawn == [True]


# ---- managers ----


class Ticker:
    """A manager that wants a request every second."""

    def __init__(self) -> None:
        self.due_at = 0.0
        self.answers = 0
        self.failed: BaseException | None = None

    def poll(self, now: float) -> Poll:
        if now < self.due_at:
            return Poll(wake_at=self.due_at)
        self.due_at = now + 1.0
        request = Request[MetadataResponse](MetadataRequest(topics=[]))
        request.completion.add_callback(self._answered)
        return Poll([request], self.due_at)

    def _answered(self, completion: Completion[MetadataResponse]) -> None:
        self.answers += completion.error is None

    def fail(self, error: BaseException) -> None:
        self.failed = error


def test_manager_is_asked_when_it_said_and_its_requests_are_sent() -> None:
    ticker = Ticker()
    world = World(ticker)
    settle(world.engine, world.transport, 10.5)
    assert ticker.answers == 11
    world.engine.remove_manager(ticker)
    settle(world.engine, world.transport, 10.0)
    assert ticker.answers == 11


def test_pieces_of_an_answer_ask_no_manager_until_it_is_whole() -> None:
    class Counter:
        asked = 0

        def poll(self, now: float) -> Poll:
            self.asked += 1
            return Poll()

        def fail(self, error: BaseException) -> None: ...

    counter = Counter()
    world = World(counter)
    answer = world.engine.spawn(fetch_cluster_id())
    events: list[Any] = []
    while True:  # until the answer is there, which nobody has seen yet
        events = world.transport.poll(0)
        received = [event for event in events if isinstance(event, Received)]
        if received and ApiKey.METADATA in world.node.apis():
            break
        world.engine.step(world.clock.time, events)
        world.clock.time = max(world.clock.time, min(world.transport.next_at(), world.clock.time + 1))
    [whole] = received
    asked = counter.asked
    for index in range(len(whole.data) - 1):
        piece = Received(whole.connection_id, whole.data[index : index + 1])
        assert world.engine.step(world.clock.time, [piece]) > world.clock.time
    assert counter.asked == asked
    assert not answer.done
    world.engine.wake()
    world.engine.step(world.clock.time, [])
    assert counter.asked == asked + 1, "but anything else is looked at as ever"
    world.engine.step(world.clock.time, [Received(whole.connection_id, whole.data[-1:])])
    assert counter.asked > asked + 1
    assert answer.result() == "c"


def test_a_wake_up_in_the_middle_of_an_answer_is_heard() -> None:
    ticker = Ticker()
    world = World(ticker)
    settle(world.engine, world.transport, 0.5)
    seen: list[int] = []
    world.engine.call_soon(lambda: seen.append(1))
    connection_id = next(iter(world.network._by_connection))
    world.engine.step(world.clock.time, [Received(connection_id, b"\0")])
    assert seen == [1]


def test_mail_is_run_in_order_and_wakes_the_transport_once_per_step() -> None:
    world = World()
    seen: list[int] = []
    for number in range(5):
        world.engine.call_soon(lambda number=number: seen.append(number))  # type: ignore[misc]
    assert world.transport.woken == 1
    assert seen == []
    world.engine.step(world.clock.time)
    assert seen == [0, 1, 2, 3, 4]
    world.engine.call_soon(lambda: None)
    assert world.transport.woken == 2


def test_letter_that_comes_during_the_poll_does_not_silence_the_next_one() -> None:
    world = World()
    real = world.transport.poll

    def poll(timeout_s: float | None) -> Any:
        world.engine.call_soon(lambda: None)
        return real(timeout_s)

    world.transport.poll = poll  # type: ignore[method-assign]
    world.engine.step(world.clock.time)
    woken = world.transport.woken
    world.engine.call_soon(lambda: None)
    assert world.transport.woken == woken + 1


def test_mail_posted_by_mail_is_due_at_once() -> None:
    world = World()
    world.engine.call_soon(lambda: world.engine.call_soon(lambda: None))
    assert world.engine.step(world.clock.time) == world.clock.time


def test_timers_fire_in_order_unless_cancelled() -> None:
    world = World()
    fired: list[str] = []
    start = world.clock.time
    world.engine.call_at(start + 2, lambda: fired.append("two"))
    world.engine.call_at(start + 1, lambda: fired.append("one"))
    world.engine.call_at(start + 1.5, lambda: fired.append("never")).cancel()
    settle(world.engine, world.transport, 3.0)
    assert fired == ["one", "two"]


def test_news_of_one_step_reach_an_outlet_together() -> None:
    class Batches:
        def __init__(self) -> None:
            self.sizes: list[int] = []

        def deliver(self, deliveries: list[Delivery]) -> None:
            self.sizes.append(len(deliveries))

    world = World()
    outlet = Batches()
    promise: Completion[int] = Completion()
    for _ in range(50):
        world.engine.submit(wait(promise), outlet)
    world.engine.step(world.clock.time)
    assert outlet.sizes == []
    world.engine.call_soon(lambda: promise.succeed(1))
    world.engine.step(world.clock.time)
    assert outlet.sizes == [50]


def test_stopping_without_a_thread_fails_managers_and_waiters() -> None:
    ticker = Ticker()
    world = World(ticker)
    completion = world.engine.spawn(sleep(100.0))
    assert world.engine.stop()
    assert isinstance(ticker.failed, ClientClosed)
    assert isinstance(completion.error, ClientClosed)
    assert world.transport.shut
    with pytest.raises(ClientClosed):
        world.engine.call_soon(lambda: None)


# ---- the driver thread ----


class Broker:
    """A broker on a thread of its own, on loopback."""

    def __init__(self) -> None:
        self.reactor = Reactor(name="broker")
        self.endpoint = self.reactor.listen(Endpoint("127.0.0.1", 0)).endpoint
        self.silent = threading.Event()
        self.asked = threading.Event()
        self._stopped = threading.Event()
        self._peers: dict[int, ServerConnection] = {}
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self.reactor.wake()
        self._thread.join()
        self.reactor.shut_down()

    def _run(self) -> None:
        while not self._stopped.is_set():
            for event in self.reactor.poll(0.5):
                if isinstance(event, Accepted):
                    self._peers[event.connection_id] = ServerConnection()
                elif isinstance(event, Received):
                    self._serve(event.connection_id, event.data)

    def _serve(self, connection_id: int, data: bytes) -> None:
        peer = self._peers[connection_id]
        peer.receive(data)
        while (request := peer.next_request()) is not None:
            message: Any = MetadataResponse(cluster_id="live")
            if request.api_key == ApiKey.API_VERSIONS:
                message = ApiVersionsResponse(
                    api_keys=[ApiVersion(info.key, info.min_version, info.max_version) for info in APIS]
                )
            else:
                self.asked.set()
                if self.silent.is_set():
                    return
            self.reactor.write(connection_id, peer.respond(request, message))


@pytest.fixture
def broker() -> Iterator[Broker]:
    made = Broker()
    yield made
    made.stop()


@pytest.fixture
def engine(broker: Broker) -> Iterator[Engine]:
    reactor = Reactor(name="test")
    network = NetworkClient(reactor, NetworkSettings(), rng=random.Random(1))
    network.set_nodes({-1: broker.endpoint})
    made = Engine(reactor, SystemClock(), network, name="test-client")
    made.start()
    yield made
    made.stop(5.0)


def test_run_blocking_gives_the_result(engine: Engine) -> None:
    assert engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == "live"
    assert engine.running


def test_many_threads_may_wait_at_once(engine: Engine) -> None:
    results: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: results.append(engine.run_blocking(fetch_cluster_id(), timeout_s=10.0)))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["live"] * 16


def test_run_blocking_gives_up_in_time_and_the_client_stays_usable(engine: Engine, broker: Broker) -> None:
    engine.run_blocking(fetch_cluster_id(), timeout_s=5.0)
    broker.silent.set()
    start = time.monotonic()
    with pytest.raises(KafkaTimeoutError, match=r"0\.2"):
        engine.run_blocking(fetch_cluster_id(timeout_s=30.0), timeout_s=0.2)
    assert 0.2 <= time.monotonic() - start < 1.0
    broker.silent.clear()

    def fresh() -> Operation[str | None]:
        # The broker's answer to the withdrawn request never comes, so a new connection is needed.
        engine.network.disconnect(-1, "test")
        return (yield from fetch_cluster_id())

    assert engine.run_blocking(fresh(), timeout_s=5.0) == "live"


def test_invoked_code_runs_where_the_caller_is_while_the_reactor_goes_on(engine: Engine) -> None:
    beats: list[str] = []

    def heartbeats() -> Operation[None]:
        while True:
            yield from sleep(0.01)
            beats.append(threading.current_thread().name)

    def listener() -> str:
        count = len(beats)
        end = time.monotonic() + 5.0
        while len(beats) < count + 3 and time.monotonic() < end:
            time.sleep(0.005)
        return threading.current_thread().name

    def operation() -> Operation[str]:
        engine.spawn(heartbeats())
        return (yield from invoke(listener))

    assert engine.run_blocking(operation(), timeout_s=10.0) == threading.current_thread().name
    assert len(beats) >= 3
    assert set(beats) == {"test-client"}


def test_error_of_invoked_code_is_raised_inside_the_operation(engine: Engine) -> None:
    def listener() -> None:
        raise LookupError("user code")

    def operation() -> Operation[str]:
        try:
            yield from invoke(listener)
        except LookupError as error:
            return f"saw {error.args[0]}"
        return "nothing"

    assert engine.run_blocking(operation(), timeout_s=5.0) == "saw user code"


def test_waiting_on_the_reactor_thread_itself_is_refused(engine: Engine) -> None:
    def operation() -> Operation[None]:
        engine.run_blocking(fetch_cluster_id())
        yield from sleep(0)

    with pytest.raises(UsageError, match="callback"):
        engine.run_blocking(operation(), timeout_s=5.0)


@pytest.mark.parametrize("cause", [ZeroDivisionError("our bug"), SystemExit("our bug")])
def test_dead_reactor_fails_every_waiter_with_the_cause(engine: Engine, broker: Broker, cause: BaseException) -> None:
    engine.run_blocking(fetch_cluster_id(), timeout_s=5.0)
    broker.silent.set()
    broker.asked.clear()
    errors: list[BaseException] = []

    def wait_for_it() -> None:
        try:
            engine.run_blocking(fetch_cluster_id(timeout_s=60.0), timeout_s=60.0)
        except ReactorDied as error:
            errors.append(error)

    threads = [threading.Thread(target=wait_for_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert broker.asked.wait(5.0)

    def bug() -> None:
        raise cause

    engine.call_soon(bug)
    for thread in threads:
        thread.join(5.0)
    assert len(errors) == 3
    assert all(error.__cause__ is cause for error in errors)
    with pytest.raises(ReactorDied, match="our bug"):
        engine.run_blocking(fetch_cluster_id())
    assert not engine.running


def test_stop_fails_waiters_and_ends_the_thread(engine: Engine, broker: Broker) -> None:
    broker.silent.set()
    errors: list[BaseException] = []

    def wait_for_it() -> None:
        try:
            engine.run_blocking(fetch_cluster_id(timeout_s=60.0))
        except ClientClosed as error:
            errors.append(error)

    thread = threading.Thread(target=wait_for_it)
    thread.start()
    assert broker.asked.wait(5.0)
    assert engine.stop(5.0)
    thread.join(5.0)
    assert len(errors) == 1
    with pytest.raises(ClientClosed):
        engine.run_blocking(fetch_cluster_id())
    assert engine.stop(5.0)


def test_interrupt_ends_a_wait_within_half_a_second(engine: Engine, broker: Broker) -> None:
    engine.run_blocking(fetch_cluster_id(), timeout_s=5.0)
    broker.silent.set()
    broker.asked.clear()
    sent_at: list[float] = []

    def interrupt() -> None:
        broker.asked.wait(5.0)
        sent_at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        engine.run_blocking(fetch_cluster_id(timeout_s=60.0))
    assert time.monotonic() - sent_at[0] < 0.5
    thread.join()
    assert engine.running


def test_wake_from_a_signal_handler_is_safe(engine: Engine) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: engine.call_soon(lambda: seen.append(1)))
    try:
        for _ in range(50):
            engine.call_soon(lambda: None)
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    engine.run_blocking(sleep(0.0), timeout_s=5.0)
    assert len(seen) == 50


def in_child(work: Any) -> str:
    """Run in a forked child; gives what it returned, as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, str(work()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        text = file.read().decode()
    os.waitpid(child, 0)
    return text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_client_used_after_a_fork_says_so_and_the_parent_is_unharmed(engine: Engine) -> None:
    assert engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == "live"
    connects = engine.network.connects_total

    def child() -> str:
        start = time.monotonic()
        try:
            engine.run_blocking(fetch_cluster_id(), timeout_s=5.0)
        except ForkedClientError:
            engine.stop()
            return "forked" if time.monotonic() - start < 1.0 else "slow"
        return "worked"

    assert in_child(child) == "forked"
    for _ in range(3):
        assert engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == "live"
    assert engine.network.connects_total == connects


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_may_make_a_client_of_its_own(engine: Engine, broker: Broker) -> None:
    assert engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == "live"

    def child() -> str | None:
        reactor = Reactor(name="child")
        network = NetworkClient(reactor, NetworkSettings(), rng=random.Random(2))
        network.set_nodes({-1: broker.endpoint})
        own = Engine(reactor, SystemClock(), network)
        own.start()
        return own.run_blocking(fetch_cluster_id(), timeout_s=5.0)

    assert in_child(child) == "live"
    assert engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == "live"


def test_idle_engine_sleeps(engine: Engine) -> None:
    engine.run_blocking(fetch_cluster_id(), timeout_s=5.0)
    steps: list[float] = []
    real = engine.step

    def counting(now: float, events: Any = None) -> float:
        steps.append(now)
        return real(now, events)

    engine.step = counting  # type: ignore[method-assign]
    engine.run_blocking(sleep(0.5), timeout_s=5.0)
    assert len(steps) < 6


def test_task_that_ended_does_not_mind_being_cancelled(engine: Engine) -> None:
    class Quiet:
        def __init__(self) -> None:
            self.done = threading.Event()

        def deliver(self, deliveries: list[Delivery]) -> None:
            self.done.set()

    outlet = Quiet()
    task: Task[str | None] = engine.submit(fetch_cluster_id(), outlet)
    assert outlet.done.wait(5.0)
    task.cancel_soon()
    task.resume("nobody asked")
    assert engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == "live"
    assert task.completion.result() == "live"
