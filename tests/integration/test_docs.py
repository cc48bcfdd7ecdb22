"""The documentation is true: every Python block of README.md and docs/*.md runs, in order, against an embedded cluster.

``localhost:9092`` in a block means that cluster; topics are made when first used. The blocks of one file share their
names. Loops over a consumer end when nothing has come for a second. Top-level ``await`` works. A block that cannot run
here has an HTML comment on the line before it: ``<!-- not run: the reason -->``.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import pathlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import pytest

from pykclient import KafkaConsumer
from pykclient.config import ProducerConfig
from pykclient.config.tables import CommonConfig
from pykclient.testing import EmbeddedCluster

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
IDLE_S = 1.0


@dataclass(frozen=True)
class Block:
    """A fenced block of Python and where it begins."""

    path: pathlib.Path
    line: int
    source: str


def blocks_of(path: pathlib.Path) -> Iterator[Block]:
    lines = path.read_text().splitlines()
    index = 0
    while index < len(lines):
        opening = re.match(r"^(\s*)```python\s*$", lines[index])
        if opening is None:
            index += 1
            continue
        before = next((line for line in reversed(lines[:index]) if line.strip()), "")
        begin = index + 1
        index = next(n for n in range(begin, len(lines)) if lines[n].strip() == "```")
        if not before.strip().startswith("<!-- not run:"):
            source = "\n".join(line.removeprefix(opening[1]) for line in lines[begin:index])
            yield Block(path, begin + 1, source)


def run(block: Block, names: dict[str, Any], bootstrap_servers: str) -> None:
    source = "\n" * (block.line - 1) + block.source.replace("localhost:9092", bootstrap_servers)
    code = compile(source, str(block.path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, names))
    else:
        exec(code, names)


def until_idle(consumer: KafkaConsumer) -> Iterator[Any]:
    """What ``for record in consumer`` does in a block: the same, but not for ever."""
    heard_at = time.monotonic()
    while time.monotonic() < heard_at + IDLE_S:
        for records in consumer.poll(IDLE_S).values():
            yield from records
            heard_at = time.monotonic()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("path", [page for page in PAGES if any(True for _ in blocks_of(page))], ids=lambda p: p.name)
def test_every_block_of_the_page_runs(
    path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(KafkaConsumer, "__iter__", until_idle)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "docs", "pytest": pytest}
    with EmbeddedCluster(brokers=1, num_partitions=3) as cluster:
        try:
            for block in blocks_of(path):
                run(block, names, cluster.bootstrap_servers)
        finally:
            for each in list(names.values()):
                if hasattr(each, "close") and type(each).__module__.startswith("pykclient"):
                    with contextlib.suppress(Exception):
                        closing = each.close()
                        if inspect.iscoroutine(closing):
                            closing.close()


def test_every_option_of_the_producer_has_an_example() -> None:
    shared = {field.name for field in fields(CommonConfig)}
    own = {field.name for field in fields(ProducerConfig)} - shared
    shown = "\n".join(block.source for block in blocks_of(ROOT / "docs" / "producer.md"))
    assert {name for name in own if not re.search(rf"\b{name}\b", shown)} == set()
