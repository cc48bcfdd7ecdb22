"""The examples of docs/admin.md run, in order, as one program."""

from __future__ import annotations

import pathlib
import re

from pykclient.testing import EmbeddedCluster

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "admin.md"


def test_examples_of_the_admin_page_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) >= 8
    with EmbeddedCluster() as cluster:
        program = "\n".join(blocks).replace("localhost:9092", cluster.bootstrap_servers)
        exec(compile(program, str(PAGE), "exec"), {})
