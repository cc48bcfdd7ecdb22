"""Configuration of the clients: one option table each, checked once, frozen afterwards.

``read_options(ProducerConfig, {"linger.ms": 5}, acks="all")`` gives the frozen table or one `ConfigError` with every
problem in it. ``python -m pykclient.config`` prints the tables as Markdown. Layer 0: no I/O, nothing imported by name.
"""

from __future__ import annotations

from pykclient.config.options import Secret
from pykclient.config.security import HostPort, parse_host_port
from pykclient.config.tables import AdminConfig, CommonConfig, ConsumerConfig, ProducerConfig, read_options

__all__ = [
    "AdminConfig",
    "CommonConfig",
    "ConsumerConfig",
    "HostPort",
    "ProducerConfig",
    "Secret",
    "parse_host_port",
    "read_options",
]
