"""The reference pages say what the code says, and every subcommand is documented."""

from __future__ import annotations

import pathlib
import re
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


def named_in(line: str) -> list[tuple[str, str | None]]:
    """Test files and tests that a line names; ``::test_x`` alone is in the file named before it."""
    found: list[tuple[str, str | None]] = []
    for path, name in re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`", line):
        if path or name:
            found.append((path or found[-1][0], name or None))
    return found


def test_every_test_and_command_that_the_docs_name_exists() -> None:
    missing, count = [], 0
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text()
        for line in text.splitlines():
            for path, name in named_in(line):
                count += 1
                source = (ROOT / path).read_text() if (ROOT / path).exists() else ""
                if not source or (name and f"def {name}(" not in source):
                    missing.append(f"{page.name}: {path}::{name or ''}")
        missing += [
            f"{page.name}: make {each}" for each in re.findall(r"`make ([a-z-]+)`", text) if each not in targets
        ]
    assert count > 80, "it reads what it should"
    assert not missing
