"""How an option table becomes a checked, frozen configuration. Knows no particular option.

A table is a frozen dataclass whose fields are made by ``option(...)``; ``load`` reads a mapping against it.
Runs once per client, on the caller's thread. Must never import, evaluate or expand anything named in a value, and must
never show the value of a secret.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pykclient.errors import ConfigError

C = TypeVar("C")
MASK = "****"
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


class Secret:
    """A value that is never shown: not by ``repr`` or ``str``, not in a pickle. ``reveal()`` where it is used."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself. Call it at the last moment and keep the result nowhere."""
        return self._value

    def __repr__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a secret is not pickled; build the configuration where it is used")


class Invalid(Exception):
    """A parser's complaint about one value; the sentence follows the option's name. Never leaves this package."""


@dataclass(frozen=True)
class Option:
    """Everything about one option but its name."""

    parse: Callable[[Any], Any]
    kind: str
    doc: str
    limits: str = ""
    secret: bool = False
    ours: bool = False
    """Not an option of the Java client."""


def option(
    default: Any = dataclasses.MISSING,
    *,
    parse: Callable[[Any], Any],
    doc: str,
    kind: str,
    limits: str = "",
    secret: bool = False,
    ours: bool = False,
) -> Any:
    """A field of an option table."""
    metadata = {"option": Option(parse, kind, doc, limits, secret, ours)}
    return dataclasses.field(default=default, metadata=metadata)


def integer(
    default: Any,
    *,
    doc: str,
    at_least: int | None = None,
    at_most: int = INT64_MAX,
    also: int | None = None,
    ours: bool = False,
) -> Any:
    """A whole number in a range; ``also`` is one allowed value outside of it; a default of None makes it optional."""

    def parse(value: Any) -> int:
        number = _to_int(value)
        if number != also and ((at_least is not None and number < at_least) or number > at_most):
            raise Invalid(f"must be {limits}, not {number}")
        return number

    parts = [f"at least {at_least}"] if at_least is not None else []
    if at_most < INT32_MAX:
        parts.append(f"at most {at_most}")
    limits = " and ".join(parts) + (f", or {also}" if also is not None else "")
    limits = limits or f"at most {at_most}"
    shown = "" if limits == f"at most {at_most}" and at_most >= INT32_MAX else limits
    return option(default, parse=parse, doc=doc, kind="int", limits=shown, ours=ours)


def _to_int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Invalid(f"must be a whole number, not {type(value).__name__}")
    if isinstance(value, float):
        if not value.is_integer():
            raise Invalid(f"must be a whole number, not {value}")
        return int(value)
    try:
        return int(value)
    except ValueError:
        raise Invalid(f"must be a whole number, not {value!r}") from None


def boolean(default: bool, *, doc: str, ours: bool = False) -> Any:
    """True or False, or the words as a properties file has them."""
    return option(default, parse=_to_bool, doc=doc, kind="bool", ours=ours)


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise Invalid(f"must be true or false, not {value!r}")


def text(default: Any, *, doc: str, non_empty: bool = False, ours: bool = False) -> Any:
    """A string."""

    def parse(value: Any) -> str:
        if not isinstance(value, str):
            raise Invalid(f"must be text, not {type(value).__name__}")
        if non_empty and not value:
            raise Invalid("must not be empty")
        return value

    return option(default, parse=parse, doc=doc, kind="str", limits="not empty" if non_empty else "", ours=ours)


def choice(default: Any, *choices: str, doc: str, ours: bool = False, upper: bool = False) -> Any:
    """One word of several, in any case."""

    def parse(value: Any) -> str:
        word = str(value).strip()
        word = word.upper() if upper else word.lower()
        if word not in choices:
            raise Invalid(f"must be {limits}, not {value!r}{nearest(word, choices)}")
        return word

    limits = "one of " + ", ".join(choices)
    return option(default, parse=parse, doc=doc, kind="str", limits=limits, ours=ours)


def words(default: tuple[str, ...], *, doc: str, ours: bool = False) -> Any:
    """A list of words, or one string with commas."""

    def parse(value: Any) -> tuple[str, ...]:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
            raise Invalid("must be a list of text, or one text with commas")
        return tuple(item.strip() for item in items if item.strip())

    return option(default, parse=parse, doc=doc, kind="list", ours=ours)


def secret(*, doc: str, ours: bool = False) -> Any:
    """Text that is never shown; None when not given."""

    def parse(value: Any) -> Secret:
        if isinstance(value, Secret):
            return value
        if not isinstance(value, str):
            raise Invalid(f"must be text, not {type(value).__name__}")
        return Secret(value)

    return option(None, parse=parse, doc=doc, kind="secret", secret=True, ours=ours)


def nearest(name: str, names: Any) -> str:
    """``; did you mean X?`` or nothing."""
    import difflib

    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def option_fields(table: type) -> dict[str, tuple[dataclasses.Field[Any], Option]]:
    """The options of a table by their Python name, in the order they are written."""
    return {
        field.name: (field, field.metadata["option"])
        for field in dataclasses.fields(table)
        if "option" in field.metadata
    }


def load(
    table: type[C],
    given: Mapping[str, Any],
    *,
    refused: Mapping[str, str],
    aliases: Mapping[str, str],
    resolve: Callable[[dict[str, Any], frozenset[str]], list[str]],
) -> C:
    """Check everything, then either build the table or raise one `ConfigError` that lists all problems.

    ``resolve(values, given_names)`` sees all values, may adjust those that follow from others, and returns conflicts.
    """
    known = option_fields(table)
    problems: list[str] = []
    values: dict[str, Any] = {}
    seen: set[str] = set()
    for key, value in given.items():
        name = str(key).replace(".", "_")
        name = aliases.get(name, name)
        dotted = name.replace("_", ".")
        if dotted in refused:
            problems.append(f"{key}: {refused[dotted]}")
        elif name not in known:
            problems.append(f"unknown option {key!r}{_nearest_option(str(key), known)}")
        elif name in seen:
            problems.append(f"{key}: given twice, in two spellings")
        else:
            seen.add(name)
            _parse_into(values, name, known, value, problems)
    for name, (field, _) in known.items():
        required = field.default is dataclasses.MISSING
        if required and name not in seen:
            problems.append(f"{name} is required")
        values.setdefault(name, None if required else field.default)
    # Values that did not parse have been replaced by defaults here, so that conflicts between the others still show.
    problems.extend(resolve(values, frozenset(seen)))
    if problems:
        raise ConfigError(problems)
    return table(**values)


def _parse_into(
    values: dict[str, Any],
    name: str,
    known: Mapping[str, tuple[dataclasses.Field[Any], Option]],
    value: Any,
    problems: list[str],
) -> None:
    field, description = known[name]
    # None means "not set" where that is the default; elsewhere it is most likely a missing variable.
    if value is None and field.default is None:
        values[name] = None
        return
    if isinstance(value, str) and "${" in value and not description.secret:
        problems.append(f"{name}: ${{...}} is not expanded here; put the value itself")
        return
    try:
        values[name] = description.parse(value)
    except Invalid as complaint:
        problems.append(f"{name} {complaint}")


def _nearest_option(key: str, known: Mapping[str, Any]) -> str:
    dotted = "." in key
    return nearest(key, [name.replace("_", ".") for name in known] if dotted else known)


def show(config: Any) -> str:
    """What was changed from the defaults, secrets masked; for ``repr``."""
    parts = []
    for name, (field, description) in option_fields(type(config)).items():
        value = getattr(config, name)
        if value != field.default:
            parts.append(f"{name}={MASK if description.secret else repr(value)}")
    return f"{type(config).__name__}({', '.join(parts)})"
