"""Administration: ``from pykclient.admin import NewTopic, ConfigResource, ...``, the nouns that KafkaAdminClient takes
and gives.

The client itself is loaded when it is first asked for, so that code which only names the nouns stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykclient.admin.results import PartialFailure, Results
from pykclient.admin.types import (
    Acl,
    AclFilter,
    AclOperation,
    AclPatternType,
    AclPermission,
    AclResourceType,
    Append,
    ClusterDescription,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    CreatedTopic,
    DelegationToken,
    DeletedTopic,
    Features,
    FencedProducer,
    GroupDescription,
    GroupListing,
    GroupMember,
    HangingTransaction,
    LogDir,
    NewPartitions,
    NewTopic,
    OffsetReset,
    OffsetSpec,
    PartitionDescription,
    PartitionLag,
    ProducerState,
    QuorumDescription,
    QuorumReplica,
    Reassignment,
    ReplicaLog,
    ScramDeletion,
    ScramUpsertion,
    ShareOffset,
    Subtract,
    TopicDescription,
    TopicListing,
    TransactionDescription,
    TransactionListing,
)

if TYPE_CHECKING:
    from pykclient.admin.client import KafkaAdminClient


def __getattr__(name: str) -> Any:
    if name == "KafkaAdminClient":
        from pykclient.admin.client import KafkaAdminClient

        return KafkaAdminClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Acl",
    "AclFilter",
    "AclOperation",
    "AclPatternType",
    "AclPermission",
    "AclResourceType",
    "Append",
    "ClusterDescription",
    "ConfigEntry",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "CreatedTopic",
    "DelegationToken",
    "DeletedTopic",
    "Features",
    "FencedProducer",
    "GroupDescription",
    "GroupListing",
    "GroupMember",
    "HangingTransaction",
    "KafkaAdminClient",
    "LogDir",
    "NewPartitions",
    "NewTopic",
    "OffsetReset",
    "OffsetSpec",
    "PartialFailure",
    "PartitionDescription",
    "PartitionLag",
    "ProducerState",
    "QuorumDescription",
    "QuorumReplica",
    "Reassignment",
    "ReplicaLog",
    "Results",
    "ScramDeletion",
    "ScramUpsertion",
    "ShareOffset",
    "Subtract",
    "TopicDescription",
    "TopicListing",
    "TransactionDescription",
    "TransactionListing",
]
