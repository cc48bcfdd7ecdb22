"""What Spark does with our stream writer, without its JVM: plan and pickle, write in tasks, commit or abort.

``run_batch`` does it here; ``drive`` in a process of its own that is killed (SIGKILL) at a chosen step, as often as a
test likes, for the price of a fork.
"""

from __future__ import annotations

import atexit
import functools
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Any, NamedTuple

import pyarrow as pa

QUERY = "5c9d8f6e-query"


class Step(NamedTuple):
    """A moment that others can see: before or after the n-th time that something is done."""

    what: str
    """claim, decision, done: a record of the driver. task: one is written and prepared. send: some rows of it. end: a
    transaction is committed. abort: one is aborted."""
    after: bool = False
    nth: int = 1


@dataclass(frozen=True)
class Job:
    """One batch."""

    servers: str
    topic: str
    number: int
    rows: list[bytes]
    slots: int
    die: Step | None = None
    """Where the driver dies."""
    fails: Step | None = None
    """Where something raises in the driver."""
    task_dies: int | None = None
    """The task whose first attempt is killed after it has prepared."""
    one_at_a_time: bool = False
    """Its transactions are committed in order, so that it is known which of them are when the driver dies."""
    owner: str = "checkpoint"
    query: str = QUERY
    options: dict[str, str] = field(default_factory=dict)

    @property
    def sink(self) -> dict[str, str]:
        """The options of the sink, as Spark gives them."""
        exactly = {"exactlyOnce": "true", "transactionalIdPrefix": self.topic, "checkpointLocation": self.owner}
        return {"kafka.bootstrap.servers": self.servers, "topic": self.topic, **exactly, **self.options}


def _writer(job: Job) -> Any:
    from pyspark.sql.types import BinaryType, StructField, StructType

    from pykclient.spark import KafkaDataSource

    options = {name.lower(): value for name, value in job.sink.items()}
    return KafkaDataSource(options).streamWriter(StructType([StructField("value", BinaryType())]), False)


def write_task(job: Job, packed: bytes, slot: int, attempt: int = 0) -> bytes:
    """One attempt at a task; gives the packed message."""
    from pyspark import TaskContext

    context = TaskContext._getOrCreate()
    context._partitionId, context._attemptNumber = slot, attempt
    context._localProperties = {"sql.streaming.queryId": job.query, "streaming.sql.batchId": str(job.number)}
    mine = job.rows[slot :: job.slots]
    parts = [
        pa.RecordBatch.from_arrays([pa.array(part, pa.binary())], names=["value"])
        for part in (mine[: len(mine) // 2], mine[len(mine) // 2 :])
    ]
    try:
        return pickle.dumps(pickle.loads(packed).write(iter(parts)))
    finally:
        TaskContext._taskContext = None  # a process that has one takes itself for a worker, and starts no Spark


def plan_batch(job: Job) -> bytes:
    """The writer, as Spark packs it for the tasks."""
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps(_writer(job))
    return packed


def commit_batch(job: Job, messages: list[bytes]) -> None:
    """Commit; when that raises, abort, as Spark does."""
    try:
        _writer(job).commit([pickle.loads(each) for each in messages], job.number)
    except Exception:
        abort_batch(job, messages)
        raise


def abort_batch(job: Job, messages: list[bytes]) -> None:
    """As Spark does it when a task has failed for good, too."""
    _writer(job).abort([pickle.loads(each) for each in messages], job.number)


def run_batch(job: Job) -> None:
    """All of it."""
    if job.task_dies is None:
        packed = plan_batch(job)
    else:  # in processes of their own, so that this one has no threads when it forks
        packed = _forked(lambda: plan_batch(job))
        assert _forked(lambda: _kill_after(write_task(job, packed, job.task_dies or 0))) == b""
    messages = [write_task(job, packed, slot, int(slot == job.task_dies)) for slot in range(job.slots)]
    commit_batch(job, messages)


def _kill_after(result: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return result


def _forked(function: Callable[[], bytes]) -> bytes:
    """What the function gives in a process of its own; nothing when that is killed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(write, "wb") as pipe:
                pipe.write(function())
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result


# ---- in a process that dies


def _wrap(owner: Any, name: str, label: Callable[..., str], at: Callable[[str, bool], None]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        what = label(*arguments)
        at(what, False)
        result = original(*arguments, **named)
        at(what, True)
        return result

    setattr(owner, name, wrapped)


def _run_mortal(job: Job) -> bytes:
    """Run the batch; gives the error it failed with, or OK."""
    from pykclient import KafkaProducer
    from pykclient.spark import decisions, sink
    from pykclient.spark.decision_log import Holder

    counts: Counter[tuple[str, bool]] = Counter()
    counting = threading.Lock()
    if job.one_at_a_time:
        decisions.COMMITS_AT_A_TIME = 1

    def at(what: str, after: bool) -> None:
        with counting:
            counts[what, after] += 1
            here = Step(what, after, counts[what, after])
        if job.die == here:
            os.kill(os.getpid(), signal.SIGKILL)
        if job.fails == here:
            raise OSError(f"injected: {what}")

    _wrap(Holder, "write", lambda holder, entry: str(entry.kind), at)
    _wrap(sink, "prepare_rows", lambda *_: "task", at)
    _wrap(sink, "send_rows", lambda *_: "send", at)
    _wrap(KafkaProducer, "commit_prepared", lambda *_: "end", at)
    _wrap(KafkaProducer, "abort_prepared", lambda *_: "abort", at)
    try:
        run_batch(job)
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}".encode()
    return OK.encode()


DIED, OK = "died", "ok"


class _Forks:
    """A process that has imported everything and has no threads: it forks one for each job."""

    def __init__(self) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "tests.spark.batch_driver"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self._process.kill)

    def run(self, job: Job) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(_framed(pickle.dumps(job)))
        self._process.stdin.flush()
        return _read_framed(self._process.stdout).decode()


_forks = functools.cache(_Forks)


def drive(job: Job) -> str:
    """Run a batch in a process of its own: OK, DIED, or the error that it failed with."""
    return _forks().run(job)


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _read_framed(stream: IO[bytes]) -> bytes:
    return stream.read(int.from_bytes(stream.read(4), "big"))


def _serve() -> None:
    # pyarrow imports pandas when it makes its first array, if there is one; once for all is enough.
    pa.array([b"x"], pa.binary())
    import_module("pykclient.spark.source")
    while job := _read_framed(sys.stdin.buffer):
        outcome = _forked(lambda job=job: _run_mortal(pickle.loads(job)))  # type: ignore[misc]
        sys.stdout.buffer.write(_framed(outcome or DIED.encode()))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
