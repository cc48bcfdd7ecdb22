"""Serializers write what Java's serializers write, and never tell the data in an error."""

from __future__ import annotations

import pickle
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient import plugins
from pykclient.errors import DeserializationError, SerializationError
from pykclient.plugins import Deserializer, Serializer, Token, deserializer_function, serde_by_name, serializer_function


@pytest.mark.parametrize(
    ("name", "value", "wire"),
    [
        ("short", -2, "fffe"),
        ("integer", 1, "00000001"),
        ("integer", -(2**31), "80000000"),
        ("long", 2**63 - 1, "7fffffffffffffff"),
        ("float", 1.5, "3fc00000"),
        ("double", -0.1, "bfb999999999999a"),
        ("boolean", True, "01"),
        ("string", "grün", "6772c3bc6e"),
        ("uuid", uuid.UUID("123e4567-e89b-12d3-a456-426614174000"), b"123e4567-e89b-12d3-a456-426614174000".hex()),
        ("bytes", b"\x00\xff", "00ff"),
        ("json", {"a": [1, None]}, b'{"a":[1,null]}'.hex()),
    ],
)
def test_bytes_are_javas(name: str, value: Any, wire: str) -> None:
    serde = serde_by_name(name)
    assert serde.serialize("t", value, []).hex() == wire
    assert serde.deserialize("t", bytes.fromhex(wire), []) == value


@pytest.mark.parametrize("name", plugins.SERDE_NAMES)
def test_null_stays_null(name: str) -> None:
    serde = serde_by_name(name)
    assert isinstance(serde, Serializer)
    assert isinstance(serde, Deserializer)
    assert serde.serialize("t", None, []) is None
    assert serde.deserialize("t", None, []) is None


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text())
def test_round_trips(number: int, real: float, text: str) -> None:
    assert plugins.LONG.deserialize("t", plugins.LONG.serialize("t", number, []), []) == number
    assert plugins.DOUBLE.deserialize("t", plugins.DOUBLE.serialize("t", real, []), []) == real
    assert plugins.JSON.deserialize("t", plugins.JSON.serialize("t", text, []), []) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("integer", 2**31),
        ("integer", "7"),
        ("integer", True),
        ("short", 40000),
        ("double", 10**400),
        ("string", b"x"),
        ("string", "\ud800canary"),
        ("uuid", "canary"),
        ("bytes", "canary"),
        ("json", {"canary": object()}),
    ],
)
def test_wrong_value_is_a_serialization_error_without_the_value(name: str, value: Any) -> None:
    with pytest.raises(SerializationError) as caught:
        serde_by_name(name).serialize("orders", value, [])
    assert caught.value.topic == "orders"
    assert "canary" not in str(caught.value)
    assert "canary" not in repr(caught.value.__context__)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("integer", b"\x00" * 8),
        ("long", b""),
        ("boolean", b"\x00\x01"),
        ("string", b"canary\xff"),
        ("uuid", b"canary"),
        ("uuid", b"\xff"),
        ("json", b'{"canary'),
    ],
)
def test_wrong_bytes_are_a_deserialization_error_without_the_bytes(name: str, data: bytes) -> None:
    with pytest.raises(DeserializationError) as caught:
        serde_by_name(name).deserialize("orders", data, [])
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None


def test_names_come_from_a_fixed_table() -> None:
    assert serde_by_name("org.apache.kafka.common.serialization.LongDeserializer") is plugins.LONG
    assert serde_by_name("org.apache.kafka.common.serialization.ByteArraySerializer") is plugins.BYTES
    assert serde_by_name("org.apache.kafka.common.serialization.Evil") is None
    assert serde_by_name("os.system") is None


def test_functions_and_objects_are_called_alike() -> None:
    assert serializer_function(str.encode)("t", "a", []) == b"a"
    assert serializer_function(plugins.LONG)("t", 1, []) == b"\x00" * 7 + b"\x01"
    assert serializer_function(None)("t", bytearray(b"x"), []) == b"x"
    assert deserializer_function(lambda data: len(data or b""))("t", b"abc", []) == 3
    assert deserializer_function(plugins.STRING)("t", b"abc", []) == "abc"
    assert deserializer_function(None)("t", b"abc", []) == b"abc"


def test_buffer_given_to_the_bytes_serializer_may_be_reused() -> None:
    buffer = bytearray(b"first")
    data = plugins.BYTES.serialize("t", buffer, [])
    buffer[:] = b"other"
    assert data == b"first"


def test_token_is_not_shown_and_not_pickled() -> None:
    token = Token("canary", expires_at_ms=5)
    assert "canary" not in repr(token)
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(token)
