"""The rules of the house, as code: who may import whom, and who may touch sockets, clocks, threads and chance.

Think twice before adding a name to a table here: each one is a place where the simulator can no longer see.
``offences(root)`` reads source text only and imports nothing, so it works on a planted tree too (test_architecture.py).
"""

from __future__ import annotations

import ast
import pathlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

PACKAGE = "pykclient"

LAYERS = (
    "errors types plugins config",
    "protocol",
    "net",
    "client",
    "producer consumer admin broker",
    "aio spark cli testing tracing",
)
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms.split()}
TOP = len(LAYERS) - 1

# The command line is the one room of the top layer that may call its neighbours: it is where they meet.
MEETING_ROOMS = {"cli"}

# Rooms that may use less of a lower layer than others. A follower is a client of its leader, and nothing more.
ONLY = {("broker", "client"): {"client.engine"}}

LIVE = {"net.reactor", "net.sockets", "net.tls", "net.workers"}
"""All live I/O: sockets, TLS, DNS, the real clock."""
DOORS = {"net.reactor", "net.workers", "client.engine", "producer.accumulator", "consumer.fetcher"}
"""Where threads meet: the wake-up, the mailbox, the accumulator, the fetch buffer."""
RUNNERS = {"broker.cluster"}
"""Runs one thread per broker."""
HANDLERS = {"consumer.parallel"}
"""Runs the user's handlers on threads that the user asked for."""

ALLOWED: dict[str, set[str]] = {
    "socket": LIVE,
    "ssl": LIVE,
    "selectors": LIVE,
    "time": LIVE,
    "threading": DOORS | RUNNERS | HANDLERS,
    "queue": DOORS | RUNNERS | HANDLERS,
    "concurrent": DOORS | RUNNERS,
    "multiprocessing": set(),
    "subprocess": set(),
    "signal": set(),
    # A produce future can be awaited: it finds the running loop at that moment and knows it no further.
    "asyncio": {"producer.batch"},
    # Chance is passed in; these make the source that is passed.
    "random": LIVE | {"client.assembly"} | RUNNERS,
    "secrets": LIVE | {"client.assembly"} | RUNNERS,
    # Modules are imported by name only from fixed tables of our own.
    "importlib": {"__init__", "protocol.messages", "protocol.accel"},
}
"""Standard modules that only some modules below the top layer may import; type-only imports do not count."""

CHANCE_AND_CLOCK = {
    ("uuid", "uuid1"),
    ("uuid", "uuid4"),
    ("os", "urandom"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
}
"""Attributes that are a hidden clock or source of chance."""

FORBIDDEN = {"pickle", "cPickle", "marshal", "shelve", "dill", "yaml", "imp"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}

THIRD_PARTY = {"crc32c", "cramjam", "pyarrow", "pyspark", "gssapi", "opentelemetry", "testcontainers", "pytest", "rich"}
"""What the package may depend on; each is imported in exactly one file."""

LINES_MAX = 600
LINES_MAX_WITH_REASON = 800
REASON = "Longer than most modules because"


class Import(NamedTuple):
    """One imported module or name, absolute, with the line and whether only type checkers see it."""

    target: str
    line: int
    typing_only: bool


def offences(root: pathlib.Path) -> list[str]:
    """Every broken rule under ``root`` (the package folder), as ``module:line sentence``."""
    found: list[str] = []
    third_party_files: dict[str, set[str]] = defaultdict(set)
    for path in sorted(root.rglob("*.py")):
        name = module_name(root, path)
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source, filename=str(path))
        generated = name == "protocol.messages" or name.startswith("protocol.messages.")
        if not generated:
            found += [f"{name}: {text}" for text in _length_offences(source, tree)]
        found += [f"{name}:{line} {text}" for line, text in _code_offences(name, tree)]
        for imported in imports(root, path, tree):
            found += [f"{name}:{imported.line} {text}" for text in _import_offences(name, imported)]
            head = imported.target.split(".")[0]
            if head != PACKAGE and head not in sys.stdlib_module_names and not imported.typing_only:
                third_party_files[head].add(name)
                if head not in THIRD_PARTY | FORBIDDEN:
                    found.append(f"{name}:{imported.line} {head} is not a dependency")
    for head, names in sorted(third_party_files.items()):
        if len(names) > 1:
            found.append(f"{head} is imported in {len(names)} files: {', '.join(sorted(names))}")
    return found


def module_name(root: pathlib.Path, path: pathlib.Path) -> str:
    """The dotted name below the package; a folder's ``__init__`` has the folder's name, the root's is ``__init__``."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def imports(root: pathlib.Path, path: pathlib.Path, tree: ast.Module) -> Iterator[Import]:
    """Every import anywhere in the file, relative ones made absolute."""
    typing_lines = _typing_only_lines(tree)
    folder = [PACKAGE, *path.relative_to(root).parent.parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, node.lineno in typing_lines)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                # ``from package import room`` names the room; ``from package.room import thing`` names the thing.
                yield Import(f"{module}.{alias.name}", node.lineno, node.lineno in typing_lines)


def _typing_only_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for statement in node.body:
                lines.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return lines


def _layer(name: str) -> int:
    # __init__ and __main__ of the package itself stand above all rooms.
    return LAYER.get(name.split(".")[0], TOP + 1)


def _import_offences(name: str, imported: Import) -> Iterator[str]:
    target, here, room = imported.target, _layer(name), name.split(".")[0]
    head, _, rest = target.partition(".")
    if head in FORBIDDEN:
        yield f"{head} is forbidden: it can run code that data brings along"
    if head == PACKAGE:
        yield from _room_offences(name, room, here, rest)
    elif here < TOP and head in ALLOWED and name not in ALLOWED[head] and not imported.typing_only:
        yield f"may not import {head}"
    elif here < TOP and tuple(target.rsplit(".", 1)) in CHANCE_AND_CLOCK:
        yield f"may not import {target}: time and chance are arguments"


def _room_offences(name: str, room: str, here: int, rest: str) -> Iterator[str]:
    other = rest.split(".")[0]
    if other == room or (not rest and here > TOP):
        return
    if other not in LAYER:
        if here <= TOP and other != "__version__":
            yield f"may not import {PACKAGE}.{other}: inside the package import from the room that owns it"
        return
    there = LAYER[other]
    if there > here:
        yield f"may not import {PACKAGE}.{rest}: it lies above"
    elif there == here and here > 0 and room not in MEETING_ROOMS:
        yield f"may not import {PACKAGE}.{rest}: rooms of one layer do not know each other"
    only = ONLY.get((room, other))
    if only is not None and not any(rest == module or rest.startswith(module + ".") for module in only):
        yield f"may not import {PACKAGE}.{rest}: {room} uses {', '.join(sorted(only))} only"


def _code_offences(name: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            yield node.lineno, f"{node.func.id}() is forbidden"
        if (
            _layer(name) < TOP
            and isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in CHANCE_AND_CLOCK
        ):
            yield node.lineno, f"{node.value.id}.{node.attr}: time and chance are arguments"


def _length_offences(source: str, tree: ast.Module) -> Iterator[str]:
    count = source.count("\n")
    reason = REASON in " ".join((ast.get_docstring(tree) or "").split())
    limit = LINES_MAX_WITH_REASON if reason else LINES_MAX
    if count > limit:
        yield f"{count} lines, {limit} allowed; split it along an idea (or say '{REASON} ...' at its top)"
