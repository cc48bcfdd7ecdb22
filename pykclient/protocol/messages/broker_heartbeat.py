"""BrokerHeartbeatRequest, BrokerHeartbeatResponse.

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
    encode_compact_uuids,
    read_compact_nullable_uuids,
    read_compact_uuids,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    not_carried,
    read_message,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_ihttt = Struct(">ih???")
_iqqtt = Struct(">iqq??")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerHeartbeatRequest:
    """BrokerHeartbeatRequest, versions 0 to 2."""

    __slots__ = (
        "broker_id", "broker_epoch", "current_metadata_offset", "want_fence", "want_shut_down",
        "offline_log_dirs", "cordoned_log_dirs", "unknown_tags",
    )

    broker_id: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: list[UUID]
    cordoned_log_dirs: list[UUID] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[UUID] = EMPTY,
        cordoned_log_dirs: list[UUID] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = [] if offline_log_dirs is EMPTY else offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BrokerHeartbeatRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iqqtt.pack(
            self.broker_id, self.broker_epoch, self.current_metadata_offset, self.want_fence,
            self.want_shut_down,
        ))
        known: list[tuple[int, bytes]] = []
        if version >= 1:
            if self.offline_log_dirs:
                known.append((0, encode_compact_uuids(self.offline_log_dirs)))
        elif self.offline_log_dirs:
            raise not_carried(self, "offline_log_dirs", version)
        if version >= 2:
            if self.cordoned_log_dirs is not None:
                known.append((1, encode_compact_uuids(self.cordoned_log_dirs)))
        elif self.cordoned_log_dirs is not None:
            raise not_carried(self, "cordoned_log_dirs", version)
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerHeartbeatRequest, int]:
        (
            broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down,
        ) = _iqqtt.unpack_from(buffer, position)
        position += 22
        offline_log_dirs: list[UUID] = []
        cordoned_log_dirs: list[UUID] | None = None
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0 and version >= 1:
                    offline_log_dirs, position = read_compact_uuids(buffer, position)
                elif tag == 1 and version >= 2:
                    cordoned_log_dirs, position = read_compact_nullable_uuids(buffer, position)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return BrokerHeartbeatRequest(
            broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down, offline_log_dirs,
            cordoned_log_dirs, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerHeartbeatResponse:
    """BrokerHeartbeatResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms", "error_code", "is_caught_up", "is_fenced", "should_shut_down", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BrokerHeartbeatResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihttt.pack(
            self.throttle_time_ms, self.error_code, self.is_caught_up, self.is_fenced, self.should_shut_down,
        ))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerHeartbeatResponse, int]:
        (
            throttle_time_ms, error_code, is_caught_up, is_fenced, should_shut_down,
        ) = _ihttt.unpack_from(buffer, position)
        position += 9
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BrokerHeartbeatResponse(
            throttle_time_ms, error_code, is_caught_up, is_fenced, should_shut_down, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
]
