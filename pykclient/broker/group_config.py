"""The broker options of the group coordinator, under Kafka's names and with Kafka's defaults.

Plain data; read by every file of the group coordinator and by the server that describes broker configurations.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""A classic member that joined for the first time and vanished is forgotten after this long, even while its JoinGroup
waits (not an option in Kafka).
"""


class MigrationPolicy(enum.Enum):
    """``group.consumer.migration.policy``: whether a group may change its protocol while it has members (KIP-848)."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def allows_upgrade(self) -> bool:
        """From classic to consumer."""
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def allows_downgrade(self) -> bool:
        """From consumer to classic."""
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """The attribute ``group_max_size`` is Kafka's ``group.max.size``, and so on."""

    offsets_topic_num_partitions: int = 50
    offset_metadata_max_bytes: int = 4096
    offsets_retention_minutes: int = 7 * 24 * 60
    offsets_retention_check_interval_ms: int = 600_000

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    group_initial_rebalance_delay_ms: int = 3_000
    group_max_size: int = 2**31 - 1

    group_consumer_session_timeout_ms: int = 45_000
    group_consumer_heartbeat_interval_ms: int = 5_000
    group_consumer_assignment_interval_ms: int = 0
    group_consumer_max_size: int = 2**31 - 1
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    group_consumer_migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    group_consumer_regex_refresh_interval_ms: int = 600_000

    @property
    def offsets_retention_ms(self) -> int:
        """``offsets.retention.minutes`` in the unit of the timestamps it is compared with."""
        return self.offsets_retention_minutes * 60_000
