"""The option tables as Markdown, for the documentation. Pure: text out of tables."""

from __future__ import annotations

import dataclasses
from typing import Any

from pykclient.config.options import option_fields
from pykclient.config.refused import REFUSED
from pykclient.config.tables import AdminConfig, CommonConfig, ConsumerConfig, ProducerConfig

_HEAD = """# Options

Every option has two spellings: the Python name (`linger_ms=5`) and Java's (`{"linger.ms": 5}`). Names, defaults and
limits are those of Apache Kafka 4.3's Java clients; (+) marks what only this client has.
Made by `python -m pykclient.config`.
"""


def markdown() -> str:
    """The whole page."""
    common = {name: field.default for name, (field, _) in option_fields(CommonConfig).items()}
    parts = [_HEAD, _section("All clients", CommonConfig, {})]
    for title, table in (("Producer", ProducerConfig), ("Consumer", ConsumerConfig), ("Admin", AdminConfig)):
        parts.append(_section(title, table, common))
    refused = "\n".join(f"| `{name}` | {sentence} |" for name, sentence in sorted(REFUSED.items()))
    parts.append(f"## Java options that are refused\n\n| option | instead |\n|---|---|\n{refused}\n")
    return "\n".join(parts)


def _section(title: str, table: type, inherited: dict[str, Any]) -> str:
    rows = []
    for name, (field, option) in option_fields(table).items():
        if name in inherited and inherited[name] == field.default:
            continue
        mark = " (+)" if option.ours else ""
        default = "**required**" if field.default is dataclasses.MISSING else f"`{_shown(name, field.default)}`"
        rows.append(f"| `{name}`{mark} | {option.kind} | {default} | {option.limits} | {option.doc} |")
    head = f"## {title}\n\n| option | type | default | limits | meaning |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _shown(name: str, default: Any) -> str:
    if name == "acks":
        return "all"
    if isinstance(default, tuple):
        return ", ".join(map(str, default)) or "empty"
    return "empty" if default == "" else str(default).lower() if isinstance(default, bool) else str(default)
