"""The reference pages say what the code says, and every subcommand is documented."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from pykclient.cli.main import available

ROOT = pathlib.Path(__file__).parents[3]


def test_configuration_and_errors_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], capture_output=True, text=True, cwd=ROOT, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_every_subcommand_is_on_the_command_line_page() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text()
    assert [name for name in available() if f"pykclient {name}" not in page] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    missing = [name for name in pages if f": {name}" not in navigation]
    assert not missing, f"add {', '.join(missing)} to nav in mkdocs.yml"
