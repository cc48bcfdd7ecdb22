"""Kafka for Apache Spark 4, with no jar: ``spark.dataSource.register(KafkaDataSource)``, then ``format("pykclient")``.

Needs ``pip install 'pykclient[spark]'`` on the driver and on every executor. See docs/spark.md.
"""

from __future__ import annotations

from pykclient.spark.batches import write_batch
from pykclient.spark.lag import LagListener
from pykclient.spark.source import KafkaDataSource

__all__ = ["KafkaDataSource", "LagListener", "write_batch"]
