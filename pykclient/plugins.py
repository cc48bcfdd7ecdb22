"""What users may supply: serializers, deserializers, partitioners, interceptors, rebalance listeners, token providers.

Protocols for the seams, and built-ins that write what Java's serializers write. Layer 0, pure, no state: the built-ins
may be shared between threads. Must never put a key, a value or a token into an error message: they are the user's.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from pykclient.errors import DeserializationError, SerializationError
from pykclient.types import ConsumerRecord, Headers, OffsetAndMetadata, RecordMetadata, TopicPartition

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)


@runtime_checkable
class Serializer(Protocol[T_contra]):
    """Turns a key or a value into bytes. None stands for a null key or a tombstone; headers may be added to."""

    def serialize(self, topic: str, value: T_contra, headers: Headers) -> bytes | None:
        """The bytes to send, or None for null."""
        ...


@runtime_checkable
class Deserializer(Protocol[T_co]):
    """Turns the bytes of a key or a value back into an object. What it raises reaches the user with the position."""

    def deserialize(self, topic: str, data: bytes | None, headers: Headers) -> T_co:
        """The object for these bytes; ``data`` is None for a null key or a tombstone."""
        ...


SerializerLike = Serializer[Any] | Callable[[Any], "bytes | None"]
"""A serializer, or just a function of the value."""
DeserializerLike = Deserializer[Any] | Callable[["bytes | None"], Any]
"""A deserializer, or just a function of the bytes."""


class Fixed(Generic[T]):
    """Both directions of one big-endian ``struct`` format: Java's Short, Integer, Long, Float, Double and Boolean."""

    def __init__(self, name: str, layout: str, kinds: tuple[type, ...]) -> None:
        self._name = name
        self._struct = struct.Struct(layout)
        self._kinds = kinds

    def serialize(self, topic: str, value: T | None, headers: Headers) -> bytes | None:
        """Fixed-size bytes; a value of another type or out of range raises `SerializationError`."""
        if value is None:
            return None
        # bool is an int to Python but hardly ever what was meant.
        if not isinstance(value, self._kinds) or (isinstance(value, bool) and bool not in self._kinds):
            raise SerializationError(f"{self._name} serializer got {type(value).__name__}", topic=topic)
        try:
            return self._struct.pack(value)
        except (struct.error, OverflowError):
            raise SerializationError(
                f"The value does not fit into {self._name} ({self._struct.size} bytes)", topic=topic
            ) from None

    def deserialize(self, topic: str, data: bytes | None, headers: Headers) -> T | None:
        """The number; any other length raises `DeserializationError`."""
        if data is None:
            return None
        if len(data) != self._struct.size:
            raise DeserializationError(
                f"{self._name} needs {self._struct.size} bytes, the record has {len(data)}", topic=topic
            )
        value: T = self._struct.unpack(data)[0]
        return value

    def __repr__(self) -> str:
        return f"<{self._name}>"


class _Bytes:
    """Passes bytes through."""

    def serialize(self, topic: str, value: bytes | bytearray | memoryview | None, headers: Headers) -> bytes | None:
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)  # a copy: the caller may reuse its buffer before the record leaves
        raise SerializationError(f"bytes expected, got {type(value).__name__}; set a serializer", topic=topic)

    def deserialize(self, topic: str, data: bytes | None, headers: Headers) -> bytes | None:
        return data


@dataclass(frozen=True)
class StringSerde:
    """Text in one encoding, UTF-8 unless told otherwise. Strict both ways."""

    encoding: str = "utf-8"

    def serialize(self, topic: str, value: str | None, headers: Headers) -> bytes | None:
        """The encoded text."""
        if value is None:
            return None
        if not isinstance(value, str):
            raise SerializationError(f"str expected, got {type(value).__name__}", topic=topic)
        try:
            return value.encode(self.encoding)
        except UnicodeEncodeError as error:
            # Not the error itself: it carries the whole text.
            reason = f"{error.reason} at position {error.start}"
        raise SerializationError(f"The text cannot be written in {self.encoding}: {reason}", topic=topic)

    def deserialize(self, topic: str, data: bytes | None, headers: Headers) -> str | None:
        """The decoded text."""
        if data is None:
            return None
        try:
            return str(data, self.encoding)
        except UnicodeDecodeError as error:
            reason = f"{error.reason} at byte {error.start}"
        raise DeserializationError(f"The bytes are not {self.encoding}: {reason}", topic=topic)


class _Uuid:
    """Java's UUIDSerializer: the 36-character text form, in UTF-8."""

    def serialize(self, topic: str, value: uuid.UUID | None, headers: Headers) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, uuid.UUID):
            raise SerializationError(f"uuid.UUID expected, got {type(value).__name__}", topic=topic)
        return str(value).encode("ascii")

    def deserialize(self, topic: str, data: bytes | None, headers: Headers) -> uuid.UUID | None:
        if data is None:
            return None
        try:
            return uuid.UUID(bytes(data).decode("ascii"))
        except ValueError:  # UnicodeDecodeError is one too
            pass
        raise DeserializationError("The bytes are not the text form of a UUID", topic=topic)


@cache
def _json() -> tuple[Callable[[Any], str], Callable[[str | bytes], Any]]:
    """How to write and how to read it, made once, for who uses it."""
    import json

    return json.JSONEncoder(separators=(",", ":")).encode, json.loads


def _dumps(value: Any) -> str:
    return _json()[0](value)


def _loads(text: str | bytes) -> Any:
    return _json()[1](text)


@dataclass(frozen=True)
class JsonSerde:
    """JSON in UTF-8, compact. None is the null record (a tombstone), not the text ``null``."""

    dumps: Callable[[Any], str] = _dumps
    loads: Callable[[str | bytes], Any] = _loads

    def serialize(self, topic: str, value: Any, headers: Headers) -> bytes | None:
        """The JSON text of the value."""
        if value is None:
            return None
        try:
            return self.dumps(value).encode("utf-8")
        except (TypeError, ValueError, RecursionError) as error:
            raise SerializationError(f"The value has no JSON form ({type(error).__name__})", topic=topic) from None

    def deserialize(self, topic: str, data: bytes | None, headers: Headers) -> Any:
        """The parsed value."""
        if data is None:
            return None
        try:
            return self.loads(bytes(data))
        except (ValueError, RecursionError) as error:
            # JSONDecodeError holds the whole document; name the kind only.
            reason = type(error).__name__
        raise DeserializationError(f"The bytes are not JSON ({reason})", topic=topic)


BYTES = _Bytes()
STRING = StringSerde()
SHORT: Fixed[int] = Fixed("short", ">h", (int,))
INTEGER: Fixed[int] = Fixed("integer", ">i", (int,))
LONG: Fixed[int] = Fixed("long", ">q", (int,))
FLOAT: Fixed[float] = Fixed("float", ">f", (float, int))
DOUBLE: Fixed[float] = Fixed("double", ">d", (float, int))
BOOLEAN: Fixed[bool] = Fixed("boolean", ">?", (bool,))
UUID = _Uuid()
JSON = JsonSerde()

_JAVA = "org.apache.kafka.common.serialization."
_BY_NAME: dict[str, Any] = {
    "bytes": BYTES,
    "string": STRING,
    "short": SHORT,
    "integer": INTEGER,
    "long": LONG,
    "float": FLOAT,
    "double": DOUBLE,
    "boolean": BOOLEAN,
    "uuid": UUID,
    "json": JSON,
}
_JAVA_NAMES = {
    "ByteArray": "bytes",
    "Bytes": "bytes",
    "ByteBuffer": "bytes",
    "String": "string",
    "Short": "short",
    "Integer": "integer",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Boolean": "boolean",
    "UUID": "uuid",
}
SERDE_NAMES = tuple(_BY_NAME)
"""Names a configuration may use in place of a serializer or deserializer."""


def serde_by_name(name: str) -> Any:
    """The built-in of this name, or of this Java class name, or None. Nothing is ever imported by name."""
    if name.startswith(_JAVA):
        short = name[len(_JAVA) :]
        for suffix in ("Serializer", "Deserializer"):
            if short.endswith(suffix) and short[: -len(suffix)] in _JAVA_NAMES:
                return _BY_NAME[_JAVA_NAMES[short[: -len(suffix)]]]
        return None
    return _BY_NAME.get(name.lower())


def serializer_function(serializer: SerializerLike | None) -> Callable[[str, Any, Headers], bytes | None]:
    """One call shape for every kind of serializer; None passes bytes through."""
    if serializer is None:
        return BYTES.serialize
    if isinstance(serializer, Serializer):
        return serializer.serialize
    function = serializer

    def serialize(topic: str, value: Any, headers: Headers) -> bytes | None:
        return function(value)

    return serialize


def deserializer_function(deserializer: DeserializerLike | None) -> Callable[[str, bytes | None, Headers], Any]:
    """One call shape for every kind of deserializer; None passes bytes through."""
    if deserializer is None:
        return BYTES.deserialize
    if isinstance(deserializer, Deserializer):
        return deserializer.deserialize
    function = deserializer

    def deserialize(topic: str, data: bytes | None, headers: Headers) -> Any:
        return function(data)

    return deserialize


@runtime_checkable
class Partitioner(Protocol):
    """Chooses the partition of a record that names none. Called on the sending thread; must not block."""

    def partition(
        self,
        topic: str,
        key: Any,
        key_bytes: bytes | None,
        value: Any,
        value_bytes: bytes | None,
        partition_count: int,
        available: Sequence[int],
    ) -> int:
        """A number from 0 to ``partition_count - 1``. ``available`` are the partitions that have a leader now."""
        ...


class ProducerInterceptor(Protocol):
    """Sees records on their way out. An error in one is logged and does not stop the record."""

    def on_send(
        self, topic: str, partition: int | None, key: Any, value: Any, headers: Headers
    ) -> tuple[Any, Any, Headers]:
        """Before serialization, on the sending thread: the key, the value and the headers to go on with."""
        ...

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: BaseException | None) -> None:
        """The outcome, on the client's own thread: be quick. ``metadata`` is None when it is not known where."""
        ...


class ConsumerInterceptor(Protocol):
    """Sees records and commits. An error in one is logged and does not stop the records."""

    def on_consume(
        self, records: Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]]
    ) -> Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]]:
        """Just before ``poll`` returns: the records to return."""
        ...

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """After offsets were committed."""
        ...


class RebalanceListener(Protocol):
    """Told when partitions come and go, inside ``poll``, on the polling thread (or loop: coroutines are awaited)."""

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> Any:
        """Still ours; commit what is done. They go when this returns."""
        ...

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> Any:
        """Newly ours."""
        ...

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> Any:
        """Gone already, others may own them: do not commit."""
        ...


@dataclass(frozen=True)
class Token:
    """A bearer token and when it ends. The value is kept out of ``repr``."""

    value: str = field(repr=False)
    expires_at_ms: int | None = None
    """Milliseconds since the epoch; None when it is not known."""
    principal: str | None = None
    extensions: tuple[tuple[str, str], ...] = ()
    """SASL extensions of KIP-342, sent beside the token."""

    def __reduce__(self) -> Any:
        raise TypeError("a token is a secret and is not pickled")


class TokenProvider(Protocol):
    """Gives a token for OAUTHBEARER whenever a connection authenticates. Called off the reactor thread; may block. The
    asyncio clients also take one whose ``token`` is a coroutine function, and await it on their loop."""

    def token(self) -> Token:
        """A token that is valid now."""
        ...


__all__ = [
    "BOOLEAN",
    "BYTES",
    "DOUBLE",
    "FLOAT",
    "INTEGER",
    "JSON",
    "LONG",
    "SERDE_NAMES",
    "SHORT",
    "STRING",
    "UUID",
    "ConsumerInterceptor",
    "Deserializer",
    "DeserializerLike",
    "Fixed",
    "JsonSerde",
    "Partitioner",
    "ProducerInterceptor",
    "RebalanceListener",
    "Serializer",
    "SerializerLike",
    "StringSerde",
    "Token",
    "TokenProvider",
    "deserializer_function",
    "serde_by_name",
    "serializer_function",
]
