"""What the embedded broker serves, as text for the documentation: written by code from the code.

    python -m pykclient.broker.describe docs/embedded-broker.md

rewrites the tables of that page; a test fails when they are out of date. Starts nothing and touches no broker.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pykclient.broker.api_versions import ServedVersions
from pykclient.broker.assembly import HANDLER_TABLES
from pykclient.broker.config_keys import BROKER_KEYS
from pykclient.broker.server import SERVER_KEYS
from pykclient.protocol.messages import ApiKey, api

BEGIN, END = "<!-- {} begins: written by pykclient.broker.describe -->", "<!-- {} ends -->"


def served() -> ServedVersions:
    """The APIs that a node has handlers for."""
    return ServedVersions([*(ApiKey(key) for table in HANDLER_TABLES for key in table), *SERVER_KEYS])


def api_table() -> str:
    """All APIs of Kafka, with the versions served here."""
    ranges = {key: (low, high) for key, low, high in served()}
    lines = ["| key | API | served versions | Kafka 4.3 |", "|---:|---|---|---|"]
    for key in ApiKey:
        info = api(key)
        if "broker" not in info.listeners and key not in ranges:
            continue
        here = "not served"
        if key in ranges:
            low, high = ranges[key]
            here = f"{low}-{high}" if low != high else f"{low}"
        lines.append(f"| {int(key)} | {info.name} | {here} | {info.min_version}-{info.max_version} |")
    return "\n".join(lines)


def option_table() -> str:
    """The broker options that have an effect or are shown, with their defaults."""
    lines = ["| option | default | what it does |", "|---|---|---|"]
    for name in sorted(BROKER_KEYS):
        option = BROKER_KEYS[name]
        lines.append(f"| `{name}` | `{option.default}` | {option.doc} |")
    return "\n".join(lines)


TABLES = {"api table": api_table, "option table": option_table}


def refreshed(page: str) -> str:
    """The page with its tables as the code has them now."""
    for name, make in TABLES.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        assert found, f"the page has no place for the {name}"
        assert closed, f"the {name} of the page has no end"
        page = f"{before}{begin}\n{make()}\n{end}{after}"
    return page


def main() -> None:
    """Rewrite the pages given."""
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
