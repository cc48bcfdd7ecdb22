"""Every message in every version, byte for byte as Kafka's own classes write it."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from pykclient.protocol.messages import api
from pykclient.protocol.specs.generate import load_tables
from pykclient.protocol.specs.layout import Attribute, StructClass, classes_of

Vector = dict[str, Any]
Vectors = Callable[[str], Iterator[Vector]]


class Codec:
    """Kafka's JSON form of a message to and from our classes; the field tables say what each field is."""

    def __init__(self) -> None:
        self.messages: dict[str, tuple[StructClass, Any]] = {}
        for module, specs in load_tables().items():
            loaded = importlib.import_module(f"pykclient.protocol.messages.{module}")
            for struct in classes_of(specs):
                if struct.spec is not None:
                    self.messages[struct.name] = (struct, loaded)

    def to_json(self, message: Any, struct: StructClass, version: int, path: str, tags: list[Vector]) -> Vector:
        found: Vector = {}
        for a in struct.attributes:
            value = getattr(message, a.name)
            if version in a.range and not (a.is_tagged and not is_set(a, value, message)):
                name = a.field.name[0].lower() + a.field.name[1:]
                found[name] = self._value_to_json(value, a, version, f"{path}/{name}".lstrip("/"), tags)
        if struct.is_ever_flexible:
            tags += [{"path": path, "tag": t, "hex": raw.hex()} for t, raw in (message.unknown_tags or {}).items()]
        return found

    def _value_to_json(self, value: Any, a: Attribute, version: int, path: str, tags: list[Vector]) -> Any:
        if value is None:
            return None
        if a.struct is not None and a.field.is_array:
            return [self.to_json(item, a.struct, version, f"{path}/{i}", tags) for i, item in enumerate(value)]
        if a.struct is not None:
            return self.to_json(value, a.struct, version, path, tags)
        if a.field.is_array:
            return [scalar_to_json(item, a.field.element_type) for item in value]
        return scalar_to_json(value, a.field.type)

    def from_json(self, found: Vector, struct: StructClass, module: Any, path: str, tags: list[Vector]) -> Any:
        values = {}
        for a in struct.attributes:
            name = a.field.name[0].lower() + a.field.name[1:]
            if name in found:
                values[a.name] = self._value_from_json(found[name], a, module, f"{path}/{name}".lstrip("/"), tags)
        unknown = {tag["tag"]: bytes.fromhex(tag["hex"]) for tag in tags if tag["path"] == path}
        if unknown:
            values["unknown_tags"] = unknown
        return getattr(module, struct.name)(**values)

    def _value_from_json(self, found: Any, a: Attribute, module: Any, path: str, tags: list[Vector]) -> Any:
        if found is None:
            return None
        if a.struct is not None and a.field.is_array:
            return [self.from_json(item, a.struct, module, f"{path}/{i}", tags) for i, item in enumerate(found)]
        if a.struct is not None:
            return self.from_json(found, a.struct, module, path, tags)
        if a.field.is_array:
            return [scalar_from_json(item, a.field.element_type) for item in found]
        return scalar_from_json(found, a.field.type)


def is_set(a: Attribute, value: Any, message: Any) -> bool:
    default = type(message)()
    return bool(value != getattr(default, a.name))


def scalar_to_json(value: Any, kind: str) -> Any:
    if kind in ("bytes", "records"):
        return base64.b64encode(value).decode()
    if kind == "uuid":
        return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")
    return value


def scalar_from_json(found: Any, kind: str) -> Any:
    if kind in ("bytes", "records"):
        return base64.b64decode(found)
    if kind == "uuid":
        return UUID(bytes=base64.urlsafe_b64decode(found + "=="))
    return found


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec()


def test_every_message_is_read_as_kafka_reads_it_and_written_as_kafka_writes_it(
    vectors: Vectors, codec: Codec, bundled: bool
) -> None:
    count = 0
    seen = set()
    for vector in vectors("messages"):
        struct, module = codec.messages[vector["name"]]
        message_class, version = getattr(module, struct.name), vector["version"]
        where = f"{struct.name} version {version} {vector['inst']}"
        raw, tags = bytes.fromhex(vector["hex"]), vector.get("unknownTags", [])

        message = message_class.read(raw, version)
        found_tags: list[Vector] = []
        assert codec.to_json(message, struct, version, "", found_tags) == vector["json"], where
        assert sorted(found_tags, key=tag_order) == sorted(tags, key=tag_order), where
        assert message.write(version) == raw, where
        built = codec.from_json(vector["json"], struct, module, "", tags)
        assert built == message, where
        assert built.write(version) == raw, where
        assert message_class.read(memoryview(raw), version) == message, where
        count += 1
        seen.add((vector["name"], version))
    assert count > 0
    if bundled:
        assert (count, len(seen)) == (8008, 728), "every version of every message has vectors"


def test_headers_and_keys_are_as_in_the_vectors(vectors: Vectors, codec: Codec) -> None:
    for vector in vectors("messages"):
        struct, module = codec.messages[vector["name"]]
        message_class, version = getattr(module, struct.name), vector["version"]
        assert vector["apiKey"] == message_class.API_KEY
        flexible_from = message_class.FLEXIBLE_FROM
        assert (flexible_from is not None and version >= flexible_from) == vector["flexible"]
        if "headerVersion" in vector:
            info = api(vector["apiKey"])
            assert list(info.listeners) == vector["listeners"]
            assert (info.latest_version_unstable and version == info.max_version) == vector.get("unstable", False)
            request = vector["type"] == "request"
            header_version = info.request_header_version if request else info.response_header_version
            assert header_version(version) == vector["headerVersion"]
            assert (info.request_class() if request else info.response_class()) is message_class


def tag_order(tag: Vector) -> tuple[str, int]:
    return tag["path"], tag["tag"]
