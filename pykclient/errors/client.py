"""Errors that arise in this client: configuration, time-outs, buffers, connections, positions, decoding.

Constructors take only what belongs into a message; no key, value or password is ever put in.
See families.py for pickling.
"""

from __future__ import annotations

from typing import Any

from pykclient.errors.broker import OffsetOutOfRange, UnsupportedVersion
from pykclient.errors.families import Action, FatalError, KafkaError, ProtocolError, UsageError


class ConfigError(UsageError):
    """The configuration is not valid; ``problems`` lists everything that is wrong with it, one sentence each."""

    def __init__(self, problems: str | list[str] | tuple[str, ...], **context: Any) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(self.problems), **context)


class ClientClosed(UsageError):
    """The client is closed; make a new one."""


class ForkedClientError(UsageError):
    """The client was made before this process was forked and cannot be used here; make a new one in the child."""


class ConcurrentUseError(UsageError):
    """The consumer is in use by another thread; use one consumer per thread."""


class IllegalStateError(UsageError):
    """The call does not fit what the client is doing; for example poll() without a subscription."""


class SerializationError(UsageError):
    """The serializer could not turn the key or the value into bytes; the cause says why."""


class HeaderTypeError(UsageError, TypeError):
    """A header's name must be text and its value bytes or None; encode it."""


class DeserializationError(KafkaError):
    """The deserializer could not read a record's key or value; seek to ``offset + 1`` to step over it."""

    def __init__(self, message: str | None = None, *, origin: str | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.origin = origin
        """``"key"`` or ``"value"``."""
        self.raw_key: bytes | None = None
        self.raw_value: bytes | None = None
        """The bytes as they were read. Data of the user's: never part of the message."""


class RecordTooLarge(UsageError):
    """The record is larger than max_request_size or buffer_memory allows; send less or raise the option."""

    def __init__(
        self, message: str | None = None, *, size: int | None = None, limit: int | None = None, **context: Any
    ) -> None:
        if message is None and size is not None and limit is not None:
            message = f"The record has {size} bytes where {limit} are allowed; send less or raise the option."
        super().__init__(message, **context)
        self.size = size
        self.limit = limit


class MissingCodec(UsageError):
    """The codec needs a package that is not installed here: pip install cramjam, or set compression_type."""

    def __init__(self, message: str | None = None, *, codec: str | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.codec = codec


class KafkaTimeoutError(KafkaError, TimeoutError):
    """The operation did not finish in its time; it may still happen."""

    action = Action.RETRY
    retriable = True


class DeliveryTimedOut(KafkaTimeoutError):
    """The record was not confirmed within delivery_timeout_ms; it may or may not have been stored."""


class BufferExhausted(KafkaTimeoutError):
    """No memory became free within max_block_ms; send slower, raise buffer_memory, or wait longer."""

    def __init__(
        self, message: str | None = None, *, buffered: int | None = None, limit: int | None = None, **context: Any
    ) -> None:
        super().__init__(message, **context)
        self.buffered = buffered
        """Bytes that wait for delivery."""
        self.limit = limit
        """buffer_memory."""


class TransactionTimedOut(FatalError):
    """The transaction outlived transaction_timeout_ms and the broker aborted it; call init_transactions() or close.

    Nothing of it is visible. Retrying or aborting it is pointless, as it no longer exists; the producer can go on after
    init_transactions(), which is why this is not `ProducerFenced`.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        open_for: float | None = None,
        limit: float | None = None,
        **context: Any,
    ) -> None:
        if message is None and open_for is not None and limit is not None:
            message = (
                f"The transaction was open for {open_for:.1f} s, longer than transaction_timeout_ms allows "
                f"({limit:.1f} s), so the broker aborted it: nothing of it is visible. "
                "Call init_transactions() to go on, or close the producer."
            )
        super().__init__(message, **context)
        self.open_for = open_for
        """Seconds from begin_transaction() until we learnt of it."""
        self.limit = limit
        """transaction_timeout_ms in seconds."""


class TransactionAborted(KafkaError):
    """The record was not sent because its transaction was aborted; send it again in the next one."""

    action = Action.ABORT
    abortable = True


class KafkaConnectionError(KafkaError, ConnectionError):
    """The broker could not be reached, or the connection to it broke."""

    action = Action.REFRESH_METADATA
    retriable = True

    def __init__(
        self,
        message: str | None = None,
        *,
        host: str | None = None,
        port: int | None = None,
        **context: Any,
    ) -> None:
        if host is not None and "node" not in context:
            context["node"] = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        super().__init__(message, **context)
        self.host = host
        self.port = port


class NoBrokersAvailable(KafkaConnectionError):
    """None of the known brokers could be reached; check bootstrap_servers and the network."""


class FrameTooLarge(ProtocolError):
    """A frame announces more bytes than allowed; nothing was read. The other side may not speak Kafka at all."""

    def __init__(
        self, message: str | None = None, *, size: int | None = None, limit: int | None = None, **context: Any
    ) -> None:
        if message is None and size is not None and limit is not None:
            message = f"A frame announces {size} bytes where {limit} are allowed; does the other side speak Kafka?"
        super().__init__(message, **context)
        self.size = size
        self.limit = limit


class CorruptRecordError(ProtocolError):
    """A record batch is damaged: its checksum or its structure is wrong. It is fetched again."""

    action = Action.RETRY
    retriable = True


class DecompressedTooLarge(CorruptRecordError):
    """A compressed batch grows beyond the allowed size; raise decompressed_batch_bytes_max if it is meant to."""

    action = Action.RAISE
    retriable = False


class UnsupportedVersionError(UnsupportedVersion):
    """The broker is too old or too new for this request.

    ``needed`` and ``offered`` are inclusive version ranges; ``offered`` is None when the broker has no such API.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        needed: tuple[int, int] | None = None,
        offered: tuple[int, int] | None = None,
        **context: Any,
    ) -> None:
        if message is None and needed is not None:
            there = "does not offer it at all" if offered is None else f"offers {offered[0]} to {offered[1]}"
            wanted = f"version {needed[0]} to {needed[1]}"
            message = f"The request is needed in {wanted}; the broker {there}; use a matching broker or client."
        super().__init__(message, **context)
        self.needed = needed
        self.offered = offered


class OffsetOutOfRangeError(OffsetOutOfRange):
    """The position is outside the partition and there is no auto_offset_reset policy; seek to a valid offset."""

    def __init__(
        self,
        message: str | None = None,
        *,
        wanted: int | None = None,
        earliest: int | None = None,
        latest: int | None = None,
        **context: Any,
    ) -> None:
        if message is None and wanted is not None:
            known = "" if earliest is None else f"; the partition holds {earliest} to {latest}"
            message = f"Offset {wanted} is out of range{known}; seek, or set auto_offset_reset."
        super().__init__(message, **context)
        self.wanted = wanted
        self.earliest = earliest
        self.latest = latest


class DataLoss(KafkaError):
    """Records that were to be read are no longer in Kafka; start where there are some, or accept the loss."""


class ExactlyOnceError(KafkaError):
    """A batch of an exactly-once query could not be committed as a whole; the message says what to do."""


class NoOffsetForPartition(KafkaError):
    """There is no committed offset and no auto_offset_reset policy; seek, commit an offset, or set the policy."""


class LogTruncation(KafkaError):
    """The log was cut back below our position, so records that were read no longer exist; decide where to go on.

    ``diverging_offset`` is where our history and the leader's part, when the broker could say.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        diverging_offset: int | None = None,
        diverging_epoch: int | None = None,
        **context: Any,
    ) -> None:
        super().__init__(message, **context)
        self.diverging_offset = diverging_offset
        self.diverging_epoch = diverging_epoch


class CommitFailed(KafkaError):
    """The group moved on, so the offsets were not committed; the partitions belong to others now, poll to rejoin."""

    abortable = True

    def __init__(self, message: str | None = None, *, errors: Any = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.errors: dict[Any, KafkaError] = dict(errors or {})
        """What was refused, by TopicPartition, when the rest was committed; empty when nothing was."""


class MaxPollExceeded(KafkaError):
    """poll() was not called within max_poll_interval_ms, so this member left its group; poll more often or raise it."""

    action = Action.REJOIN

    def __init__(
        self, message: str | None = None, *, limit_ms: int | None = None, overrun_ms: int | None = None, **context: Any
    ) -> None:
        super().__init__(message, **context)
        self.limit_ms = limit_ms
        self.overrun_ms = overrun_ms
        """How much later than allowed poll() was called."""


class WakeupError(KafkaError):
    """wakeup() interrupted the call; nothing was lost, call again to go on."""


class ReactorDied(FatalError):
    """The client's own thread ended unexpectedly; the cause says why. Close the client and make a new one."""


__all__ = [
    "BufferExhausted",
    "ClientClosed",
    "CommitFailed",
    "ConcurrentUseError",
    "ConfigError",
    "CorruptRecordError",
    "DataLoss",
    "DecompressedTooLarge",
    "DeliveryTimedOut",
    "DeserializationError",
    "ExactlyOnceError",
    "ForkedClientError",
    "FrameTooLarge",
    "HeaderTypeError",
    "IllegalStateError",
    "KafkaConnectionError",
    "KafkaTimeoutError",
    "LogTruncation",
    "MaxPollExceeded",
    "MissingCodec",
    "NoBrokersAvailable",
    "NoOffsetForPartition",
    "OffsetOutOfRangeError",
    "ReactorDied",
    "RecordTooLarge",
    "SerializationError",
    "TransactionAborted",
    "TransactionTimedOut",
    "UnsupportedVersionError",
    "WakeupError",
]
