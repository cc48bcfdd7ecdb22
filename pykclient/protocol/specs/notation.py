"""The field tables: what a message is made of, as facts, in a notation of our own.

Owns: the model (`Spec`, `Field`, `CommonStruct`, `Versions`) and its text form, both ways. One file per API (request
and response) or per other message. A deeper indent opens the struct that the line above it names. A field line reads

    Name  type  versions  [null V]  [tag N V]  [default X]  [flexible none]  [ignorable]  [key]  [entity E]

Runs at development time only; must never be imported by the client.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

VERSION_TOP = 32767  # An open range ("3+") ends where int16 does.


@dataclass(frozen=True, slots=True)
class Versions:
    """A closed range of versions; empty when `low > high`."""

    low: int
    high: int

    @staticmethod
    def parse(text: str) -> Versions:
        if text == "none":
            return NEVER
        if text.endswith("+"):
            return Versions(int(text[:-1]), VERSION_TOP)
        low, _, high = text.partition("-")
        return Versions(int(low), int(high or low))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.high == VERSION_TOP:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"

    def __bool__(self) -> bool:
        return self.low <= self.high

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __and__(self, other: Versions) -> Versions:
        both = Versions(max(self.low, other.low), min(self.high, other.high))
        return both if both else NEVER


NEVER = Versions(0, -1)


@dataclass(slots=True)
class Field:
    """One field. A `default` of None means the type's own zero; `fields` are those of the struct it introduces."""

    name: str
    type: str
    versions: Versions
    nullable: Versions = NEVER
    tag: int | None = None
    tagged: Versions = NEVER
    default: str | None = None
    flexible: Versions | None = None
    ignorable: bool = False
    map_key: bool = False
    entity: str | None = None
    fields: list[Field] = field(default_factory=list)

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element_type(self) -> str:
        return self.type.removeprefix("[]")

    @property
    def is_struct(self) -> bool:
        """Struct names start with a capital letter, primitive types do not."""
        return self.element_type[0].isupper()


@dataclass(slots=True)
class CommonStruct:
    """A struct that several fields of one message share."""

    name: str
    versions: Versions
    fields: list[Field]


@dataclass(slots=True)
class Spec:
    """One message: a request, a response, a header, a record or plain data."""

    kind: str
    name: str
    key: int | None
    versions: Versions
    flexible: Versions
    listeners: list[str] = field(default_factory=list)
    latest_version_unstable: bool = False
    fields: list[Field] = field(default_factory=list)
    common_structs: list[CommonStruct] = field(default_factory=list)


def snake_case(name: str) -> str:
    """`LogStartOffset` -> `log_start_offset`; KRaft is one word."""
    name = name.replace("KRaft", "Kraft")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def module_name(spec: Spec) -> str:
    """Requests and responses share the module of their API; everything else has its own."""
    name = spec.name
    if spec.kind in ("request", "response"):
        name = name.removesuffix("Request").removesuffix("Response")
    return snake_case(name)


def render(specs: list[Spec]) -> str:
    """The table file of one module."""
    return "\n\n".join("\n".join(_render_spec(spec)) for spec in specs) + "\n"


def _render_spec(spec: Spec) -> list[str]:
    head = [spec.kind, spec.name]
    if spec.key is not None:
        head += ["key", str(spec.key)]
    head += ["versions", str(spec.versions), "flexible", str(spec.flexible)]
    if spec.listeners:
        head += ["listeners", ",".join(spec.listeners)]
    if spec.latest_version_unstable:
        head += ["latest-unstable"]
    lines = [" ".join(head), *_render_fields(spec.fields, 1)]
    for struct in spec.common_structs:
        lines += [f"    struct {struct.name} {struct.versions}", *_render_fields(struct.fields, 2)]
    return lines


def _render_fields(fields: list[Field], depth: int) -> list[str]:
    name_width = max((len(f.name) for f in fields), default=0)
    type_width = max((len(f.type) for f in fields), default=0)
    lines = []
    for f in fields:
        words = [f.name.ljust(name_width), f.type.ljust(type_width), str(f.versions).ljust(5), *_facts(f)]
        lines.append(("    " * depth + " ".join(words)).rstrip())
        lines += _render_fields(f.fields, depth + 1)
    return lines


def _facts(f: Field) -> list[str]:
    facts = []
    if f.nullable:
        facts.append(f"null {f.nullable}")
    if f.tag is not None:
        facts.append(f"tag {f.tag} {f.tagged}")
    if f.default is not None:
        facts.append(f"default {f.default or repr('')}")
    if f.flexible is not None:
        facts.append(f"flexible {f.flexible}")
    if f.ignorable:
        facts.append("ignorable")
    if f.map_key:
        facts.append("key")
    if f.entity is not None:
        facts.append(f"entity {f.entity}")
    return facts


def parse(text: str) -> list[Spec]:
    """The specs of one table file; raises ValueError with the line number on anything it does not know."""
    specs: list[Spec] = []
    open_lists: list[list[Field]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        depth, odd = divmod(len(line) - len(line.lstrip()), 4)
        try:
            if odd or depth > len(open_lists):
                raise ValueError("indent")
            del open_lists[depth:]
            if depth == 0:
                specs.append(_parse_spec(words))
                open_lists.append(specs[-1].fields)
            elif depth == 1 and words[0] == "struct":
                struct = CommonStruct(words[1], Versions.parse(words[2]), [])
                specs[-1].common_structs.append(struct)
                open_lists.append(struct.fields)
            else:
                added = _parse_field(words)
                open_lists[-1].append(added)
                open_lists.append(added.fields)
        except (ValueError, IndexError) as error:
            raise ValueError(f"line {number}: {line.strip()!r}: {error}") from error
    return specs


def _parse_spec(words: list[str]) -> Spec:
    spec = Spec(words[0], words[1], None, NEVER, NEVER)
    rest = iter(words[2:])
    for word in rest:
        if word == "key":
            spec.key = int(next(rest))
        elif word == "versions":
            spec.versions = Versions.parse(next(rest))
        elif word == "flexible":
            spec.flexible = Versions.parse(next(rest))
        elif word == "listeners":
            spec.listeners = next(rest).split(",")
        elif word == "latest-unstable":
            spec.latest_version_unstable = True
        else:
            raise ValueError(f"unknown word {word!r}")
    return spec


def _parse_field(words: list[str]) -> Field:
    parsed = Field(words[0], words[1], Versions.parse(words[2]))
    rest = iter(words[3:])
    for word in rest:
        if word == "null":
            parsed.nullable = Versions.parse(next(rest))
        elif word == "tag":
            parsed.tag, parsed.tagged = int(next(rest)), Versions.parse(next(rest))
        elif word == "default":
            default = next(rest)
            parsed.default = "" if default == repr("") else default
        elif word == "flexible":
            parsed.flexible = Versions.parse(next(rest))
        elif word == "ignorable":
            parsed.ignorable = True
        elif word == "key":
            parsed.map_key = True
        elif word == "entity":
            parsed.entity = next(rest)
        else:
            raise ValueError(f"unknown word {word!r}")
    return parsed
