"""What the broker's rooms may ask of the node they live in.

A seam: server.py implements it, rooms and their tests depend on it only. Everything here is read on the node's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from pykclient.broker.authorizer import Authorizer, Operation, ResourceType
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.controller import ControllerState
from pykclient.broker.image import MetadataImage
from pykclient.broker.request import Principal, RequestContext
from pykclient.broker.topic_changes import Decision
from pykclient.net.completion import Completion

R = TypeVar("R")
S = TypeVar("S")


BROKER_PRINCIPAL = Principal("Broker", "internal")
"""Who the brokers are to each other. No listener gives a client a principal of this kind."""


class Link(Protocol):
    """The way to the controller."""

    def run(self, operation: Callable[[ControllerState], Decision[R]]) -> Completion[R]:
        """Run an operation there; completes here, when every live node has what it changed."""
        ...


class NodeView(Protocol):
    """The node as a room sees it."""

    node_id: int
    config: BrokerConfig
    authorizer: Authorizer
    image: MetadataImage
    controller: Link


def allowed(
    node: NodeView, context: RequestContext, operation: Operation, resource_type: ResourceType, name: str
) -> bool:
    """Whether whoever sent the request may do this."""
    return node.authorizer.allows(context.principal, context.peer.host, operation, resource_type, name)


def then(completion: Completion[R], convert: Callable[[R], S]) -> Completion[S]:
    """The completion of a value made from another one's; an error passes through."""
    result: Completion[S] = Completion()

    def go_on(done: Completion[Any]) -> None:
        if done.error is not None:
            result.fail(done.error)
            return
        try:
            value = convert(done.result())
        except Exception as error:  # the request must be answered whatever a conversion does
            result.fail(error)
        else:
            result.succeed(value)

    completion.add_callback(go_on)
    return result
