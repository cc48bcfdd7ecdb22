"""Writes the field tables from the message specs inside Apache Kafka's jars.

    python -m pykclient.protocol.specs.import_facts [--to FOLDER] JAR...

Owns: the way from Kafka's JSON to our notation. It takes names, types, versions, nullability, tags and defaults, and
leaves the descriptions behind. Runs at development time only; must never be imported by the client.
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .notation import CommonStruct, Field, Spec, Versions, module_name, render

TABLES = Path(__file__).parent / "tables"
_SPEC_PATH = re.compile(r"(?:common/)?(?:message|metadata)/[A-Za-z]+\.json")
_STRING_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')


def specs_in_jars(jars: Iterable[Path]) -> list[Spec]:
    """Every spec with at least one valid version, sorted by name."""
    specs: dict[str, Spec] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for path in archive.namelist():
                if _SPEC_PATH.fullmatch(path):
                    spec = spec_from_json(archive.read(path).decode())
                    if spec.versions:
                        specs[spec.name] = spec
    return [specs[name] for name in sorted(specs)]


def spec_from_json(text: str) -> Spec:
    """Kafka's spec files are JSON with // comments, which the standard parser refuses."""
    facts: dict[str, Any] = json.loads(_STRING_OR_COMMENT.sub(lambda match: match[1] or "", text))
    return Spec(
        kind=facts["type"],
        name=facts["name"],
        key=facts.get("apiKey"),
        versions=Versions.parse(facts["validVersions"]),
        flexible=Versions.parse(facts.get("flexibleVersions", "none")),
        listeners=sorted(facts.get("listeners", [])),
        latest_version_unstable=facts.get("latestVersionUnstable", False),
        fields=[_field(f) for f in facts.get("fields", [])],
        common_structs=[
            CommonStruct(s["name"], Versions.parse(s["versions"]), [_field(f) for f in s["fields"]])
            for s in facts.get("commonStructs", [])
        ],
    )


def _field(facts: dict[str, Any]) -> Field:
    tagged = facts.get("taggedVersions", "none")
    return Field(
        name=facts["name"],
        type=facts["type"],
        versions=Versions.parse(facts.get("versions", tagged)),  # A few specs give the tagged versions only.
        nullable=Versions.parse(facts.get("nullableVersions", "none")),
        tag=facts.get("tag"),
        tagged=Versions.parse(tagged),
        default=_default(facts),
        flexible=Versions.parse(facts["flexibleVersions"]) if "flexibleVersions" in facts else None,
        ignorable=facts.get("ignorable", False),
        map_key=facts.get("mapKey", False),
        entity=facts.get("entityType"),
        fields=[_field(f) for f in facts.get("fields", [])],
    )


def _default(facts: dict[str, Any]) -> str | None:
    """Specs write numbers and booleans as JSON values or as strings.

    A null default is the string "null": Kafka takes a bare `null` as "no default given", and the type's zero applies.
    """
    default = facts.get("default")
    if default is None:
        return None
    if isinstance(default, bool):
        return str(default).lower()
    return str(int(default, 16)) if str(default).startswith("0x") else str(default)


def write_tables(specs: list[Spec], folder: Path) -> list[Path]:
    """One file per module; files of messages that are gone are removed."""
    by_module: dict[str, list[Spec]] = defaultdict(list)
    for spec in specs:
        by_module[module_name(spec)].append(spec)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for module, members in sorted(by_module.items()):
        members.sort(key=lambda spec: spec.kind)  # "request" sorts before "response".
        path = folder / f"{module}.txt"
        path.write_text(render(members), encoding="utf-8")
        written.append(path)
    for stale in set(folder.glob("*.txt")) - set(written):
        stale.unlink()
    return written


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=TABLES, help="folder for the tables")
    parser.add_argument("jars", type=Path, nargs="+", metavar="JAR")
    options = parser.parse_args(arguments)
    specs = specs_in_jars(options.jars)
    written = write_tables(specs, options.to)
    print(f"{len(specs)} specs in {len(written)} tables under {options.to}")


if __name__ == "__main__":
    main()
