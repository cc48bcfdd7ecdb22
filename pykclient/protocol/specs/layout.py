"""From specs to classes: which Python class each struct becomes, and what it looks like in each version.

Owns: names (classes, attributes), attribute types and defaults, and the split of a struct's versions into ranges that
share one layout. Runs at development time only; must know nothing of the text of generated code, which `emit` writes.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from .notation import Field, Spec, Versions, snake_case

CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
SIZES = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
_PYTHON_TYPES = {
    "bool": "bool",
    "float64": "float",
    "uuid": "UUID",
    "string": "str",
    "bytes": "bytes",
    "records": "Buffer",
}
_ZEROS = {"bool": "False", "float64": "0.0", "uuid": "ZERO_UUID", "string": '""', "bytes": 'b""', "records": 'b""'}
_LOCALS = frozenset({"version", "buffer", "position", "count", "tag", "end", "tags"})

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Attribute:
    """A field as an attribute of its class."""

    field: Field
    struct: StructClass | None
    range: Versions

    @property
    def name(self) -> str:
        name = snake_case(self.field.name)
        return name + "_" if keyword.iskeyword(name) else name

    @property
    def local(self) -> str:
        """The local variable of a reader; some names are taken there."""
        return self.name + "_" if self.name in _LOCALS else self.name

    @property
    def is_fixed(self) -> bool:
        return self.field.type in SIZES

    @property
    def is_tagged(self) -> bool:
        return self.field.tag is not None

    @property
    def is_nullable(self) -> bool:
        return bool(self.field.nullable & self.range)

    @property
    def default_is_null(self) -> bool:
        return self.is_nullable and (self.field.default == "null" or self.field.type == "records")

    @property
    def default_is_struct(self) -> bool:
        """A struct of defaults stands where the field is not set; "is it set" then asks the struct."""
        return self.struct is not None and not self.field.is_array and not self.default_is_null

    @property
    def element_python_type(self) -> str:
        if self.struct is not None:
            return self.struct.name
        return _PYTHON_TYPES.get(self.field.element_type, "int")

    @property
    def python_type(self) -> str:
        element = self.element_python_type
        plain = f"list[{element}]" if self.field.is_array else element
        return f"{plain} | None" if self.is_nullable else plain

    @property
    def zero(self) -> str:
        """The default as an expression; a fresh object each time for lists and structs."""
        if self.default_is_null:
            return "None"
        if self.field.is_array:
            return "[]"
        if self.struct is not None:
            return f"{self.struct.name}()"
        default, kind = self.field.default, self.field.type
        if default is None:
            return _ZEROS.get(kind, "0")
        if kind == "bool":
            return default.capitalize()
        return repr(default) if kind == "string" else default

    def is_set(self, value: str) -> str:
        """The condition under which `value` differs from the default."""
        zero = self.zero
        if zero == "None":
            return f"{value} is not None"
        if zero == "True":
            return f"not {value}"
        if self.struct is not None and not self.field.is_array:
            return f"{value} is None or {value}._is_set()" if self.is_nullable else f"{value}._is_set()"
        if zero in ("[]", "False", '""', "''", 'b""'):
            return f"{value} is None or {value}" if self.is_nullable else value
        return f"{value} != {zero}"


@dataclass(slots=True)
class StructClass:
    """A class to generate: a whole message (`spec` is set) or a struct inside one."""

    name: str
    range: Versions
    flexible: Versions
    attributes: list[Attribute] = field(default_factory=list)
    spec: Spec | None = None
    asks_is_set: bool = False  # Some field is compared with a default struct of this class.

    @property
    def is_ever_flexible(self) -> bool:
        return bool(self.flexible & self.range)

    def size_min(self) -> int:
        """The fewest bytes one can take in any version; at least 1, so that a count is always bounded by the bytes."""
        return max(1, min(self._size_min(version) for version in versions_of(self.range)))

    def _size_min(self, version: int) -> int:
        flexible = version in self.flexible
        size = 1 if flexible else 0
        for attribute in self.attributes:
            if version not in attribute.range or attribute.is_tagged:
                continue
            kind = attribute.field
            if attribute.is_fixed:
                size += SIZES[kind.type]
            elif attribute.struct is not None and not kind.is_array:
                size += 1 if attribute.is_nullable else attribute.struct._size_min(version)
            elif flexible:
                size += 1
            else:
                size += 2 if kind.type == "string" else 4
        return size


def versions_of(versions: Versions) -> range:
    return range(versions.low, versions.high + 1)


def segments(versions: Versions, key: Callable[[int], K]) -> list[tuple[Versions, K]]:
    """Neighbouring versions with the same key as one range; newest first, since the newest is used the most."""
    found: list[tuple[Versions, K]] = []
    for version in reversed(versions_of(versions)):
        value = key(version)
        if found and found[-1][1] == value:
            found[-1] = (Versions(version, found[-1][0].high), value)
        else:
            found.append((Versions(version, version), value))
    return found


def classes_of(specs: list[Spec]) -> list[StructClass]:
    """The classes of one module, structs before the messages and structs that hold them."""
    taken: dict[str, int] = {}
    for spec in specs:
        for name in _struct_names(spec):
            taken[name] = taken.get(name, 0) + 1
    clashing = {name for name, count in taken.items() if count > 1}
    classes: list[StructClass] = []
    for spec in specs:
        classes += _Builder(spec, clashing).build()
    return classes


def _struct_names(spec: Spec) -> set[str]:
    names = {struct.name for struct in spec.common_structs}

    def visit(fields: list[Field]) -> None:
        for f in fields:
            if f.fields:
                names.add(f.element_type)
                visit(f.fields)

    visit(spec.fields)
    for struct in spec.common_structs:
        visit(struct.fields)
    return names


class _Builder:
    """Turns one spec into classes; structs that request and response both name get the kind in front."""

    def __init__(self, spec: Spec, clashing: set[str]) -> None:
        self._spec = spec
        self._clashing = clashing
        self._common = {struct.name: struct for struct in spec.common_structs}
        self._built: dict[str, StructClass] = {}
        self._order: list[StructClass] = []

    def build(self) -> list[StructClass]:
        spec = self._spec
        message = StructClass(spec.name, spec.versions, spec.flexible, spec=spec)
        message.attributes = self._attributes(spec.fields, spec.versions)
        self._order.append(message)
        return self._order

    def _attributes(self, fields: list[Field], outer: Versions) -> list[Attribute]:
        attributes = []
        for f in fields:
            versions = f.versions & outer
            if versions:  # A field of versions that Kafka no longer speaks has nothing to carry.
                attribute = Attribute(f, self._struct(f, versions) if f.is_struct else None, versions)
                attributes.append(attribute)
                if attribute.struct is not None and attribute.default_is_struct:
                    attribute.struct.asks_is_set = True
        return attributes

    def _struct(self, f: Field, versions: Versions) -> StructClass:
        name = f.element_type
        if name not in self._built:
            common = self._common.get(name)
            fields, outer = (
                (f.fields, versions) if common is None else (common.fields, common.versions & self._spec.versions)
            )
            struct = StructClass(self._class_name(name), outer, self._spec.flexible)
            self._built[name] = struct
            struct.attributes = self._attributes(fields, outer)
            self._order.append(struct)
        return self._built[name]

    def _class_name(self, name: str) -> str:
        return self._spec.kind.capitalize() + name if name in self._clashing else name
