"""GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.primitives import (
    Buffer,
    ZERO_UUID,
    encode_compact_numbers,
    encode_compact_strings,
    read_compact_numbers,
    read_compact_strings,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")
_ihui = Struct(">ih16si")
_iit = Struct(">ii?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class GetTelemetrySubscriptionsRequest:
    """GetTelemetrySubscriptionsRequest, version 0."""

    __slots__ = ("client_instance_id", "unknown_tags")

    client_instance_id: UUID
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        client_instance_id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.client_instance_id = client_instance_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> GetTelemetrySubscriptionsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.client_instance_id.bytes)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[GetTelemetrySubscriptionsRequest, int]:
        (client_instance_id,) = _u.unpack_from(buffer, position)
        position += 16
        client_instance_id = uuid_of(client_instance_id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return GetTelemetrySubscriptionsRequest(client_instance_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class GetTelemetrySubscriptionsResponse:
    """GetTelemetrySubscriptionsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms", "error_code", "client_instance_id", "subscription_id",
        "accepted_compression_types", "push_interval_ms", "telemetry_max_bytes", "delta_temporality",
        "requested_metrics", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    client_instance_id: UUID
    subscription_id: int
    accepted_compression_types: list[int]
    push_interval_ms: int
    telemetry_max_bytes: int
    delta_temporality: bool
    requested_metrics: list[str]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: UUID = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = EMPTY,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is EMPTY else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is EMPTY else requested_metrics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> GetTelemetrySubscriptionsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihui.pack(
            self.throttle_time_ms, self.error_code, self.client_instance_id.bytes, self.subscription_id,
        ))
        append(encode_compact_numbers(self.accepted_compression_types, "b"))
        append(_iit.pack(self.push_interval_ms, self.telemetry_max_bytes, self.delta_temporality))
        append(encode_compact_strings(self.requested_metrics))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
        throttle_time_ms, error_code, client_instance_id, subscription_id = _ihui.unpack_from(buffer, position)
        position += 26
        client_instance_id = uuid_of(client_instance_id)
        accepted_compression_types, position = read_compact_numbers(buffer, position, "b", 1)
        push_interval_ms, telemetry_max_bytes, delta_temporality = _iit.unpack_from(buffer, position)
        position += 9
        requested_metrics, position = read_compact_strings(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return GetTelemetrySubscriptionsResponse(
            throttle_time_ms, error_code, client_instance_id, subscription_id, accepted_compression_types,
            push_interval_ms, telemetry_max_bytes, delta_temporality, requested_metrics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "GetTelemetrySubscriptionsRequest",
    "GetTelemetrySubscriptionsResponse",
]
