"""Where Apache Kafka itself comes from: jars fetched once by Maven and a JVM, or a container where Docker answers.

Owns the jar cache and the starting of Java processes; ``real_kafka.py`` says what runs in them. Called from test
threads and blocks freely. Must never be imported by a client: it starts processes. ``testcontainers`` is imported
here and nowhere else.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

KAFKA_VERSION = "4.3.1"
LOG4J_VERSION = "2.25.4"
DOWNLOAD_TIMEOUT_S = 300.0
IMAGE = f"apache/kafka:{KAFKA_VERSION}"

# C1 alone and the serial collector: short-lived JVMs on few cores spend their time compiling, not running.
# The JVM's own log goes to standard output, where the tools print JSON, so it is off.
SMALL_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xlog:disable", "-Djava.awt.headless=true")

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pykclient</groupId>
  <artifactId>real-kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{kafka}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{kafka}</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>{log4j}</version></dependency>
  </dependencies>
</project>
"""

# Everything goes to standard error: the tools print JSON on standard output, and a log line in between would spoil it.
_LOG4J = """<Configuration status="ERROR">
  <Appenders><Console name="err" target="SYSTEM_ERR"><PatternLayout pattern="[%d] %p %m (%c)%n"/></Console></Appenders>
  <Loggers><Root level="${sys:kafka.log.level:-WARN}"><AppenderRef ref="err"/></Root></Loggers>
</Configuration>
"""


class RealKafkaUnavailable(RuntimeError):
    """Apache Kafka cannot be started here; the message is one sentence that says why."""


class ToolFailed(RuntimeError):
    """A Java tool ended with a status other than 0."""


def cache_directory() -> pathlib.Path:
    """Where the jars are kept between runs: ``$PYKCLIENT_CACHE_DIR``, or the user's cache directory."""
    if override := os.environ.get("PYKCLIENT_CACHE_DIR"):
        return pathlib.Path(override) / f"kafka-{KAFKA_VERSION}"
    base = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    return pathlib.Path(base) / "pykclient" / f"kafka-{KAFKA_VERSION}"


def available() -> str | None:
    """None when Apache Kafka can be started here, otherwise the one sentence that says what is missing."""
    if (java_problem := java_missing()) is None or docker_answers():
        return None
    return f"Apache Kafka cannot be started: {java_problem}, and no Docker engine answers."


def java_missing() -> str | None:
    """What keeps us from running Kafka on a local JVM, or None. Fetches the jars when they are not cached yet."""
    if shutil.which("java") is None:
        return "there is no java command"
    try:
        libraries()
    except RealKafkaUnavailable as error:
        return str(error)
    return None


def docker_answers() -> bool:
    """Whether the testcontainers extra is installed and a Docker engine answers."""
    if importlib.util.find_spec("testcontainers") is None or shutil.which("docker") is None:
        return False
    probe = subprocess.run(
        ["docker", "info"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=10, check=False
    )
    return probe.returncode == 0


_unavailable_reason: str | None = None


def libraries() -> pathlib.Path:
    """The directory with Kafka's jars; fetched with Maven the first time, by one process even when several ask."""
    global _unavailable_reason
    directory = cache_directory() / "libs"
    if directory.is_dir():
        return directory
    if _unavailable_reason is None:  # Without a network Maven takes long to say no: ask once per process.
        try:
            with _only_one_process(cache_directory()):
                if not directory.is_dir():
                    _download(directory)
            return directory
        except RealKafkaUnavailable as error:
            _unavailable_reason = str(error)
    raise RealKafkaUnavailable(_unavailable_reason)


def _download(directory: pathlib.Path) -> None:
    if shutil.which("mvn") is None:
        raise RealKafkaUnavailable("its jars are not cached and there is no mvn command to fetch them")
    with tempfile.TemporaryDirectory(dir=directory.parent) as scratch:
        (pathlib.Path(scratch) / "pom.xml").write_text(_POM.format(kafka=KAFKA_VERSION, log4j=LOG4J_VERSION))
        fetched = pathlib.Path(scratch) / "libs"
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={fetched}"]
        try:
            subprocess.run(command, cwd=scratch, check=True, capture_output=True, timeout=DOWNLOAD_TIMEOUT_S)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise RealKafkaUnavailable("Maven could not fetch its jars (no network?)") from error
        (fetched / "log4j2.xml").write_text(_LOG4J)
        fetched.rename(directory)  # Whole or not at all: a run that is cut short leaves nothing half-filled behind.


@contextlib.contextmanager
def _only_one_process(directory: pathlib.Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def java_command(
    class_name: str, arguments: Sequence[str] = (), *, heap_mb: int = 256, jvm: Sequence[str] = ()
) -> list[str]:
    """The command line that runs a class of Kafka's with our small-JVM flags."""
    directory = libraries()
    logging = f"-Dlog4j2.configurationFile={directory / 'log4j2.xml'}"
    return ["java", f"-Xmx{heap_mb}m", *SMALL_JVM, logging, *jvm, "-cp", f"{directory}/*", class_name, *arguments]


def _class_archive() -> pathlib.Path:
    """Where the tools' classes are kept loaded and linked (class data sharing); it belongs to one JVM."""
    java = os.path.realpath(shutil.which("java") or "java")
    return cache_directory() / f"tools-{hashlib.sha256(java.encode()).hexdigest()[:12]}.jsa"


def start_java(
    class_name: str, arguments: Sequence[str], *, log: IO[bytes], cwd: pathlib.Path, heap_mb: int = 320
) -> subprocess.Popen[bytes]:
    """Start a long-running class in its own session, so that a Ctrl-C in the terminal reaches pytest alone."""
    command = java_command(class_name, arguments, heap_mb=heap_mb)
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=cwd, start_new_session=True)


def kill_when_we_die(pid: int) -> subprocess.Popen[bytes] | None:
    """A guard that kills the process as soon as ours is gone: a test run that is shot must not leave brokers behind.

    It waits for the end of a pipe whose other end only we hold; the kernel closes that for us in every case.
    """
    if sys.platform == "win32":
        return None
    script = f"cat >/dev/null; kill -9 {pid}"
    return subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE, start_new_session=True)


def dismiss(guard: subprocess.Popen[bytes]) -> None:
    """The process has ended, and its number may soon be somebody else's."""
    assert guard.stdin is not None
    guard.kill()
    guard.wait()
    guard.stdin.close()


@contextlib.contextmanager
def _shared_classes(class_name: str) -> Iterator[list[str]]:
    """JVM flags for a tool. The first run leaves its classes behind; that more than halves the start of later ones."""
    archive = _class_archive()
    if not class_name.startswith("org.apache.kafka.tools."):  # The others do not load the client, which all share.
        yield []
        return
    if archive.exists():
        yield [f"-XX:SharedArchiveFile={archive}"]
        return
    mine = archive.with_suffix(f".{os.getpid()}")
    yield [f"-XX:ArchiveClassesAtExit={mine}"]
    if mine.exists():
        mine.replace(archive)


def run_tool(class_name: str, *arguments: str, stdin: str = "", timeout_s: float = 60.0, check: bool = True) -> str:
    """Run one of Kafka's command-line classes against any cluster and give its standard output.

    ``run_tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", "127.0.0.1:9092", "--list")``
    """
    with _shared_classes(class_name) as flags:
        command = java_command(class_name, arguments, jvm=flags)
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False)
    if check and done.returncode != 0:
        raise ToolFailed(f"{class_name} ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def start_tool(class_name: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a command-line class with its input and output on pipes; the caller ends it."""
    archive = _class_archive()
    flags = [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []
    command = java_command(class_name, arguments, jvm=flags)
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    )


def start_container(environment: Mapping[str, str], *, name: str) -> Any:
    """Start Kafka's own image on the host network, so that its ports are the ones in ``environment``."""
    try:
        from testcontainers.core.container import DockerContainer
    except ImportError as error:
        raise RealKafkaUnavailable("install the extra pykclient[testcontainers] to run Kafka in a container") from error
    container = DockerContainer(IMAGE).with_name(name).with_kwargs(network_mode="host")
    for key, value in environment.items():
        container = container.with_env(key, value)
    container.start()
    return container.get_wrapped_container()
