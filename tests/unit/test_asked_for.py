"""The page of what users asked for names tests; each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/asked-for.md").read_text())))


def named_tests(module: Path) -> set[str]:
    return set(re.findall(r"^(?:async )?def (test_\w+)", module.read_text(), re.MULTILINE))


def test_every_test_that_the_page_names_exists() -> None:
    assert len(NAMED) > 100
    assert [f"{path}::{name}" for path, name in NAMED if name not in named_tests(ROOT / path)] == []


def test_every_test_made_for_the_page_is_on_it() -> None:
    named = {name for _, name in NAMED}
    for module in (ROOT / "tests/integration/user_asks").glob("test_*.py"):
        assert named_tests(module) - named == set(), module.name
