"""Records as text and back: lines for people, JSON lines for machines, format strings. Pure, any thread.

What ``consume --json`` prints, ``produce --json-lines`` reads: bytes that are no UTF-8 travel as base64 beside it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pykclient.cli.usage import Usage, shown_time, unescape
from pykclient.types import ConsumerRecord, Headers

_FIELD = re.compile(r"\{(\w*)\}")
_KNOWN = {"key", "value", "headers", "partition", "timestamp", "key_base64", "value_base64"}
_OF_A_READ_RECORD = {"topic", "offset", "time"}
"""What ``consume --json`` adds; of no use when a record is sent again, and no mistake either."""


@dataclass(slots=True)
class Outgoing:
    """A record to send."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = field(default_factory=list)
    partition: int | None = None
    timestamp: int | None = None


def from_line(line: str, *, key_separator: str | None, null: str | None) -> Outgoing:
    """A line is a value, or a key and a value when there is a separator."""
    if key_separator is None:
        return Outgoing(_bytes_or_null(line, null))
    key, found, value = line.partition(key_separator)
    if not found:
        raise Usage(f"no key separator {key_separator!r} in the line; leave --key-separator out for values alone")
    return Outgoing(_bytes_or_null(value, null), _bytes_or_null(key, null))


def _bytes_or_null(text: str, null: str | None) -> bytes | None:
    return None if null is not None and text == null else text.encode("utf-8", "surrogateescape")


def from_json(line: str) -> Outgoing:
    """An object with value and, where wanted, key, headers, partition, timestamp."""
    try:
        data = json.loads(line)
    except ValueError as error:
        raise Usage(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise Usage('each line is an object such as {"key": "a", "value": {"n": 1}}')
    unknown = sorted(set(data) - _KNOWN - _OF_A_READ_RECORD)
    if unknown:
        raise Usage(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_KNOWN))}")
    for name in ("partition", "timestamp"):
        if data.get(name) is not None and (not isinstance(data[name], int) or isinstance(data[name], bool)):
            raise Usage(f"{name} is a whole number")
    return Outgoing(
        _json_bytes(data, "value"),
        _json_bytes(data, "key"),
        _json_headers(data.get("headers")),
        data.get("partition"),
        data.get("timestamp"),
    )


def _json_bytes(data: dict[str, Any], name: str) -> bytes | None:
    encoded = data.get(f"{name}_base64")
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise Usage(f"{name}_base64 is not base64") from None
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _json_headers(given: Any) -> Headers:
    if given is None:
        return []
    items = list(given.items()) if isinstance(given, dict) else given
    if not isinstance(items, list) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str) for pair in items
    ):
        raise Usage('headers is an object, or a list of pairs: [["name", "value"], ...]')
    found: Headers = []
    for name, value in items:
        if isinstance(value, dict) and set(value) == {"base64"}:
            found.append((name, _json_bytes({"header_base64": value["base64"]}, "header")))
        else:
            found.append((name, _json_bytes({"header": value}, "header")))
    return found


def to_json(record: ConsumerRecord[Any, Any]) -> str:
    """A read record on one line."""
    data: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }
    for name, content in (("key", record.key), ("value", record.value)):
        text = _utf8(content)
        if content is not None and text is None:
            data[f"{name}_base64"] = base64.b64encode(content).decode("ascii")
        else:
            data[name] = text
    if record.headers:
        data["headers"] = [[name, _json_header(content)] for name, content in record.headers]
    return json.dumps(data, ensure_ascii=False)


def _json_header(content: bytes | None) -> Any:
    text = _utf8(content)
    if content is not None and text is None:
        return {"base64": base64.b64encode(content).decode("ascii")}
    return text


def _utf8(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None


def _headers_text(record: ConsumerRecord[Any, Any]) -> bytes:
    return b",".join(name.encode() + b"=" + (b"null" if value is None else value) for name, value in record.headers)


_FIELDS: dict[str, Callable[[ConsumerRecord[Any, Any]], bytes]] = {
    "topic": lambda record: record.topic.encode(),
    "partition": lambda record: b"%d" % record.partition,
    "offset": lambda record: b"%d" % record.offset,
    "timestamp": lambda record: b"%d" % record.timestamp,
    "time": lambda record: (shown_time(record.timestamp) or "-").encode(),
    "key": lambda record: b"null" if record.key is None else record.key,
    "value": lambda record: b"null" if record.value is None else record.value,
    "headers": _headers_text,
    "key_bytes": lambda record: b"%d" % len(record.key or b""),
    "value_bytes": lambda record: b"%d" % len(record.value or b""),
}
FIELD_NAMES = tuple(_FIELDS)


def formatter(template: str) -> Callable[[ConsumerRecord[Any, Any]], bytes]:
    r"""``"{key}\t{value}"`` as a function. Bytes go through as they are: nothing is decoded on the way."""
    parts: list[bytes | Callable[[ConsumerRecord[Any, Any]], bytes]] = list(_parts(unescape(template)))

    def render(record: ConsumerRecord[Any, Any]) -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(record) for part in parts)

    return render


def _parts(template: str) -> Iterator[bytes | Callable[[ConsumerRecord[Any, Any]], bytes]]:
    end = 0
    for match in _FIELD.finditer(template):
        yield template[end : match.start()].encode()
        name = match.group(1)
        if name not in _FIELDS:
            raise Usage(f"--format has {{{name}}}; known are {', '.join(FIELD_NAMES)}")
        yield _FIELDS[name]
        end = match.end()
    yield template[end:].encode()


__all__ = ["FIELD_NAMES", "Outgoing", "formatter", "from_json", "from_line", "to_json"]
