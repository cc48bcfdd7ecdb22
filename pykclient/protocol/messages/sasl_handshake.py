"""SaslHandshakeRequest, SaslHandshakeResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_string,
    encode_strings,
    read_string,
    read_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    read_message,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SaslHandshakeRequest:
    """SaslHandshakeRequest, versions 0 to 1."""

    __slots__ = ("mechanism",)

    mechanism: str

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, mechanism: str = "") -> None:
        self.mechanism = mechanism

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> SaslHandshakeRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.mechanism))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SaslHandshakeRequest, int]:
        mechanism, position = read_string(buffer, position)
        return SaslHandshakeRequest(mechanism), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SaslHandshakeResponse:
    """SaslHandshakeResponse, versions 0 to 1."""

    __slots__ = ("error_code", "mechanisms")

    error_code: int
    mechanisms: list[str]

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, error_code: int = 0, mechanisms: list[str] = EMPTY) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is EMPTY else mechanisms

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> SaslHandshakeResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        append(encode_strings(self.mechanisms))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SaslHandshakeResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        mechanisms, position = read_strings(buffer, position)
        return SaslHandshakeResponse(error_code, mechanisms), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "SaslHandshakeRequest",
    "SaslHandshakeResponse",
]
