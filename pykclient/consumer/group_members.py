"""What an assignor is told: members, topics with the racks of their replicas, and how members give partitions up.

Plain data, owned by nobody, safe anywhere.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from pykclient.types import TopicPartition

Racks: TypeAlias = Sequence[AbstractSet[str]]
"""Per partition, from 0 on, the racks that hold a replica; empty sets where racks are not known."""
Topics: TypeAlias = Mapping[str, Racks]
Assignment: TypeAlias = dict[str, list[TopicPartition]]

NO_GENERATION = -1


class RebalanceProtocol(enum.IntEnum):
    """How partitions are given up (KIP-429)."""

    EAGER = 0
    """All of them before joining."""
    COOPERATIVE = 1
    """Only those that go to somebody else, in a second round."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member as the group's leader sees it in its subscription."""

    member_id: str
    topics: frozenset[str]
    group_instance_id: str | None = None
    rack: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int = NO_GENERATION
    """When it came to own them; -1 where the subscription does not say."""
    user_data: bytes | None = None

    def sort_key(self) -> tuple[bool, str]:
        """Static members first and by instance id, so that a restart under a new member id changes nothing."""
        if self.group_instance_id is not None:
            return False, self.group_instance_id
        return True, self.member_id


def rack_aware(member_racks: Sequence[str | None], partition_racks: Racks) -> bool:
    """Whether racks can make a difference: some member is near something, and not everything is everywhere."""
    ours = {rack for rack in member_racks if rack}
    everywhere: set[str] = set().union(*partition_racks) if partition_racks else set()
    return bool(ours & everywhere) and any(racks != everywhere for racks in partition_racks)
