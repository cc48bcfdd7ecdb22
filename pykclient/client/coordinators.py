"""Which broker coordinates a group or a transactional id: asked once, remembered until somebody says otherwise.

Runs on the reactor thread, as part of operations. Holds only node ids; whether a node can be reached is the network
client's knowledge.
"""

from __future__ import annotations

import enum

from pykclient.client.engine import Operation, call
from pykclient.errors import error_for_code
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

# A look-up is answered from memory; a broker that takes longer is stuck, and another one knows as well.
PATIENCE_S = 5.0


class CoordinatorKind(enum.IntEnum):
    """What is coordinated, by its number on the wire."""

    GROUP = 0
    TRANSACTION = 1


class Coordinators:
    """The coordinators one client has found."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[CoordinatorKind, str], int] = {}

    def known(self, kind: CoordinatorKind, key: str) -> int | None:
        """The node id found last, None when it must be looked up."""
        return self._nodes.get((kind, key))

    def forget(self, kind: CoordinatorKind, key: str) -> None:
        """It said that it is not the one, or cannot be reached."""
        self._nodes.pop((kind, key), None)

    def find(self, kind: CoordinatorKind, key: str) -> Operation[int]:
        """The coordinator's node id; asks any broker when it is not known. Raises the broker's error, retriable or
        not."""
        known = self._nodes.get((kind, key))
        if known is not None:
            return known
        request = Request[FindCoordinatorResponse](
            api_key=ApiKey.FIND_COORDINATOR,
            build=lambda version: _question(kind, key, version),
            timeout_s=PATIENCE_S,
        )
        response = yield from call(request)
        answer = response.coordinators[0] if response.coordinators else response
        if answer.error_code != 0:
            error = error_for_code(answer.error_code)
            if kind is CoordinatorKind.GROUP:
                raise error(answer.error_message, group_id=key, node=request.address)
            raise error(answer.error_message, transactional_id=key, node=request.address)
        self._nodes[kind, key] = answer.node_id
        return answer.node_id


def _question(kind: CoordinatorKind, key: str, version: int) -> FindCoordinatorRequest:
    if version >= 4:
        return FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    return FindCoordinatorRequest(key=key, key_type=kind)
