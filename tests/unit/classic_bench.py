"""Members of the classic protocol on the group bench: requests as they are sent, and groups made ready."""

from __future__ import annotations

from typing import Any

from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.group_bench import GROUP, GroupBench

SESSION_MS = 10_000


REBALANCE_MS = 20_000


def subscription(*topics: str, version: int = 1) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics)).write(version)
    return version.to_bytes(2, "big") + bytes(body)


def join_request(
    member_id: str = "",
    *,
    instance_id: str | None = None,
    protocols: tuple[tuple[str, bytes], ...] = (("range", subscription("t")),),
    protocol_type: str = "consumer",
    session_ms: int = SESSION_MS,
    rebalance_ms: int = REBALANCE_MS,
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=GROUP,
        member_id=member_id,
        group_instance_id=instance_id,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name, metadata in protocols],
    )


def sync_request(
    member_id: str, generation: int, assignments: dict[str, bytes] | None = None, instance_id: str | None = None
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=GROUP,
        member_id=member_id,
        generation_id=generation,
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[
            SyncGroupRequestAssignment(member_id=member, assignment=data)
            for member, data in (assignments or {}).items()
        ],
    )


class ClassicBench(GroupBench):
    def new_member(self, **kwargs: Any) -> str:
        """A member id, as the first JoinGroup gets it."""
        response = self.call(join_request(**kwargs))
        assert response.error_code == ErrorCode.MEMBER_ID_REQUIRED
        assert isinstance(response.member_id, str)
        return response.member_id

    def join(self, member_id: str = "", version: int | None = None, **kwargs: Any) -> Completion[Any]:
        return self.send(join_request(member_id, **kwargs), version)

    def sync(self, member_id: str, generation: int, assignments: dict[str, bytes] | None = None) -> Completion[Any]:
        return self.send(sync_request(member_id, generation, assignments))

    def heartbeat(self, member_id: str, generation: int, instance_id: str | None = None) -> int:
        request = HeartbeatRequest(
            group_id=GROUP, member_id=member_id, generation_id=generation, group_instance_id=instance_id
        )
        return int(self.call(request).error_code)

    def leave(self, *members: MemberIdentity) -> Any:
        return self.call(LeaveGroupRequest(group_id=GROUP, members=list(members)))

    def one_stable_member(self) -> str:
        member_id = self.new_member()
        joined = self.join(member_id).result()
        assert self.sync(member_id, joined.generation_id, {member_id: b"A"}).result().assignment == b"A"
        return member_id

    def two_stable_members(self) -> tuple[str, str]:
        first = self.one_stable_member()
        second = self.new_member()
        joining = self.join(second)
        assert self.heartbeat(first, 1) == ErrorCode.REBALANCE_IN_PROGRESS
        rejoined = self.join(first).result()
        assert joining.result().generation_id == rejoined.generation_id == 2
        following = self.sync(second, 2)
        self.sync(first, 2, {first: b"1", second: b"2"})
        assert following.result().assignment == b"2"
        return first, second
