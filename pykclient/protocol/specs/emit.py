"""The text of a generated class: constructor, reader and writer as straight-line code.

Owns: how a struct's layout becomes Python. Adjacent fixed-size fields share one `Struct`, and where versions differ a
chain of plain `if`s picks the layout, newest first. Runs at development time only; what it writes should read as if
written by hand.
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


def chain(branches: list[tuple[Versions, list[str]]], *, total: bool = False) -> list[str]:
    """`if version >= ...` over ranges, newest first. `total`: each branch assigns something, so none is left out."""
    if not total:
        while branches and not branches[-1][1]:
            branches = branches[:-1]
            if not branches or branches[-1][1]:
                return _chain(branches, closed=False)
        if len(branches) > 1 and not branches[0][1]:
            rest = _chain(branches[1:], closed=True)
            return _under(f"version < {branches[0][0].low}", rest)
    return _chain(branches, closed=True)


def _chain(branches: list[tuple[Versions, list[str]]], *, closed: bool) -> list[str]:
    if not branches:
        return []
    if len(branches) == 1:
        return branches[0][1] if closed else _under(f"version >= {branches[0][0].low}", branches[0][1])
    lines: list[str] = []
    for index, (versions, body) in enumerate(branches):
        if not closed or index < len(branches) - 1:
            lines += [f"{'elif' if index else 'if'} version >= {versions.low}:", *indent(body or ["pass"])]
        elif _is_single_if(body):
            lines += ["el" + body[0], *body[1:]]
        else:
            lines += ["else:", *indent(body)]
    return lines


def _under(condition: str, body: list[str]) -> list[str]:
    """`body` under a condition; a body that is one plain `if` takes the condition in."""
    if _is_single_if(body) and " or " not in body[0]:
        return [f"if {condition} and {body[0].removeprefix('if ')}", *body[1:]]
    return [f"if {condition}:", *indent(body)]


def _is_single_if(body: list[str]) -> bool:
    return body[0].startswith("if ") and all(line.startswith("    ") for line in body[1:])


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
        quoted = [f'"{name}"' for name in names]
        body = [f'"""{self._doc(struct)}"""', ""]
        if len(quoted) == 1:
            quoted[0] += ","
        body += _fill("__slots__ = (", quoted, ")")
        body.append("")
        body += [f"{a.name}: {a.python_type}" for a in struct.attributes]
        if struct.is_ever_flexible:
            body.append("unknown_tags: dict[int, bytes] | None")
        if struct.spec is not None:
            body += self._constants(struct)
        body += ["", *self._init(struct), ""]
        if struct.spec is not None:
            body += [*self._public(struct), ""]
        body += [*self._write(struct), "", *self._read(struct), ""]
        if struct.asks_is_set:
            body += [*self._is_set(struct), ""]
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
        head = "def __init__(" + ", ".join(parameters) + ") -> None:"
        lines = (
            [head] if len(head) <= LINE_WIDTH else ["def __init__(", *indent(f"{p}," for p in parameters), ") -> None:"]
        )
        return [*lines, *indent(assigns or ["pass"])]

    def _is_set(self, struct: StructClass) -> list[str]:
        conditions = [a.is_set(f"self.{a.name}") for a in struct.attributes]
        if struct.is_ever_flexible:
            conditions.append("self.unknown_tags")
        return [
            "def _is_set(self) -> bool:",
            '    """Whether anything differs from its default."""',
            *indent(_fill("return bool(", [f"{c} or" for c in conditions[:-1]] + conditions[-1:], ")", separator=" ")),
        ]

    def _public(self, struct: StructClass) -> list[str]:
        self.use("Buffer")
        return [
            "def write(self, version: int) -> bytes:",
            f"    return {self.use('write_message')}(self, version)",
            "",
            "@classmethod",
            f"def read(cls, buffer: Buffer, version: int, position: int = 0) -> {struct.name}:",
            f"    return {self.use('read_message')}(cls, buffer, position, version)",
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
        body += _fill(f"return {struct.name}(", values, "), position")
        return [*lines, *indent(body)]

    def _read_run(self, struct: StructClass, run: Step) -> list[str]:
        branches = []
        for versions, present in segments(struct.range, lambda v: tuple(v in a.range for a in run)):
            here = [a for a, is_here in zip(run, present, strict=True) if is_here]
            body = []
            if here:
                body += _unpack([a.local for a in here], f" = {self.codec(here)}.unpack_from(buffer, position)")
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
        _, (first_present, _, first_nullable) = found[0]
        if self._needs_note(a, len(found), first_present, first_nullable):
            lines.insert(0, f"{a.local}: {a.python_type}")
        return lines

    @staticmethod
    def _needs_note(a: Attribute, count: int, first_present: bool, first_nullable: bool) -> bool:
        """Whether the type checker would infer too narrow a type from the first assignment."""
        if a.is_nullable and a.struct is not None and not a.field.is_array:
            return True
        if count == 1:
            return False
        if a.field.type == "records":
            return True
        return (a.is_nullable and not (first_present and first_nullable)) or (a.field.is_array and not first_present)

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
        return [f"{name}, position = {self.use(f'read_{compact}{null}{kind}')}(buffer, position)"]

    def _read_array(self, a: Attribute, compact: str, null: str) -> list[str]:
        element = a.field.element_type
        head = f"{a.local}, position = "
        if a.struct is not None:
            helper = self.use(f"read_{compact}{null}structs")
            arguments = ["buffer", "position", "version", f"{a.struct.name}._read", str(a.struct.size_min())]
            return _fill(f"{head}{helper}(", arguments, ")", width=LINE_WIDTH - 12)
        if element in ("string", "uuid"):
            return [f"{head}{self.use(f'read_{compact}{null}{element}s')}(buffer, position)"]
        numbers = self.use(f"read_{compact}{null}numbers")
        return [f'{head}{numbers}(buffer, position, "{CODES[element]}", {SIZES[element]})']

    def _read_tags(self, struct: StructClass) -> list[str]:
        tagged = [a for a in struct.attributes if a.is_tagged]
        lines: list[str] = []
        for a in tagged:
            note = f": {a.python_type}" if a.is_nullable or a.field.is_array else ""
            lines.append(f"{a.local}{note} = {self._zero(a)}")
        if not tagged:
            body = ["if buffer[position]:", f"    tags, position = {self.use('read_unknown_tags')}(buffer, position)"]
            body += ["else:", "    tags, position = None, position + 1"]
            if struct.range.low in struct.flexible:
                return body
            return [f"if version < {struct.flexible.low}:", "    tags = None", "el" + body[0], *body[1:]]
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
            f"    raise {self.use('tag_end_missed')}(tag, position, end)",
        ]
        start = [
            f"count, position = {self.use('read_tag_count')}(buffer, position)",
            "tag = -1",
            "for _ in range(count):",
        ]
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
                if len(here) == 1 and here[0].field.type == "uuid":
                    body.append(f"append({values[0]})")
                else:
                    body += _fill(f"append({self.codec(here)}.pack(", values, "))")
            branches.append((versions, body))
        return chain(branches)

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
        return chain(branches)

    def _write_value(self, a: Attribute, flexible: bool, nullable: bool) -> list[str]:
        """Appends one variable-size field."""
        value, kind = f"self.{a.name}", a.field.type
        compact = "compact_" if flexible else ""
        null_bytes = 'b"\\0"' if flexible else 'b"\\xff\\xff\\xff\\xff"'
        if kind in ("bytes", "records"):
            body = [f"append({self.use(f'encode_{compact}size')}({value}))", f"append({value})"]
        elif a.struct is None:
            null = "nullable_" if nullable and kind == "string" else ""
            body = [f"append({self._encoded(a, compact, null)})"]
        elif a.field.is_array:
            body = [f"{self.use(f'append_{compact}structs')}(out, {value}, version)"]
        else:
            null_bytes = 'b"\\xff"'
            body = [*(['append(b"\\1")'] if nullable else []), f"{value}._write(out, version)"]
        if not nullable or kind == "string":
            return body
        return [f"if {value} is None:", f"    append({null_bytes})", "else:", *indent(body)]

    def _encoded(self, a: Attribute, compact: str, null: str) -> str:
        """A field as an expression that gives bytes; null of an array is the caller's matter."""
        value, element = f"self.{a.name}", a.field.element_type
        if a.is_fixed:
            return f"{value}.bytes" if element == "uuid" else f"{self.codec([a])}.pack({value})"
        if a.struct is not None and a.field.is_array:
            return f"{self.use('encode_compact_structs')}({value}, version)"
        if a.struct is not None:
            return f"{self.use('encode_struct')}({value}, version)"
        if not a.field.is_array:
            if element in ("bytes", "records"):
                return f"{self.use('encode_compact_size')}({value}) + {value}"
            return f"{self.use(f'encode_{compact}{null}string')}({value})"
        if element in ("string", "uuid"):
            return f"{self.use(f'encode_{compact}{element}s')}({value})"
        return f'{self.use(f"encode_{compact}numbers")}({value}, "{CODES[element]}")'

    def _write_tags(self, struct: StructClass) -> list[str]:
        tagged = sorted((a for a in struct.attributes if a.is_tagged), key=lambda a: a.field.tag or 0)
        if not tagged:
            body = [
                "if self.unknown_tags:",
                f"    {self.use('append_tags')}(out, [], self.unknown_tags)",
                "else:",
                '    append(b"\\0")',
            ]
            return self._flexible_only(struct, body)
        lines = ["known: list[tuple[int, bytes]] = []"]
        for a in tagged:
            branches = []
            for versions, present in segments(struct.range, lambda v, a=a: v in a.range):  # type: ignore[misc]
                branches.append((versions, self._write_tag(a) if present else self._refuse(a)))
            lines += chain(branches)
        last = ["if known or self.unknown_tags:", f"    {self.use('append_tags')}(out, known, self.unknown_tags)"]
        last += ["else:", '    append(b"\\0")']
        return lines + self._flexible_only(struct, last)

    def _flexible_only(self, struct: StructClass, body: list[str]) -> list[str]:
        if struct.range.low in struct.flexible:
            return body
        refuse = f'    raise {self.use("not_carried")}(self, "unknown_tags", version)'
        return [f"if version >= {struct.flexible.low}:", *indent(body), "elif self.unknown_tags:", refuse]

    def _write_tag(self, a: Attribute) -> list[str]:
        """A known tag is written only when it differs from the default."""
        if a.zero == "ZERO_UUID":
            self.use("ZERO_UUID")
        value = f"self.{a.name}"
        content = self._encoded(a, "compact_", "")
        null = '"\\0"'
        if a.is_nullable and a.struct is not None and not a.field.is_array:
            content, null = f'b"\\1" + {content}', '"\\xff"'
        if a.is_nullable and not a.default_is_null:
            content = f"b{null} if {value} is None else {content}"
        return [f"if {a.is_set(value)}:", f"    known.append(({a.field.tag}, {content}))"]


def struct_name(code: str) -> str:
    return "_" + code.replace("?", "t").replace("16s", "u")


LINE_WIDTH = 108  # Code inside a method is indented by eight columns or more.


def _fill(head: str, items: list[str], tail: str, *, separator: str = ", ", width: int = LINE_WIDTH) -> list[str]:
    """On one line if it fits, else with the items filled into indented lines."""
    line = head + separator.join(items) + tail
    if len(line) <= width:
        return [line]
    return [head, *indent(_filled_lines(items, separator)), tail]


def _filled_lines(items: list[str], separator: str) -> list[str]:
    lines = [""]
    for item in items:
        piece = item + separator.rstrip()
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > LINE_WIDTH - 8:
            lines.append("")
        lines[-1] += " " + piece if lines[-1] else piece
    return lines


def _unpack(targets: list[str], tail: str) -> list[str]:
    """An assignment from a tuple."""
    if len(targets) == 1:
        return [f"({targets[0]},){tail}"]
    line = ", ".join(targets) + tail
    return [line] if len(line) <= LINE_WIDTH else _fill("(", targets, ")" + tail)
