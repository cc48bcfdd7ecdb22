"""The text of a generated class: constructor, reader and writer as straight-line code.

Owns: how a struct's layout becomes Python. Adjacent fixed-size fields share one `Struct`, and where versions differ a chain of plain
`if`s picks the layout, newest first. Runs at development time only; the style of its output is the style we would write by hand.
"""

from __future__ import annotations

from collections.abc import Iterable

from .layout import CODES, SIZES, Attribute, StructClass, segments
from .notation import Versions

Step = list[Attribute]  # One variable-size field, or a run of fixed-size ones.


def indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line if line else "" for line in lines]


def steps_of(struct: StructClass) -> list[Step]:
    """The body's fields in order, tagged ones left out, neighbouring fixed-size ones together."""
    steps: list[Step] = []
    for attribute in struct.attributes:
        if attribute.is_tagged:
            continue
        if attribute.is_fixed and steps and steps[-1][0].is_fixed:
            steps[-1].append(attribute)
        else:
            steps.append([attribute])
    return steps


def chain(branches: list[tuple[Versions, list[str]]], *, total: bool) -> list[str]:
    """`if version >= ...` over ranges, newest first. `total`: every branch must stay, since each assigns something."""
    while not total and branches and not branches[-1][1]:
        branches = branches[:-1]
        if branches and not branches[-1][1]:
            continue
        return _chain(branches, closed=False)
    return _chain(branches, closed=True)


def _chain(branches: list[tuple[Versions, list[str]]], *, closed: bool) -> list[str]:
    if not branches:
        return []
    if closed and len(branches) == 1:
        return branches[0][1]
    lines = []
    for index, (versions, body) in enumerate(branches):
        if closed and index == len(branches) - 1:
            lines.append("else:")
        else:
            lines.append(f"{'elif' if index else 'if'} version >= {versions.low}:")
        lines += indent(body or ["pass"])
    return lines


class Emitter:
    """Writes the classes of one module and remembers which structs and helpers they use."""

    def __init__(self) -> None:
        self.codes: set[str] = set()
        self.helpers: set[str] = set()
        self.uses: set[str] = set()

    def use(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper

    def codec(self, attributes: list[Attribute]) -> str:
        code = "".join(CODES[a.field.type] for a in attributes)
        self.codes.add(code)
        return struct_name(code)

    # ---- the class ----

    def emit_class(self, struct: StructClass) -> list[str]:
        names = [a.name for a in struct.attributes]
        if struct.is_ever_flexible:
            names.append("unknown_tags")
        lines = ["@dataclass(init=False, repr=False, eq=False, match_args=False)", f"class {struct.name}:"]
        body = [f'"""{self._doc(struct)}"""', "", f"__slots__ = {_tuple(repr(n) for n in names)}", ""]
        body += [f"{a.name}: {a.python_type}" for a in struct.attributes]
        if struct.is_ever_flexible:
            body.append("unknown_tags: dict[int, bytes] | None")
        if struct.spec is not None:
            body += self._constants(struct)
        body += ["", *self._init(struct), ""]
        if struct.spec is not None:
            body += [*self._public(struct), ""]
        body += [*self._write(struct), "", *self._read(struct), ""]
        body += [f"__eq__ = {self.use('structs_equal')}", f"__repr__ = {self.use('struct_repr')}"]
        return [*lines, *indent(body)]

    def _doc(self, struct: StructClass) -> str:
        low, high = struct.range.low, struct.range.high
        span = f"version {low}" if low == high else f"versions {low} to {high}"
        return f"{struct.name}, {span}."

    def _constants(self, struct: StructClass) -> list[str]:
        spec = struct.spec
        assert spec is not None
        self.uses.add("ClassVar")
        flexible = spec.flexible & spec.versions
        return [
            "",
            f"API_KEY: ClassVar[{'int' if spec.key is not None else 'None'}] = {spec.key}",
            f"MIN_VERSION: ClassVar[int] = {spec.versions.low}",
            f"MAX_VERSION: ClassVar[int] = {spec.versions.high}",
            f"FLEXIBLE_FROM: ClassVar[int | None] = {flexible.low if flexible else None}",
        ]

    def _init(self, struct: StructClass) -> list[str]:
        parameters, assigns = ["self"], []
        for a in struct.attributes:
            zero = a.zero
            if zero == "[]":
                parameters.append(f"{a.name}: {a.python_type} = {self.use('EMPTY')}")
                assigns.append(f"self.{a.name} = [] if {a.name} is EMPTY else {a.name}")
            elif a.struct is not None and zero != "None":
                parameters.append(f"{a.name}: {a.python_type} = {self.use('NOT_GIVEN')}")
                assigns.append(f"self.{a.name} = {zero} if {a.name} is NOT_GIVEN else {a.name}")
            else:
                if zero == "ZERO_UUID":
                    self.use(zero)
                parameters.append(f"{a.name}: {a.python_type} = {zero}")
                assigns.append(f"self.{a.name} = {a.name}")
        if struct.is_ever_flexible:
            parameters.append("unknown_tags: dict[int, bytes] | None = None")
            assigns.append("self.unknown_tags = unknown_tags")
        return [*_call("def __init__(", parameters, ") -> None:"), *indent(assigns or ["pass"])]

    def _public(self, struct: StructClass) -> list[str]:
        versions = f"{struct.range.low}, {struct.range.high}"
        self.use("Buffer")
        return [
            "def write(self, version: int) -> bytes:",
            f"    return {self.use('write_message')}(self, version, {versions})",
            "",
            "@classmethod",
            f"def read(cls, buffer: Buffer, version: int, position: int = 0) -> {struct.name}:",
            f'    return {self.use("read_message")}("{struct.name}", cls._read, buffer, position, version, ({versions}))',
        ]

    # ---- reading ----

    def _read(self, struct: StructClass) -> list[str]:
        self.use("Buffer")
        lines = ["@staticmethod"]
        lines.append(f"def _read(buffer: Buffer, position: int, version: int) -> tuple[{struct.name}, int]:")
        body: list[str] = []
        for step in steps_of(struct):
            body += self._read_run(struct, step) if step[0].is_fixed else self._read_one(struct, step[0])
        values = [a.local for a in struct.attributes]
        if struct.is_ever_flexible:
            body += self._read_tags(struct)
            values.append("tags")
        body += _call(f"return {struct.name}(", values, "), position")
        return [*lines, *indent(body)]

    def _read_run(self, struct: StructClass, run: Step) -> list[str]:
        branches = []
        for versions, present in segments(struct.range, lambda v: tuple(v in a.range for a in run)):
            here = [a for a, is_here in zip(run, present, strict=True) if is_here]
            body = []
            if here:
                targets = ", ".join(a.local for a in here) + ("," if len(here) == 1 else "")
                targets = f"({targets})" if len(here) == 1 else targets
                body.append(f"{targets} = {self.codec(here)}.unpack_from(buffer, position)")
                body.append(f"position += {sum(SIZES[a.field.type] for a in here)}")
                for a in here:
                    if a.field.type == "uuid":
                        body.append(f"{a.local} = {self.use('uuid_of')}({a.local})")
            for a, is_here in zip(run, present, strict=True):
                if not is_here:
                    body.append(f"{a.local} = {self._zero(a)}")
            branches.append((versions, body))
        return chain(branches, total=True)

    def _zero(self, a: Attribute) -> str:
        zero = a.zero
        return self.use(zero) if zero == "ZERO_UUID" else zero

    def _read_one(self, struct: StructClass, a: Attribute) -> list[str]:
        found = segments(struct.range, lambda v: (v in a.range, self._is_flexible(struct, a, v), v in a.field.nullable))
        branches = []
        for versions, (present, flexible, nullable) in found:
            body = self._read_value(a, flexible, nullable) if present else [f"{a.local} = {self._zero(a)}"]
            branches.append((versions, body))
        lines = chain(branches, total=True)
        if len(branches) > 1 and (a.is_nullable or a.field.is_array) or (a.is_nullable and a.struct is not None) or (
            a.is_nullable and a.field.is_array
        ):
            lines.insert(0, f"{a.local}: {a.python_type}")
        return lines

    @staticmethod
    def _is_flexible(struct: StructClass, a: Attribute, version: int) -> bool:
        own = a.field.flexible
        return version in (struct.flexible if own is None else own)

    def _read_value(self, a: Attribute, flexible: bool, nullable: bool) -> list[str]:
        """Reads one variable-size field, or a fixed-size one inside a tag, into its local variable."""
        name, kind = a.local, a.field.type
        compact = "compact_" if flexible else ""
        null = "nullable_" if nullable else ""
        if a.field.is_array:
            return self._read_array(a, compact, null)
        if a.struct is not None:
            read = f"{name}, position = {a.struct.name}._read(buffer, position, version)"
            if not nullable:
                return [read]
            return [
                "position += 1",
                "if buffer[position - 1] >= 0x80:",
                f"    {name} = None",
                "else:",
                f"    {read}",
            ]
        if a.is_fixed:
            lines = [f"({name},) = {self.codec([a])}.unpack_from(buffer, position)", f"position += {SIZES[kind]}"]
            return [*lines, f"{name} = {self.use('uuid_of')}({name})"] if kind == "uuid" else lines
        null = "nullable_" if kind == "records" else null
        return [f"{name}, position = {self.use(f'read_{compact}{null}{kind}')}(buffer, position)"]

    def _read_array(self, a: Attribute, compact: str, null: str) -> list[str]:
        element = a.field.element_type
        if a.struct is not None:
            size_min = a.struct.size_min()
            read = f"{self.use('read_structs')}(buffer, position, version, count, {a.struct.name}._read)"
        elif element == "string":
            size_min = 1 if compact else 2
            read = f"{self.use(f'read_{compact}strings')}(buffer, position, count)"
        elif element == "uuid":
            size_min = 16
            read = f"{self.use('read_uuids')}(buffer, position, count)"
        else:
            size_min = SIZES[element]
            read = f'{self.use("read_numbers")}(buffer, position, count, "{CODES[element]}")'
        count = f"count, position = {self.use(f'read_{compact}{null}count')}(buffer, position, {size_min})"
        if not null:
            return [count, f"{a.local}, position = {read}"]
        return [count, "if count < 0:", f"    {a.local} = None", "else:", f"    {a.local}, position = {read}"]

    def _read_tags(self, struct: StructClass) -> list[str]:
        tagged = [a for a in struct.attributes if a.is_tagged]
        lines: list[str] = []
        for a in tagged:
            note = f": {a.python_type}" if a.is_nullable or a.field.is_array else ""
            lines.append(f"{a.local}{note} = {self._zero(a)}")
        if not tagged:
            body = [f"tags, position = {self.use('read_unknown_tags')}(buffer, position)"]
            if struct.range.low in struct.flexible:
                return body
            return [f"if version >= {struct.flexible.low}:", *indent(body), "else:", "    tags = None"]
        lines.append("tags: dict[int, bytes] | None = None")
        body = ["if buffer[position] == 0:", "    position += 1", "else:", *indent(self._tag_loop(struct, tagged))]
        if struct.range.low not in struct.flexible:
            body = [f"if version >= {struct.flexible.low}:", *indent(body)]
        return lines + body

    def _tag_loop(self, struct: StructClass, tagged: list[Attribute]) -> list[str]:
        loop = [f"tag, position, end = {self.use('read_tag')}(buffer, position, tag)"]
        for index, a in enumerate(tagged):
            condition = f"tag == {a.field.tag}"
            flexible_range = struct.flexible & struct.range
            if a.range.low > flexible_range.low:
                condition += f" and version >= {a.range.low}"
            if a.range.high < flexible_range.high:
                condition += f" and version <= {a.range.high}"
            loop.append(f"{'elif' if index else 'if'} {condition}:")
            loop += indent(self._read_value(a, True, bool(a.field.nullable & a.range)))
        loop += [
            "else:",
            "    tags = tags or {}",
            "    tags[tag] = bytes(buffer[position:end])",
            "    position = end",
            "if position != end:",
            f"    {self.use('check_tag_end')}(position, end, tag)",
        ]
        start = [f"count, position = {self.use('read_tag_count')}(buffer, position)", "tag = -1", "for _ in range(count):"]
        return [*start, *indent(loop)]

    # ---- writing ----

    def _write(self, struct: StructClass) -> list[str]:
        self.use("Buffer")
        body: list[str] = []
        for step in steps_of(struct):
            body += self._write_run(struct, step) if step[0].is_fixed else self._write_one(struct, step[0])
        if struct.is_ever_flexible:
            body += self._write_tags(struct)
        if any("append(" in line for line in body):
            body.insert(0, "append = out.append")
        return ["def _write(self, out: list[Buffer], version: int) -> None:", *indent(body or ["pass"])]

    def _write_run(self, struct: StructClass, run: Step) -> list[str]:
        branches = []
        for versions, present in segments(struct.range, lambda v: tuple(v in a.range for a in run)):
            here = [a for a, is_here in zip(run, present, strict=True) if is_here]
            body = []
            for a, is_here in zip(run, present, strict=True):
                if not is_here:
                    body += self._refuse(a)
            if here:
                values = [f"self.{a.name}.bytes" if a.field.type == "uuid" else f"self.{a.name}" for a in here]
                body += _call(f"append({self.codec(here)}.pack(", values, "))")
            branches.append((versions, body))
        return chain(branches, total=False)

    def _refuse(self, a: Attribute) -> list[str]:
        """What a version cannot carry must be at its default, unless losing it does no harm."""
        if a.field.ignorable:
            return []
        if a.zero == "ZERO_UUID":
            self.use("ZERO_UUID")
        return [f"if {a.is_set(f'self.{a.name}')}:", f'    raise {self.use("not_carried")}(self, "{a.name}", version)']

    def _write_one(self, struct: StructClass, a: Attribute) -> list[str]:
        found = segments(struct.range, lambda v: (v in a.range, self._is_flexible(struct, a, v), v in a.field.nullable))
        branches = []
        for versions, (present, flexible, nullable) in found:
            body: list[str] = []
            if not present:
                body = self._refuse(a)
            else:
                if a.is_nullable and not nullable:
                    raising = f'    raise {self.use("not_carried")}(self, "{a.name}", version)'
                    body = [f"if self.{a.name} is None:", raising]
                body += self._write_value(a, flexible, nullable)
            branches.append((versions, body))
        return chain(branches, total=False)

    def _write_value(self, a: Attribute, flexible: bool, nullable: bool) -> list[str]:
        """Appends one variable-size field, or a fixed-size one inside a tag."""
        value, kind = f"self.{a.name}", a.field.type
        compact = "compact_" if flexible else ""
        if a.is_fixed:
            return [f"append({self.codec([a])}.pack({value}{'.bytes' if kind == 'uuid' else ''}))"]
        if kind == "string":
            null = "nullable_" if nullable else ""
            return [f"append({self.use(f'encode_{compact}{null}string')}({value}))"]
        null_bytes = 'b"\\0"' if flexible else 'b"\\xff\\xff\\xff\\xff"'
        if a.field.is_array:
            body = self._write_array(a, compact)
        elif a.struct is not None:
            null_bytes = 'b"\\xff"'
            body = [*(['append(b"\\1")'] if nullable else []), f"{value}._write(out, version)"]
        else:
            body = [f"append({self.use(f'encode_{compact}size')}({value}))", f"append({value})"]
        if not nullable:
            return body
        return [f"if {value} is None:", f"    append({null_bytes})", "else:", *indent(body)]

    def _write_array(self, a: Attribute, compact: str) -> list[str]:
        value, element = f"self.{a.name}", a.field.element_type
        body = [f"append({self.use(f'encode_{compact}count')}({value}))"]
        if a.struct is not None:
            return [*body, f"for item in {value}:", "    item._write(out, version)"]
        if element == "string":
            return [*body, f"for item in {value}:", f"    append({self.use(f'encode_{compact}string')}(item))"]
        if element == "uuid":
            return [*body, f"for item in {value}:", "    append(item.bytes)"]
        return [*body, f'append({self.use("encode_numbers")}({value}, "{CODES[element]}"))']

    def _write_tags(self, struct: StructClass) -> list[str]:
        tagged = sorted((a for a in struct.attributes if a.is_tagged), key=lambda a: a.field.tag or 0)
        if not tagged:
            body = [
                "if self.unknown_tags:",
                f"    {self.use('append_tags')}(out, [], self.unknown_tags)",
                "else:",
                '    append(b"\\0")',
            ]
            return body if struct.range.low in struct.flexible else [f"if version >= {struct.flexible.low}:", *indent(body)]
        lines = ["known: list[tuple[int, bytes]] = []"]
        for a in tagged:
            branches = []
            for versions, present in segments(struct.range, lambda v, a=a: v in a.range):  # type: ignore[misc]
                branches.append((versions, self._write_tag(a) if present else self._refuse(a)))
            lines += chain(branches, total=False)
        last = ["if known or self.unknown_tags:", f"    {self.use('append_tags')}(out, known, self.unknown_tags)"]
        last += ["else:", '    append(b"\\0")']
        return lines + (last if struct.range.low in struct.flexible else [f"if version >= {struct.flexible.low}:", *indent(last)])

    def _write_tag(self, a: Attribute) -> list[str]:
        """A known tag is written only when it differs from the default."""
        if a.zero == "ZERO_UUID":
            self.use("ZERO_UUID")
        nullable = bool(a.field.nullable & a.range) and not a.default_is_null
        content = [line.replace("append(", "part.append(").replace("(out,", "(part,") for line in self._write_value(a, True, nullable)]
        if a.default_is_null and a.struct is not None and not a.field.is_array:
            content.insert(0, 'part.append(b"\\1")')
        body = ["part: list[Buffer] = []", *content, f'known.append(({a.field.tag}, b"".join(part)))']
        return [f"if {a.is_set(f'self.{a.name}')}:", *indent(body)]


def struct_name(code: str) -> str:
    return "_" + code.replace("?", "t").replace("16s", "u")


def _tuple(items: Iterable[str]) -> str:
    listed = list(items)
    joined = ", ".join(listed)
    text = f"({joined},)" if len(listed) == 1 else f"({joined})"
    if len(text) <= 96:
        return text
    return "(\n" + "".join(f"        {item},\n" for item in listed) + "    )"


def _call(head: str, arguments: list[str], tail: str) -> list[str]:
    """On one line if it fits, else one argument per line."""
    line = head + ", ".join(arguments) + tail
    if len(line) <= 104:
        return [line]
    return [head, *indent(f"{argument}," for argument in arguments), tail]
