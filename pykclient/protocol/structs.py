"""What the generated messages share beyond primitive values: arrays of structs, tagged fields, whole bodies.

Pure functions, for any thread. A count is compared with the bytes that are there before a list is built for it, tags
must ascend, and nothing but ProtocolError leaves `read_message`, whatever the bytes are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from pykclient.errors import ProtocolError, UsageError
from pykclient.protocol.primitives import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    Buffer,
    count_too_large,
    encode_compact_count,
    encode_count,
    encode_uvarint,
    end_of,
    read_compact_count,
    read_count,
    read_uvarint,
    unexpected_null,
)

T = TypeVar("T")

# Stand for "not given" in constructors of messages, where None is a value; a fresh list or struct takes their place.
EMPTY: list[Any] = []
NOT_GIVEN: Any = Ellipsis


class Writable(Protocol):
    """Any generated message or struct."""

    def _write(self, out: list[Buffer], version: int) -> None: ...


class Message(Writable, Protocol):
    """A generated request, response or record."""

    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]

    def write(self, version: int) -> bytes: ...

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> Any: ...

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Any, int]: ...


M = TypeVar("M", bound=Message)
StructReader = Callable[[Buffer, int, int], tuple[T, int]]


def read_nullable_structs(
    buffer: Buffer, position: int, version: int, read: StructReader[T], size_min: int
) -> tuple[list[T] | None, int]:
    count, position = read_count(buffer, position, size_min)
    return (None, position) if count < 0 else _read_structs(buffer, position, version, read, count)


def read_structs(
    buffer: Buffer, position: int, version: int, read: StructReader[T], size_min: int
) -> tuple[list[T], int]:
    count, end = read_count(buffer, position, size_min)
    if count < 0:
        raise unexpected_null(position)
    return _read_structs(buffer, end, version, read, count)


def read_compact_nullable_structs(
    buffer: Buffer, position: int, version: int, read: StructReader[T], size_min: int
) -> tuple[list[T] | None, int]:
    count, position = read_compact_count(buffer, position, size_min)
    return (None, position) if count < 0 else _read_structs(buffer, position, version, read, count)


def read_compact_structs(
    buffer: Buffer, position: int, version: int, read: StructReader[T], size_min: int
) -> tuple[list[T], int]:
    count, end = read_compact_count(buffer, position, size_min)
    if count < 0:
        raise unexpected_null(position)
    return _read_structs(buffer, end, version, read, count)


def _read_structs(
    buffer: Buffer, position: int, version: int, read: StructReader[T], count: int
) -> tuple[list[T], int]:
    items = []
    for _ in range(count):
        item, position = read(buffer, position, version)
        items.append(item)
    return items, position


def append_structs(out: list[Buffer], values: Sequence[Writable], version: int) -> None:
    out.append(encode_count(len(values)))
    for value in values:
        value._write(out, version)


def append_compact_structs(out: list[Buffer], values: Sequence[Writable], version: int) -> None:
    out.append(encode_compact_count(len(values)))
    for value in values:
        value._write(out, version)


# ---- tagged fields ----


def read_tag(buffer: Buffer, position: int, previous: int) -> tuple[int, int, int]:
    """One tag's number, the position of its content and the end of it. Numbers must ascend, so none comes twice."""
    tag, position = read_uvarint(buffer, position)
    if tag <= previous:
        raise ProtocolError(f"tag {tag} after tag {previous} at byte {position}")
    size, position = read_uvarint(buffer, position)
    return tag, position, end_of(buffer, position, size)


def read_tag_count(buffer: Buffer, position: int) -> tuple[int, int]:
    """How many tags follow; each takes two bytes at least."""
    count, position = read_uvarint(buffer, position)
    if count * 2 > len(buffer) - position:
        raise count_too_large(buffer, position, count, 2)
    return count, position


def read_unknown_tags(buffer: Buffer, position: int) -> tuple[dict[int, bytes] | None, int]:
    """The tags of a struct that defines none of its own."""
    if buffer[position] == 0:
        return None, position + 1
    count, position = read_tag_count(buffer, position)
    tags: dict[int, bytes] = {}
    tag = -1
    for _ in range(count):
        tag, start, position = read_tag(buffer, position, tag)
        tags[tag] = bytes(buffer[start:position])
    return tags or None, position


def tag_end_missed(tag: int, position: int, end: int) -> ProtocolError:
    return ProtocolError(f"the content of tag {tag} ends at byte {position} instead of {end}")


def append_tags(out: list[Buffer], known: list[tuple[int, bytes]], unknown: dict[int, bytes] | None) -> None:
    """Known and unknown tags in ascending order. `known` is in order already."""
    if unknown:
        numbers = {tag for tag, _ in known}
        if not numbers.isdisjoint(unknown):
            raise UsageError(f"unknown_tags repeats a field's own tag: {sorted(numbers & unknown.keys())}")
        known = sorted([*known, *unknown.items()])
    out.append(encode_uvarint(len(known)))
    for tag, content in known:
        out += (encode_uvarint(tag), encode_uvarint(len(content)), content)


# ---- what every message shares ----

# Shown as "..." by repr, so that no log line, error or debugger view gives a credential away.
SECRET_FIELDS = frozenset({"auth_bytes", "hmac", "salt", "salted_password", "server_key", "stored_key", "value"})


def encode_struct(value: Writable, version: int) -> bytes:
    """A struct as the content of a tag."""
    out: list[Buffer] = []
    value._write(out, version)
    return b"".join(out)


def encode_compact_structs(values: Sequence[Writable], version: int) -> bytes:
    """An array of structs as the content of a tag."""
    out: list[Buffer] = []
    append_compact_structs(out, values, version)
    return b"".join(out)


def write_message(message: Message, version: int) -> bytes:
    """The body of `message`; what cannot be written is the caller's mistake."""
    parts = write_parts(message, version)
    try:
        return b"".join(parts)
    except TypeError as error:
        raise UsageError(f"{type(message).__name__} version {version} cannot be written: {error}") from error


def write_parts(message: Message, version: int) -> list[Buffer]:
    """The body in parts, so that large record batches need not be copied."""
    low, high = message.MIN_VERSION, message.MAX_VERSION
    if not low <= version <= high:
        raise UsageError(f"{type(message).__name__} has versions {low} to {high}, not {version}")
    out: list[Buffer] = []
    try:
        message._write(out, version)
    except ENCODE_ERRORS as error:
        raise UsageError(f"{type(message).__name__} version {version} cannot be written: {error}") from error
    return out


def read_message(message_class: type[M], buffer: Buffer, position: int, version: int) -> M:
    """The message that fills `buffer` from `position` to its end."""
    name, low, high = message_class.__name__, message_class.MIN_VERSION, message_class.MAX_VERSION
    if not low <= version <= high:
        raise ProtocolError(f"{name} has versions {low} to {high}, not {version}")
    message: M
    try:
        message, position = message_class._read(buffer, position, version)
    except DECODE_ERRORS as error:
        raise ProtocolError(f"{name} version {version} does not fit its {len(buffer)} bytes: {error}") from error
    if position != len(buffer):
        raise ProtocolError(f"{name} version {version} leaves {len(buffer) - position} bytes unread")
    return message


def not_carried(message: object, field: str, version: int) -> UsageError:
    """A field is set, or null, that this version has no place for; to send without it would change the meaning."""
    return UsageError(f"{type(message).__name__} version {version} cannot carry {field}")


def structs_equal(left: object, right: object) -> bool:
    """`__eq__` of every message and struct."""
    if left.__class__ is not right.__class__:
        return False
    names: tuple[str, ...] = left.__slots__  # type: ignore[attr-defined]
    return all(getattr(left, name) == getattr(right, name) for name in names)


def struct_repr(value: object) -> str:
    """`__repr__` of every message and struct."""
    names: tuple[str, ...] = value.__slots__  # type: ignore[attr-defined]
    shown = (f"{name}=..." if name in SECRET_FIELDS else f"{name}={getattr(value, name)!r}" for name in names)
    return f"{type(value).__name__}({', '.join(shown)})"
