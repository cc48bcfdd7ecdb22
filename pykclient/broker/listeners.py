"""Where a broker listens and what a client must do to be let in.

Pure: turns ``SASL_SSL://127.0.0.1:9093`` into a spec, and refuses to put an open broker on the network (R21). The
sockets are the transport's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pykclient.errors import ConfigError
from pykclient.net.transport import Endpoint

if TYPE_CHECKING:
    from ssl import SSLContext

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ListenerSpec:
    """A listener to open. Its name is its protocol unless one is given; port 0 takes a free one."""

    protocol: str = "PLAINTEXT"
    host: str = LOOPBACK
    port: int = 0
    name: str = ""
    advertised_host: str | None = None
    advertised_port: int | None = None
    tls: SSLContext | None = field(default=None, repr=False)

    @property
    def listener_name(self) -> str:
        """What clients' requests are tagged with."""
        return self.name or self.protocol

    @property
    def sasl(self) -> bool:
        """Whether clients must authenticate."""
        return self.protocol.startswith("SASL_")

    @property
    def encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return self.protocol.endswith("SSL")

    def advertised(self, bound: Endpoint) -> Endpoint:
        """The address that clients are told, given the one that was bound."""
        host = self.advertised_host or bound.host
        if host in ("0.0.0.0", "::", ""):
            host = LOOPBACK
        return Endpoint(host, self.advertised_port or bound.port)


def parse_listener(text: str, *, tls: SSLContext | None = None) -> ListenerSpec:
    """From ``PROTOCOL://host:port`` or just ``PROTOCOL``; IPv6 addresses in brackets."""
    protocol, _, address = text.strip().partition("://")
    protocol = protocol.upper()
    if protocol not in PROTOCOLS:
        raise ConfigError(f"listener {text!r}: the protocol must be one of {', '.join(PROTOCOLS)}")
    host, separator, port = address.rpartition(":")
    if not separator:
        host, port = address, "0"
    host = host.strip("[]") or LOOPBACK
    if not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"listener {text!r}: {port!r} is not a port")
    return ListenerSpec(protocol, host, int(port), tls=tls if protocol.endswith("SSL") else None)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_listeners(specs: Sequence[ListenerSpec], *, allow_open_network: bool = False) -> None:
    """Raise ConfigError for a listener that cannot work or that would let strangers in."""
    if not specs:
        raise ConfigError("a broker needs at least one listener")
    names = [spec.listener_name for spec in specs]
    if len(set(names)) != len(names):
        raise ConfigError(f"two listeners have the same name: {', '.join(names)}")
    for spec in specs:
        if spec.encrypted and spec.tls is None:
            raise ConfigError(f"listener {spec.listener_name} needs a certificate")
        if not spec.sasl and not is_loopback(spec.host) and not allow_open_network:
            raise ConfigError(
                f"listener {spec.listener_name}://{spec.host} can be reached from other machines and asks nobody who "
                "they are; use SASL, bind 127.0.0.1, or say allow_open_network"
            )
