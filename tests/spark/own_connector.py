"""The jars of Spark's own Kafka connector, to compare with: fetched once by Maven."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

VERSION = "4.2.0"
# The newest that there are; they work with PySpark 4.2 and 4.3.
_ARTIFACTS = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", VERSION),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.1.0-preview1"),
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
    folder = pathlib.Path(base) / f"spark-sql-kafka-{VERSION}"
    if not folder.is_dir() and shutil.which("mvn") is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            dependencies = "".join(_DEPENDENCY.format(*artifact) for artifact in _ARTIFACTS)
            (pathlib.Path(scratch) / "pom.xml").write_text(_POM.format(dependencies))
            target = pathlib.Path(scratch) / "jars"
            command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
            done = subprocess.run(command, cwd=scratch, capture_output=True, timeout=180, check=False)
            if done.returncode == 0 and len(list(target.glob("*.jar"))) == len(_ARTIFACTS):
                target.rename(folder)
    return tuple(sorted(map(str, folder.glob("*.jar")))) if folder.is_dir() else ()
