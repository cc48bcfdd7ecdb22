"""One Spark (local[2]) and one embedded cluster for all tests here; skipped where there is no PySpark or no Java."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient.testing import EmbeddedCluster
from tests.spark.own_connector import jars

JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"
"""A JVM that lives for a minute: compiling well costs more of two cores than it saves."""


def _missing() -> str | None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "PySpark is not installed: pip install 'pykclient[spark]'"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "there is no Java, which Spark needs"
    return None


def spark_before_4_2() -> bool:
    """What a Python source is told, and much besides, is different there."""
    import pyspark

    return tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 2)


def pytest_configure(config: pytest.Config) -> None:
    if _missing() is None and spark_before_4_2():
        # Its collect() leaves the socket that the rows came by to the garbage collector.
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = _missing()
    for item in items:
        if "tests/spark" not in item.path.as_posix():
            continue
        item.add_marker(pytest.mark.timeout(600))  # the first job starts a JVM and several Pythons
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def new_session() -> Any:
    """A session whose workers run this Python."""
    import warnings

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        if spark_before_4_2():  # as docs/spark.md recommends for Trigger.AvailableNow
            builder = builder.config("spark.sql.streaming.triggerAvailableNowWrapper.enabled", "true")
        session = (
            builder.master("local[2,2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "600m")
            .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.jars", ",".join(jars()))
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    session = new_session()
    yield session
    session.stop()


@pytest.fixture
def since_4_2() -> None:
    """For what Spark offers to Python sources since 4.2 only; see the table of versions in docs/spark.md."""
    if spark_before_4_2():
        pytest.skip("Spark before 4.2 does not tell a Python source where a batch starts")


@pytest.fixture
def before_4_2() -> None:
    """For what is different there."""
    if not spark_before_4_2():
        pytest.skip("this is about Spark 4.0 and 4.1")


@pytest.fixture(scope="session")
def cluster() -> Iterator[EmbeddedCluster]:
    # The records of these tests are years old.
    with EmbeddedCluster(seed=3, log_retention_ms=-1) as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> str:
    """A topic with three partitions, named after the test."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    cluster.create_topic(name, 3)
    return name


@pytest.fixture
def load(spark: Any, cluster: EmbeddedCluster) -> Callable[..., Any]:
    """``spark.read`` with options as keywords; dots as double underscores."""

    def load(**options: str) -> Any:
        named = {name.replace("__", "."): value for name, value in options.items()}
        servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
        return spark.read.format("pykclient").options(**{**servers, **named}).load()

    return load
