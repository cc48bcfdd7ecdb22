"""The sticky assignors (KIP-54, KIP-429): even shares, and as few partitions as possible change hands.

Settles who owned what before, chooses the fast way (all want the same topics: sticky_even.py) or the general one
(sticky_general.py), and for the cooperative assignor holds back what its old owner must give up first. Pure.
Previous ownership comes from other members, so nothing in it is believed: partitions may be gone or claimed twice.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pykclient.consumer.group_members import NO_GENERATION, Assignment, Member, RebalanceProtocol, Topics
from pykclient.consumer.sticky_even import assign_even
from pykclient.consumer.sticky_general import assign_general
from pykclient.types import TopicPartition


@dataclass(frozen=True, slots=True)
class Claim:
    """What a member says it owned, and when."""

    partitions: tuple[TopicPartition, ...]
    generation: int


@dataclass(frozen=True, slots=True)
class Past:
    """Who owned what, as far as the claims agree."""

    owned: dict[str, list[TopicPartition]]
    """Per member, in the order it named them."""
    owner: dict[TopicPartition, str | None]
    """Per claimed partition; None where several members claim it and none of them later than the others."""
    earlier: dict[TopicPartition, str]
    """Owners of an older generation: to be preferred when a partition has to move anyway."""


def settle(topics: Topics, claims: dict[str, Claim]) -> Past:
    """Believe the newest claim to each partition that still exists; where two are as new, believe neither."""
    best: dict[TopicPartition, tuple[int, str | None]] = {}
    for member_id in sorted(claims):
        claim = claims[member_id]
        for partition in dict.fromkeys(claim.partitions):
            if not 0 <= partition.partition < len(topics.get(partition.topic, ())):
                continue
            known = best.get(partition)
            if known is None or claim.generation > known[0]:
                best[partition] = claim.generation, member_id
            elif claim.generation == known[0]:
                best[partition] = claim.generation, None
    owned: dict[str, list[TopicPartition]] = {
        member_id: [p for p in dict.fromkeys(claim.partitions) if best.get(p, (0, None))[1] == member_id]
        for member_id, claim in claims.items()
    }
    return Past(owned, {partition: owner for partition, (_, owner) in best.items()}, _earlier_owners(claims))


def _earlier_owners(claims: dict[str, Claim]) -> dict[TopicPartition, str]:
    newest = max((claim.generation for claim in claims.values()), default=NO_GENERATION)
    earlier: dict[TopicPartition, tuple[int, str]] = {}
    for member_id in sorted(claims):
        claim = claims[member_id]
        if claim.generation < newest:
            for partition in claim.partitions:
                if partition not in earlier or claim.generation > earlier[partition][0]:
                    earlier[partition] = claim.generation, member_id
    return {partition: owner for partition, (_, owner) in earlier.items()}


def _assign(topics: Topics, members: Sequence[Member], past: Past) -> tuple[Assignment, bool]:
    """The assignment, and whether all members want the same."""
    wanted = {topic for member in members for topic in member.topics}
    topics = {topic: racks for topic, racks in topics.items() if topic in wanted and racks}
    if all(member.topics == members[0].topics for member in members):
        return assign_even(topics, members, past.owned), True
    return assign_general(topics, members, past.owned, past.earlier), False


class StickyAssignor:
    """Even and sticky; everything is given up before each rebalance, and the past travels in the user data."""

    name = "sticky"
    protocols = (RebalanceProtocol.EAGER,)

    def subscription_user_data(
        self, topics: Collection[str], assigned: Sequence[TopicPartition] | None, generation: int
    ) -> bytes | None:
        """The last assignment and its generation."""
        return None if assigned is None else encode_claim(assigned, generation)

    def assign(self, topics: Topics, members: Sequence[Member]) -> Assignment:
        """See the module."""
        claims = {member.member_id: decode_claim(member.user_data) for member in members}
        return _assign(topics, members, settle(topics, claims))[0] if members else {}


class CooperativeStickyAssignor:
    """Even and sticky, without stopping the world: a partition changes hands over two rebalances."""

    name = "cooperative-sticky"
    protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)

    def subscription_user_data(
        self, topics: Collection[str], assigned: Sequence[TopicPartition] | None, generation: int
    ) -> bytes | None:
        """The generation, for leaders that are too old to find it in the subscription."""
        return struct.pack(">i", generation)

    def assign(self, topics: Topics, members: Sequence[Member]) -> Assignment:
        """As the sticky one, less the partitions that another member still holds."""
        if not members:
            return {}
        claims = {member.member_id: _cooperative_claim(member) for member in members}
        past = settle(topics, claims)
        assignment, even = _assign(topics, members, past)
        claimants: dict[TopicPartition, set[str]] = {}
        for member_id, claim in claims.items():
            for partition in claim.partitions:
                claimants.setdefault(partition, set()).add(member_id)

        def may_start(member_id: str, partition: TopicPartition) -> bool:
            # The settled owner goes on reading, and nobody's partition is free. Otherwise all claimants have to let go
            # first; only where wishes differ does Kafka let one who claims the partition in vain have it at once.
            if even:
                return past.owner.get(partition, member_id) == member_id
            return partition not in claimants or member_id in claimants[partition]

        return {
            member_id: [partition for partition in partitions if may_start(member_id, partition)]
            for member_id, partitions in assignment.items()
        }


def _cooperative_claim(member: Member) -> Claim:
    if member.generation != NO_GENERATION:
        return Claim(member.owned, member.generation)
    data = member.user_data
    generation = struct.unpack_from(">i", data)[0] if data is not None and len(data) >= 4 else NO_GENERATION
    return Claim(member.owned, generation)


def encode_claim(partitions: Sequence[TopicPartition], generation: int) -> bytes:
    """The sticky assignor's user data, version 1: topics with their partitions, then the generation."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    parts = [struct.pack(">i", len(by_topic))]
    for topic, numbers in by_topic.items():
        name = topic.encode("utf-8")
        parts.append(struct.pack(f">h{len(name)}si{len(numbers)}i", len(name), name, len(numbers), *numbers))
    parts.append(struct.pack(">i", generation))
    return b"".join(parts)


def decode_claim(data: bytes | None) -> Claim:
    """Read either version of the user data. What cannot be read is no claim: a group must not die of one odd member."""
    if not data:
        return Claim((), NO_GENERATION)
    try:
        return _decode_claim(data)
    except (struct.error, UnicodeDecodeError, ValueError):
        return Claim((), NO_GENERATION)


def _decode_claim(data: bytes) -> Claim:
    (topic_count,) = struct.unpack_from(">i", data)
    position = 4
    partitions: list[TopicPartition] = []
    if not 0 <= topic_count <= len(data):
        raise ValueError("topic count")
    for _ in range(topic_count):
        (size,) = struct.unpack_from(">h", data, position)
        position += 2
        if not 0 <= size <= len(data) - position:
            raise ValueError("topic name")
        topic = data[position : position + size].decode("utf-8")
        position += size
        (count,) = struct.unpack_from(">i", data, position)
        position += 4
        if not 0 <= count <= (len(data) - position) // 4:
            raise ValueError("partition count")
        partitions.extend(TopicPartition(topic, n) for n in struct.unpack_from(f">{count}i", data, position))
        position += 4 * count
    # Version 0 ends here.
    generation = struct.unpack_from(">i", data, position)[0] if len(data) >= position + 4 else NO_GENERATION
    return Claim(tuple(partitions), generation)
