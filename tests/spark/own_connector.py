"""The jars of Spark's own Kafka connector, to compare with: fetched once by Maven."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

_VERSIONS = {"4.0": ("4.0.2", "4.0.0"), "4.1": ("4.1.1", "4.1.0-preview1"), "4.2": ("4.2.0", "4.1.0-preview1")}
"""Of the connector and of its token provider, for a minor version of Spark: the newest that there are. Those for 4.2
work with 4.3."""


def version() -> str:
    """Of the connector that goes with the PySpark that is installed."""
    return _versions()[0]


def _versions() -> tuple[str, str]:
    import pyspark

    return _VERSIONS.get(".".join(pyspark.__version__.split(".")[:2]), _VERSIONS["4.2"])


def _artifacts() -> tuple[tuple[str, str, str], ...]:
    connector, token_provider = _versions()
    return (
        ("org.apache.spark", "spark-sql-kafka-0-10_2.13", connector),
        ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", token_provider),
        ("org.apache.kafka", "kafka-clients", "3.9.2"),
        ("org.apache.commons", "commons-pool2", "2.13.1"),
    )


_DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"""
_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>pykclient</groupId><artifactId>connector</artifactId>
<version>1</version><packaging>pom</packaging><dependencies>{}</dependencies></project>"""


@functools.cache
def jars() -> tuple[str, ...]:
    """Paths of the jars; none when they are neither there nor to be had."""
    base = os.environ.get("PYKCLIENT_CACHE_DIR") or str(pathlib.Path.home() / ".cache" / "pykclient")
    folder = pathlib.Path(base) / f"spark-sql-kafka-{version()}"
    if not folder.is_dir() and shutil.which("mvn") is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            dependencies = "".join(_DEPENDENCY.format(*artifact) for artifact in _artifacts())
            (pathlib.Path(scratch) / "pom.xml").write_text(_POM.format(dependencies))
            target = pathlib.Path(scratch) / "jars"
            command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
            done = subprocess.run(command, cwd=scratch, capture_output=True, timeout=180, check=False)
            if done.returncode == 0 and len(list(target.glob("*.jar"))) == len(_artifacts()):
                target.rename(folder)
    return tuple(sorted(map(str, folder.glob("*.jar")))) if folder.is_dir() else ()
