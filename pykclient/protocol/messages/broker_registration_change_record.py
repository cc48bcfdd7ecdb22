"""BrokerRegistrationChangeRecord.

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
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_b = Struct(">b")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerRegistrationChangeRecord:
    """BrokerRegistrationChangeRecord, versions 0 to 3."""

    __slots__ = (
        "broker_id", "broker_epoch", "fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs",
        "unknown_tags",
    )

    broker_id: int
    broker_epoch: int
    fenced: int
    in_controlled_shutdown: int
    log_dirs: list[UUID]
    cordoned_log_dirs: list[UUID] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[UUID] = EMPTY,
        cordoned_log_dirs: list[UUID] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is EMPTY else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BrokerRegistrationChangeRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.broker_id, self.broker_epoch))
        known: list[tuple[int, bytes]] = []
        if self.fenced != 0:
            known.append((0, _b.pack(self.fenced)))
        if version >= 1:
            if self.in_controlled_shutdown != 0:
                known.append((1, _b.pack(self.in_controlled_shutdown)))
        elif self.in_controlled_shutdown != 0:
            raise not_carried(self, "in_controlled_shutdown", version)
        if version >= 2:
            if self.log_dirs:
                known.append((2, encode_compact_uuids(self.log_dirs)))
        elif self.log_dirs:
            raise not_carried(self, "log_dirs", version)
        if version >= 3:
            if self.cordoned_log_dirs is not None:
                known.append((3, encode_compact_uuids(self.cordoned_log_dirs)))
        elif self.cordoned_log_dirs is not None:
            raise not_carried(self, "cordoned_log_dirs", version)
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerRegistrationChangeRecord, int]:
        broker_id, broker_epoch = _iq.unpack_from(buffer, position)
        position += 12
        fenced = 0
        in_controlled_shutdown = 0
        log_dirs: list[UUID] = []
        cordoned_log_dirs: list[UUID] | None = None
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    (fenced,) = _b.unpack_from(buffer, position)
                    position += 1
                elif tag == 1 and version >= 1:
                    (in_controlled_shutdown,) = _b.unpack_from(buffer, position)
                    position += 1
                elif tag == 2 and version >= 2:
                    log_dirs, position = read_compact_uuids(buffer, position)
                elif tag == 3 and version >= 3:
                    cordoned_log_dirs, position = read_compact_nullable_uuids(buffer, position)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return BrokerRegistrationChangeRecord(
            broker_id, broker_epoch, fenced, in_controlled_shutdown, log_dirs, cordoned_log_dirs, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "BrokerRegistrationChangeRecord",
]
