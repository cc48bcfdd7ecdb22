"""One step of one member towards its target assignment (KIP-848): give up first, confirm, then receive what others
have released.

A pure function of the member, its target and who owns what. The rule it must never break: a partition is in one
member's hands only.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from uuid import UUID

from pykclient.broker.kip848_group import NO_PARTITIONS, ConsumerMember, MemberState, Partition
from pykclient.errors import FencedMemberEpoch


def reconcile(
    member: ConsumerMember,
    *,
    target_epoch: int,
    target: AbstractSet[Partition],
    subscribed_ids: AbstractSet[UUID],
    owners: Mapping[Partition, str],
    owned: AbstractSet[Partition] | None,
    subscription_changed: bool,
) -> ConsumerMember:
    """The member after the step; the same object when nothing changes.

    ``owned`` is what the member says it owns (None when this heartbeat doesn't say); a target partition of a topic it
    no longer subscribes to is never given, since the target may be older than the subscription.
    """
    if member.state is MemberState.STABLE:
        if member.epoch != target_epoch:
            return _advance(member, member.epoch, target_epoch, target, subscribed_ids, owners, owned)
        return _drop_unsubscribed(member, subscribed_ids, owned) if subscription_changed else member
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_owns(member.revoking, owned):
            return _drop_unsubscribed(member, subscribed_ids, owned) if subscription_changed else member
        return _advance(member, member.epoch, target_epoch, target, subscribed_ids, owners, owned)
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        return _advance(member, member.epoch, target_epoch, target, subscribed_ids, owners, owned)
    # A state written by a newer broker: what the member holds is not known, so it must say that it holds nothing.
    if owned is None or owned:
        raise FencedMemberEpoch("the member must abandon its partitions and join again")
    return _advance(member, target_epoch, target_epoch, target, subscribed_ids, owners, owned)


def _still_owns(revoking: Mapping[Partition, int], owned: AbstractSet[Partition] | None) -> bool:
    return owned is None or any(partition in revoking for partition in owned)


def _advance(
    member: ConsumerMember,
    epoch: int,
    target_epoch: int,
    target: AbstractSet[Partition],
    subscribed_ids: AbstractSet[UUID],
    owners: Mapping[Partition, str],
    owned: AbstractSet[Partition] | None,
) -> ConsumerMember:
    wanted = {partition for partition in target if partition[0] in subscribed_ids}
    kept = {partition: since for partition, since in member.assigned.items() if partition in wanted}
    revoking = {partition: since for partition, since in member.assigned.items() if partition not in wanted}
    if revoking and _still_owns(revoking, owned):
        # Not a step ahead in epoch until these are confirmed as given up: its commits for them must still be accepted.
        advanced = member.with_epoch(epoch)
        return replace(advanced, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoking)
    missing = wanted - kept.keys()
    free = {partition for partition in missing if partition not in owners or partition in member.revoking}
    given = dict.fromkeys(sorted(free), target_epoch)
    state = MemberState.STABLE if free == missing else MemberState.UNRELEASED_PARTITIONS
    return replace(member.with_epoch(target_epoch), state=state, assigned={**kept, **given}, revoking=NO_PARTITIONS)


def _drop_unsubscribed(
    member: ConsumerMember, subscribed_ids: AbstractSet[UUID], owned: AbstractSet[Partition] | None
) -> ConsumerMember:
    """The subscription became smaller while the target is still the old one: stop owning those topics at once."""
    kept = {partition: since for partition, since in member.assigned.items() if partition[0] in subscribed_ids}
    if len(kept) == len(member.assigned):
        return member
    dropped = {partition: since for partition, since in member.assigned.items() if partition not in kept}
    revoking = {**member.revoking, **dropped}
    advanced = member.with_epoch(member.epoch)
    if _still_owns(revoking, owned):
        return replace(advanced, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoking)
    return replace(advanced, assigned=kept)
