"""A TCP proxy that breaks Kafka connections on purpose, between any client and any broker.

It knows Kafka's frames, so a fault hits a whole request or response: reset half-way, lost, duplicated, truncated,
delayed, withheld for ever, one bit flipped in the first batch of a Fetch, or held until the test lets it go. Faults are
``Rule``s with hit counters; decisions come from a seed and the number of the connection. Runs one thread with an event
loop of its own; tests call it from theirs. Listens on loopback only. Must never change a byte that no rule asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.fetch import FetchResponse
from pykclient.protocol.wire import decode_response_header
from pykclient.testing.real_kafka import RealKafka

HOST = "127.0.0.1"
FRAME_BYTES_MAX = 200 * 1024 * 1024
BATCH_HEADER_BYTES = 61
_SIZE = struct.Struct(">i")
_REQUEST = struct.Struct(">hhi")


class Fault(enum.Enum):
    """What a rule does to the request or response it hits."""

    RESET_MID_REQUEST = "half of the request goes out, then both sides are reset"
    LOSE_RESPONSE = "the broker has done its work; the response is dropped and the client reset"
    DUPLICATE_RESPONSE = "the response comes twice"
    TRUNCATE_RESPONSE = "a part of the response comes, then the connection ends"
    DELAY_RESPONSE = "the response comes later; what follows it on the connection cannot overtake it"
    HALF_OPEN = "nothing comes any more, and nobody says so"
    FLIP_BIT = "one bit in the records of the first batch of a Fetch response is wrong"
    HOLD_REQUEST = "the request waits in the proxy until release()"

    @property
    def on_request(self) -> bool:
        """Whether it strikes on the way to the broker."""
        return self in (Fault.RESET_MID_REQUEST, Fault.HOLD_REQUEST)


@dataclass(eq=False)
class Rule:
    """When a fault strikes: for these APIs (all when empty), with this probability, at most so many times."""

    fault: Fault
    apis: frozenset[int] = frozenset()
    probability: float = 1.0
    hits_max: int | None = None
    delay_s: tuple[float, float] = (0.1, 1.0)
    hits: int = field(default=0, init=False)

    def strikes(self, api_key: int, chance: random.Random) -> bool:
        """Decide; who acts on it counts the hit."""
        if self.hits_max is not None and self.hits >= self.hits_max:
            return False
        if self.apis and api_key not in self.apis:
            return False
        return self.probability >= 1.0 or chance.random() < self.probability


class Held(NamedTuple):
    """A response that was late, in monotonic seconds: it was there at ``since`` and went out at ``until``."""

    api_key: int
    since: float
    until: float


@dataclass(eq=False)
class _Connection:
    """One client connection and its twin to the broker."""

    client: asyncio.StreamWriter
    broker: asyncio.StreamWriter
    chance: random.Random
    asked: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Correlation id -> (API, version) of requests without an answer yet."""
    dead: bool = False
    late: asyncio.Queue[tuple[float, bytes] | None] = field(default_factory=asyncio.Queue)
    """Responses that wait for their time, in order: when to send which bytes; None ends it."""
    waiting: int = 0

    def reset(self) -> None:
        """End both sides with an RST, as a crashed host's successor would."""
        for writer in (self.client, self.broker):
            raw = writer.get_extra_info("socket")
            if raw is not None:
                with contextlib.suppress(OSError):
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def close(self) -> None:
        """End both sides in good order."""
        self.client.close()
        self.broker.close()


class ChaosProxy:
    """``with ChaosProxy(("127.0.0.1", 9092), seed=7) as proxy:`` clients connect to ``proxy.port``.

    ``add`` rules before or while traffic flows. ``upstream`` may be set again when the broker moves.
    """

    def __init__(self, upstream: tuple[str, int], *, port: int = 0, seed: int = 0) -> None:
        self.upstream = upstream
        self.seed = seed
        self.port = port
        self.connections = 0
        self.requests: Counter[int] = Counter()
        self.responses: Counter[int] = Counter()
        self.held: list[Held] = []
        self._rules: list[Rule] = []
        self._changed = threading.Condition()
        self._live: set[_Connection] = set()
        self._held: list[asyncio.Event] = []
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # What tests call

    @property
    def address(self) -> str:
        """For ``bootstrap_servers``."""
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        """Listen. The port is known afterwards."""
        listening = threading.Event()
        run = self._run(listening)
        self._thread = threading.Thread(target=asyncio.run, args=(run,), name="chaos-proxy", daemon=True)
        self._thread.start()
        listening.wait()

    def stop(self) -> None:
        """Reset what is left and stop listening."""
        if self._thread is not None and self._stopping is not None:
            self._call(self._stopping.set)
            self._thread.join()
            self._thread = None

    def __enter__(self) -> ChaosProxy:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def add(
        self,
        fault: Fault,
        apis: Iterable[int] = (),
        *,
        probability: float = 1.0,
        hits_max: int | None = None,
        delay_s: tuple[float, float] = (0.1, 1.0),
    ) -> Rule:
        """Break things from now on; the rule counts its hits."""
        rule = Rule(fault, frozenset(apis), probability, hits_max, delay_s)
        with self._changed:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        """No new faults. Connections that are half-open stay so; held requests stay held."""
        with self._changed:
            self._rules.clear()

    def release(self) -> None:
        """Let the held requests go on to the broker, even when their clients have hung up meanwhile."""
        self._call(self._release)

    def reset_all(self) -> None:
        """Reset every connection there is."""
        self._call(self._reset_all)

    def wait_for(self, condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
        """Wait until something about the counters holds: ``proxy.wait_for(lambda: rule.hits == 1)``."""
        with self._changed:
            if not self._changed.wait_for(condition, timeout_s):
                raise TimeoutError(f"not within {timeout_s} s: requests {self.requests}, rules {self._rules}")

    def _call(self, action: Callable[[], None]) -> None:
        assert self._loop is not None, "start the proxy first"
        self._loop.call_soon_threadsafe(action)

    # The loop's thread

    async def _run(self, listening: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        try:
            server = await asyncio.start_server(self._serve, HOST, self.port)
            self.port = server.sockets[0].getsockname()[1]
        finally:
            listening.set()
        await self._stopping.wait()
        server.close()
        self._reset_all()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _release(self) -> None:
        held, self._held = self._held, []
        for event in held:
            event.set()

    def _reset_all(self) -> None:
        for connection in list(self._live):
            connection.reset()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            broker_reader, broker_writer = await asyncio.open_connection(*self.upstream)
        except OSError:
            writer.transport.abort()
            self._tasks.discard(task)
            return
        with self._changed:
            self.connections += 1
            chance = random.Random(f"{self.seed}:{self.connections}")
            self._changed.notify_all()
        connection = _Connection(writer, broker_writer, chance)
        self._live.add(connection)
        responses = asyncio.ensure_future(self._pump_responses(connection, broker_reader))
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._pump_requests(connection, reader)
            if not connection.dead:
                connection.broker.close()
        finally:
            if connection.dead:  # The client gave up on a connection that hangs: nobody is left to fool.
                connection.reset()
            responses.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
                await responses
            connection.close()
            self._live.discard(connection)
            self._tasks.discard(task)

    async def _pump_requests(self, connection: _Connection, reader: asyncio.StreamReader) -> None:
        while True:
            frame = await _read_frame(reader)
            if len(frame) < _REQUEST.size:
                raise ConnectionError("not a Kafka request")
            if connection.dead:
                continue
            api_key, version, correlation_id = _REQUEST.unpack_from(frame)
            connection.asked[correlation_id] = (api_key, version)
            rule = self._count(self.requests, api_key, connection.chance, on_request=True)
            if rule is not None and rule.fault is Fault.RESET_MID_REQUEST:
                whole = _SIZE.pack(len(frame)) + frame
                connection.broker.write(whole[: max(5, len(whole) // 2)])
                with contextlib.suppress(OSError):
                    await connection.broker.drain()
                connection.reset()
                return
            if rule is not None and rule.fault is Fault.HOLD_REQUEST:
                event = asyncio.Event()
                self._held.append(event)
                await event.wait()
            connection.broker.write(_SIZE.pack(len(frame)) + frame)
            await connection.broker.drain()

    async def _pump_responses(self, connection: _Connection, reader: asyncio.StreamReader) -> None:
        sending = asyncio.ensure_future(self._send_late(connection))
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if not await self._read_responses(connection, reader):
                    return
            if not connection.dead:
                connection.late.put_nowait(None)
                await sending
                connection.client.close()
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await sending

    async def _send_late(self, connection: _Connection) -> None:
        """A delay counts from the arrival of its response: two late ones in a row are not late by the sum of both."""
        while (entry := await connection.late.get()) is not None:
            release_at, whole = entry
            await asyncio.sleep(release_at - time.monotonic())
            if not connection.dead:
                connection.client.write(whole)
                await connection.client.drain()
            connection.waiting -= 1

    async def _read_responses(self, connection: _Connection, reader: asyncio.StreamReader) -> bool:
        """Until the broker hangs up, which raises; False when a fault ended the connection."""
        while True:
            frame = await _read_frame(reader)
            (correlation_id,) = _SIZE.unpack_from(frame)
            api_key, version = connection.asked.pop(correlation_id, (-1, 0))
            if connection.dead:
                continue
            rule = self._count(
                self.responses, api_key, connection.chance, on_request=False, frame=frame, version=version
            )
            if not await self._respond(connection, frame, rule, api_key):
                return False

    async def _respond(self, connection: _Connection, frame: bytearray, rule: Rule | None, api_key: int) -> bool:
        """Pass a response on, or what the rule makes of it; False when the connection has ended."""
        whole = _SIZE.pack(len(frame)) + frame
        fault = rule.fault if rule is not None else None
        if fault is Fault.LOSE_RESPONSE:
            connection.reset()
            return False
        if fault is Fault.HALF_OPEN:
            connection.dead = True
            return True
        if fault is Fault.TRUNCATE_RESPONSE:
            connection.client.write(whole[: connection.chance.randrange(1, len(whole))])
            await connection.client.drain()
            connection.close()
            return False
        whole *= 2 if fault is Fault.DUPLICATE_RESPONSE else 1
        delay_s = 0.0
        if fault is Fault.DELAY_RESPONSE:
            assert rule is not None
            delay_s = connection.chance.uniform(*rule.delay_s)
        if delay_s or connection.waiting:
            now = time.monotonic()
            self.held.append(Held(api_key, now, now + delay_s))
            connection.waiting += 1
            connection.late.put_nowait((now + delay_s, whole))
            return True
        connection.client.write(whole)
        await connection.client.drain()
        return True

    def _count(
        self,
        counter: Counter[int],
        api_key: int,
        chance: random.Random,
        *,
        on_request: bool,
        frame: bytearray | None = None,
        version: int = 0,
    ) -> Rule | None:
        """Count the frame and find the first rule that strikes it."""
        with self._changed:
            counter[api_key] += 1
            struck = None
            for rule in self._rules:
                if rule.fault.on_request != on_request or not rule.strikes(api_key, chance):
                    continue
                if rule.fault is Fault.FLIP_BIT and not (frame and flip_bit(frame, api_key, version, chance)):
                    continue  # No records in it: a flip would prove nothing.
                rule.hits += 1
                struck = rule
                break
            self._changed.notify_all()
            return struck


async def _read_frame(reader: asyncio.StreamReader) -> bytearray:
    (size,) = _SIZE.unpack(await reader.readexactly(4))
    if not 4 <= size <= FRAME_BYTES_MAX:
        raise ConnectionError(f"not a Kafka frame: size {size}")
    return bytearray(await reader.readexactly(size))


def flip_bit(frame: bytearray, api_key: int, version: int, chance: random.Random) -> bool:
    """Flip one bit among the records of the first complete batch of a Fetch response; False when it has none."""
    if api_key != ApiKey.FETCH:
        return False
    _, body = decode_response_header(frame, api_key, version)
    response = FetchResponse.read(bytes(frame[body:]), version)
    for topic in response.responses:
        for partition in topic.partitions:
            records = bytes(partition.records or b"")
            if len(records) <= BATCH_HEADER_BYTES:
                continue
            batch_bytes = 12 + struct.unpack_from(">i", records, 8)[0]
            if not BATCH_HEADER_BYTES < batch_bytes <= len(records):
                continue
            start = frame.find(records[:batch_bytes])
            assert start > 0, "the records of a frame are in the frame"
            frame[start + chance.randrange(BATCH_HEADER_BYTES, batch_bytes)] ^= 1 << chance.randrange(8)
            return True
    return False


@contextlib.contextmanager
def proxied(kafka: RealKafka, *, seed: int = 0) -> Iterator[dict[int, ChaosProxy]]:
    """Put a proxy before every broker of a cluster that is not started yet; yields them by node id."""
    with contextlib.ExitStack() as stack:
        proxies = {}
        for node_id, broker in kafka.brokers.items():
            proxy = stack.enter_context(ChaosProxy((HOST, broker.port), seed=seed * 100 + node_id))
            kafka.advertise(node_id, proxy.port)
            proxies[node_id] = proxy
        yield proxies
