"""Writes `pykclient/protocol/messages/` from the field tables.

    python -m pykclient.protocol.specs.generate [--check]

Owns: which files exist and what frames their classes. `--check` writes nothing and fails when a file is not current.
Runs at development time only; the client never imports it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType

from pykclient.protocol import primitives, structs

from .emit import Emitter, struct_name
from .import_facts import TABLES
from .layout import classes_of
from .notation import Spec, parse

MESSAGES = Path(__file__).parent.parent / "messages"
NOTICE = "Generated from pykclient/protocol/specs/tables; change nothing here."
COMMAND = "python -m pykclient.protocol.specs.generate"


def load_tables(folder: Path = TABLES) -> dict[str, list[Spec]]:
    """The specs by module name."""
    tables = {}
    for path in sorted(folder.glob("*.txt")):
        try:
            tables[path.stem] = parse(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error
    return tables


def message_module(specs: list[Spec]) -> str:
    """The text of one module."""
    emitter = Emitter()
    classes = classes_of(specs)
    bodies = ["\n".join(line.rstrip() for line in emitter.emit_class(struct)) for struct in classes]
    types = ", ".join(spec.name for spec in specs)
    text = "\n\n\n".join(bodies)
    lines = [
        f'"""{types}.',
        "",
        f"{NOTICE} To regenerate:",
        COMMAND,
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    lines.append("from dataclasses import dataclass")
    if emitter.codes:
        lines.append("from struct import Struct")
    if "ClassVar" in emitter.uses:
        lines.append("from typing import ClassVar")
    if "UUID" in text.replace("ZERO_UUID", ""):
        lines.append("from uuid import UUID")
    lines.append("")
    for module in (primitives, structs):
        names = sorted(name for name in emitter.helpers if hasattr(module, name) and _is_own(module, name))
        if names:
            lines += [f"from {module.__name__} import (", *(f"    {name}," for name in names), ")"]
    lines.append("")
    lines += [f'{struct_name(code)} = Struct(">{code}")' for code in sorted(emitter.codes)]
    lines += ["", "", text, "", "", "__all__ = ["]
    lines += [f'    "{name}",' for name in sorted(struct.name for struct in classes)]
    return "\n".join([*lines, "]", ""])


def _is_own(module: ModuleType, name: str) -> bool:
    """Whether the module itself has the name; structs imports some of the primitives."""
    return module is primitives or not hasattr(primitives, name)


def index_module(tables: dict[str, list[Spec]]) -> str:
    """`messages/__init__.py`: the API keys and, without importing any message, where each one is."""
    apis = sorted(
        (specs[0].key or 0, module, specs[0], specs[1])
        for module, specs in tables.items()
        if specs[0].kind == "request"
    )
    keys = [f"    {module.upper()} = {key}" for key, module, _, _ in apis]
    rows = []
    for _, module, request, _ in apis:
        flexible = request.flexible & request.versions
        facts = f"{request.versions.low}, {request.versions.high}, {flexible.low if flexible else None}"
        listeners = "_" + "_AND_".join(request.listeners).upper()
        name = request.name.removesuffix("Request")
        unstable = request.latest_version_unstable
        rows.append(f'    ApiInfo(ApiKey.{module.upper()}, "{name}", {facts}, {listeners}, {unstable}),')
    return INDEX.format(notice=NOTICE, command=COMMAND, keys="\n".join(keys), rows="\n".join(rows))


INDEX = '''"""Every Kafka message, one module per API; importing this package imports none of them.

{notice} To regenerate:
{command}

Requests and responses live in the module of their API (`messages.fetch`), everything else in a module of its own
(`messages.offset_commit_key`).
"""

from __future__ import annotations

import importlib
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pykclient.protocol.structs import Message


class ApiKey(IntEnum):
    """The number of each API on the wire."""

{keys}


class ApiInfo(NamedTuple):
    """What is known of an API without loading its messages."""

    key: ApiKey
    name: str
    min_version: int
    max_version: int
    flexible_from: int | None
    listeners: tuple[str, ...]
    latest_version_unstable: bool

    def request_class(self) -> type[Message]:
        return _message_class(self.key.name.lower(), self.name + "Request")

    def response_class(self) -> type[Message]:
        return _message_class(self.key.name.lower(), self.name + "Response")

    def request_header_version(self, version: int) -> int:
        return 2 if self.flexible_from is not None and version >= self.flexible_from else 1

    def response_header_version(self, version: int) -> int:
        # A client must be able to read the answer to ApiVersions before it knows which versions the broker speaks.
        if self.key == ApiKey.API_VERSIONS:
            return 0
        return 1 if self.flexible_from is not None and version >= self.flexible_from else 0


@cache
def _message_class(module: str, name: str) -> type[Message]:
    found: type[Message] = getattr(importlib.import_module(f"{{__name__}}.{{module}}"), name)
    return found


_BROKER = ("broker",)
_CONTROLLER = ("controller",)
_BROKER_AND_CONTROLLER = ("broker", "controller")

APIS: tuple[ApiInfo, ...] = (
{rows}
)
_BY_KEY: dict[int, ApiInfo] = {{info.key: info for info in APIS}}


def api(key: int) -> ApiInfo:
    """The API with this key; KeyError if there is none."""
    return _BY_KEY[key]


__all__ = ["APIS", "ApiInfo", "ApiKey", "api"]
'''


def generated_files() -> dict[Path, str]:
    tables = load_tables()
    files = {MESSAGES / f"{module}.py": message_module(specs) for module, specs in tables.items()}
    files[MESSAGES / "__init__.py"] = index_module(tables)
    return files


def stale_files(files: dict[Path, str]) -> list[Path]:
    """Files that differ from what the tables say, are missing, or belong to no table."""
    differing = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return sorted([*differing, *(set(MESSAGES.glob("*.py")) - files.keys())])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not current")
    options = parser.parse_args(arguments)
    files = generated_files()
    stale = stale_files(files)
    if options.check:
        for path in stale:
            print(f"{path.name} is not current; run {COMMAND}")
        return 1 if stale else 0
    MESSAGES.mkdir(exist_ok=True)
    for path in stale:
        if path in files:
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()
    print(f"{len(files)} files under {MESSAGES}, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
