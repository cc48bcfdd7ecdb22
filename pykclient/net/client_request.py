"""A request on its way: what is asked, of whom, for how long, and where the answer goes. Also which versions a broker
speaks.

Plain data that belongs to the reactor thread. Nothing here sends, waits or reads a clock.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pykclient.errors import UnsupportedVersionError
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey, api

R = TypeVar("R")

VERSION_LAST = 32767


class Channel(enum.IntEnum):
    """Which connection to a node: a heartbeat must not stand in line behind a fetch that waits half a second for
    data."""

    MAIN = 0
    COORDINATOR = 1
    FETCH = 2
    GROUP = 3
    """JoinGroup and SyncGroup, which wait for the other members; commits must not stand behind them."""


@dataclass(slots=True, eq=False)
class Request(Generic[R]):
    """One request. ``Request[FetchResponse](FetchRequest(...), node_id=3)``; the response message arrives in
    ``completion``.

    Give ``message``, or ``api_key`` and ``build`` when the message depends on the version that is negotiated.
    ``node_id`` None means any broker: the least loaded is taken, and another when it cannot be reached. A request
    fails with a KafkaConnectionError (retriable; ``RequestExpired`` for its own time-out) when the connection breaks,
    with UnsupportedVersionError, AuthenticationError or ProtocolError. Error codes inside a response are the caller's
    to read.
    """

    message: Any = None
    node_id: int | None = None
    channel: Channel = Channel.MAIN
    timeout_s: float | None = None
    """From the moment it is handed over, waiting for a connection included. None: the client's request_timeout."""
    api_key: int = -1
    build: Callable[[int], Any] | None = None
    version_min: int = 0
    version_max: int = VERSION_LAST
    expects_response: bool = True
    """False (Produce with acks=0): completes with None as soon as the bytes are on their way."""
    on_sent: Callable[[float], None] | None = None
    """Called with the time when the bytes are handed to the connection."""
    completion: Completion[R] = field(default_factory=Completion)

    # Filled in on the way, for whoever handles the answer.
    version: int = -1
    sent_at: float | None = None
    sent_to: int | None = None
    routed_to: int | None = None
    """The node whose queue it stands in, or stood in when it was sent."""
    address: str | None = None
    """That node's ``host:port``, for errors that tell whose answer they are."""
    deadline: float = 0.0
    withdrawn: bool = False
    tried: set[int] | None = None
    """Nodes that could not be reached; a caller may name some to avoid."""

    def __post_init__(self) -> None:
        if self.api_key < 0:
            self.api_key = int(self.message.API_KEY)
        assert (self.message is None) != (self.build is None), "give a message or a builder"

    def __repr__(self) -> str:
        # Never the message: it may hold credentials or user data.
        to = "any node" if self.node_id is None else f"node {self.node_id}"
        return f"<{ApiKey(self.api_key).name} to {to}>"


class ApiVersions:
    """What one broker speaks, as it told us on this connection."""

    __slots__ = ("_ranges", "finalized_features", "finalized_features_epoch", "supported_features")

    def __init__(
        self,
        ranges: Mapping[int, tuple[int, int]],
        *,
        finalized_features: Mapping[str, int] | None = None,
        finalized_features_epoch: int = -1,
        supported_features: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        self._ranges = dict(ranges)
        self.finalized_features = dict(finalized_features or {})
        """Feature level in force for the whole cluster, e.g. ``transaction.version``."""
        self.finalized_features_epoch = finalized_features_epoch
        self.supported_features = dict(supported_features or {})

    def range_of(self, api_key: int) -> tuple[int, int] | None:
        """What the broker offers, None when it has no such API."""
        return self._ranges.get(api_key)

    def supports(self, api_key: int, version: int = 0) -> bool:
        """True when the broker serves this version."""
        offered = self._ranges.get(api_key)
        return offered is not None and offered[0] <= version <= offered[1]

    def usable(self, api_key: int) -> int | None:
        """The highest version both sides speak, None when there is none."""
        try:
            return self.pick(api_key)
        except UnsupportedVersionError:
            return None

    def pick(self, api_key: int, version_min: int = 0, version_max: int = VERSION_LAST) -> int:
        """The highest version both sides speak within the caller's bounds."""
        info = api(api_key)
        newest = info.max_version - 1 if info.latest_version_unstable else info.max_version
        low, high = max(info.min_version, version_min), min(newest, version_max)
        offered = self._ranges.get(api_key)
        if offered is not None:
            version = min(high, offered[1])
            if version >= max(low, offered[0]):
                return version
        raise UnsupportedVersionError(needed=(low, high), offered=offered, api=info.name)


__all__ = ["ApiVersions", "Channel", "Request"]
