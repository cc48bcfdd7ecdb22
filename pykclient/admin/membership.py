"""Who belongs to the cluster: brokers that will not come back, and the controllers that vote (KIP-853).

Operations on the reactor thread. These change what the cluster can survive: none is ever repeated after an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from pykclient.admin.routing import Controller, Session, ask_once, check
from pykclient.client.engine import Operation
from pykclient.net.client_request import Request
from pykclient.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from pykclient.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from pykclient.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def unregister_broker(session: Session, node_id: int) -> Operation[None]:
    """Forget a broker that is gone for good."""

    def request(target: int | None) -> Request[UnregisterBrokerResponse]:
        return Request(UnregisterBrokerRequest(broker_id=node_id), node_id=target)

    def read(response: UnregisterBrokerResponse) -> None:
        check(response.error_code, response.error_message, api="UnregisterBroker")

    yield from ask_once(session, request, read, route=Controller())


def add_raft_voter(
    session: Session, voter_id: int, directory_id: UUID, endpoints: Mapping[str, tuple[str, int]]
) -> Operation[None]:
    """Let a controller vote; ``endpoints`` are its listeners by name."""
    message = AddRaftVoterRequest(
        timeout_ms=session.broker_timeout_ms,
        voter_id=voter_id,
        voter_directory_id=directory_id,
        listeners=[Listener(name=name, host=host, port=port) for name, (host, port) in endpoints.items()],
    )

    def request(target: int | None) -> Request[AddRaftVoterResponse]:
        return Request(message, node_id=target)

    def read(response: AddRaftVoterResponse) -> None:
        check(response.error_code, response.error_message, api="AddRaftVoter")

    yield from ask_once(session, request, read, route=Controller())


def remove_raft_voter(session: Session, voter_id: int, directory_id: UUID) -> Operation[None]:
    """Take a controller's vote away."""
    message = RemoveRaftVoterRequest(voter_id=voter_id, voter_directory_id=directory_id)

    def request(target: int | None) -> Request[RemoveRaftVoterResponse]:
        return Request(message, node_id=target)

    def read(response: RemoveRaftVoterResponse) -> None:
        check(response.error_code, response.error_message, api="RemoveRaftVoter")

    yield from ask_once(session, request, read, route=Controller())
