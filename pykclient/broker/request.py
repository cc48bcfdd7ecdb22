"""What a handler is given and what it may answer: the seam between ``server.py`` and the rooms that own broker state.

Every room has a ``HANDLERS`` table (ApiKey -> method name or bound method); ``server.py`` merges the tables and refuses
duplicates. All of a broker node's code runs on that node's one thread; a handler never blocks. One that cannot answer
yet returns a Completion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pykclient.net.completion import Completion
from pykclient.net.transport import Endpoint


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking: ``User:alice``, or ``User:ANONYMOUS`` on a listener without authentication."""

    kind: str = "User"
    name: str = "ANONYMOUS"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS = Principal()


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Everything about a request but its body. ``now`` is monotonic seconds, ``wall_ms`` the epoch in milliseconds,
    both at arrival."""

    api_key: int
    api_version: int
    client_id: str | None
    principal: Principal
    peer: Endpoint
    listener_name: str
    connection_id: int
    now: float
    wall_ms: int


# A handler takes (context, request message) and returns the response message, a Completion of it, or None when the
# protocol has no answer (Produce with acks=0). Messages are the generated classes; Any because each handler names its
# own pair.
Handler: TypeAlias = "Callable[[RequestContext, Any], Any | Completion[Any] | None]"
