"""pykclient: an Apache Kafka client for Python.

Importing this package loads nothing but this file: every public name is fetched when it is first used, so that
``import pykclient`` stays fast and optional dependencies stay optional.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing itself would be most of what this import costs; type checkers know the name
if TYPE_CHECKING:
    from typing import Any

    from pykclient.admin.client import KafkaAdminClient
    from pykclient.consumer.consumer import KafkaConsumer
    from pykclient.errors import (
        AuthenticationError,
        AuthorizationError,
        BrokerError,
        ConfigError,
        FatalError,
        KafkaConnectionError,
        KafkaError,
        KafkaTimeoutError,
        ProtocolError,
        UsageError,
    )
    from pykclient.producer.prepared import PreparedTransaction
    from pykclient.producer.producer import KafkaProducer
    from pykclient.protocol.accel import accelerated
    from pykclient.types import (
        ConsumerGroupMetadata,
        ConsumerRecord,
        Node,
        OffsetAndMetadata,
        OffsetAndTimestamp,
        PartitionInfo,
        RecordMetadata,
        TimestampType,
        TopicPartition,
    )

__version__ = "0.1.0.dev0"

# One line per public name: the name and the module it lives in. Keep it equal to the imports above and to __all__;
# tests/unit/test_public_api.py fails otherwise.
_EXPORTS = {
    "AuthenticationError": "pykclient.errors",
    "AuthorizationError": "pykclient.errors",
    "BrokerError": "pykclient.errors",
    "ConfigError": "pykclient.errors",
    "ConsumerGroupMetadata": "pykclient.types",
    "ConsumerRecord": "pykclient.types",
    "FatalError": "pykclient.errors",
    "KafkaAdminClient": "pykclient.admin.client",
    "KafkaConnectionError": "pykclient.errors",
    "KafkaConsumer": "pykclient.consumer.consumer",
    "KafkaError": "pykclient.errors",
    "KafkaProducer": "pykclient.producer.producer",
    "KafkaTimeoutError": "pykclient.errors",
    "Node": "pykclient.types",
    "OffsetAndMetadata": "pykclient.types",
    "OffsetAndTimestamp": "pykclient.types",
    "PartitionInfo": "pykclient.types",
    "PreparedTransaction": "pykclient.producer.prepared",
    "ProtocolError": "pykclient.errors",
    "RecordMetadata": "pykclient.types",
    "TimestampType": "pykclient.types",
    "TopicPartition": "pykclient.types",
    "UsageError": "pykclient.errors",
    "accelerated": "pykclient.protocol.accel",
}


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value  # the next use does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})


__all__ = [
    "AuthenticationError",
    "AuthorizationError",
    "BrokerError",
    "ConfigError",
    "ConsumerGroupMetadata",
    "ConsumerRecord",
    "FatalError",
    "KafkaAdminClient",
    "KafkaConnectionError",
    "KafkaConsumer",
    "KafkaError",
    "KafkaProducer",
    "KafkaTimeoutError",
    "Node",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "PartitionInfo",
    "PreparedTransaction",
    "ProtocolError",
    "RecordMetadata",
    "TimestampType",
    "TopicPartition",
    "UsageError",
    "__version__",
    "accelerated",
]
