"""Kafka for Apache Spark 4, with no jar: ``spark.dataSource.register(KafkaDataSource)``, then ``format("pykclient")``.

Needs ``pip install 'pykclient[spark]'`` on the driver and on every executor. See docs/spark.md. Names are fetched when
first used, so that planning and options can be used, and tested, where there is no Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pykclient.spark.batches import write_batch
    from pykclient.spark.decisions import resolve_batch
    from pykclient.spark.lag import LagListener
    from pykclient.spark.source import KafkaDataSource

_EXPORTS = {
    "KafkaDataSource": "pykclient.spark.source",
    "LagListener": "pykclient.spark.lag",
    "resolve_batch": "pykclient.spark.decisions",
    "write_batch": "pykclient.spark.batches",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)


__all__ = ["KafkaDataSource", "LagListener", "resolve_batch", "write_batch"]
