"""For tests: a Kafka cluster in the process (``EmbeddedCluster``), clocks to push, certificates, and pytest fixtures.

Names load when first used: the pytest plugin lives in this package and is imported by every pytest run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykclient.testing.certificates import TestCertificates, make_certificates
    from pykclient.testing.clock import frozen_clock, running_clock
    from pykclient.testing.embedded import EmbeddedCluster, PartitionState

_HOMES = {
    "EmbeddedCluster": "embedded",
    "PartitionState": "embedded",
    "TestCertificates": "certificates",
    "frozen_clock": "clock",
    "make_certificates": "certificates",
    "running_clock": "clock",
}

__all__ = [
    "EmbeddedCluster",
    "PartitionState",
    "TestCertificates",
    "frozen_clock",
    "make_certificates",
    "running_clock",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
