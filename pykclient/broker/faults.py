"""Faults on demand: rules that make a broker answer with an error, answer late, wrongly or not at all.

Rules are added by a test's thread and asked on every node's thread: the tuple of rules is replaced as a whole and
counters change under the guard that the cluster passes in (the simulator passes none). A rule looks at a decoded
request and never at bytes. With no rules the cost is one test for an empty tuple per request.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from pykclient.broker.error_replies import groups_of, topics_of, transactional_ids_of
from pykclient.broker.request import RequestContext
from pykclient.broker.topic_changes import Randomness
from pykclient.errors import ErrorCode, UsageError
from pykclient.protocol.messages import ApiKey


class Guard(Protocol):
    """What rules shared by several threads need: a lock, and a way to wait for a change (``threading.Condition``)."""

    def __enter__(self) -> object: ...

    def __exit__(self, *details: Any) -> object: ...

    def notify_all(self) -> None:
        """Wake who waits."""
        ...

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until it is true; False after the time-out."""
        ...


class FaultKind(enum.Enum):
    """What happens to a request that a rule hits."""

    ERROR = "answered with an error, nothing is done"
    DELAY = "done, and answered late"
    DROP_BEFORE = "the connection is closed, nothing is done"
    DROP_AFTER = "done, and the connection closed instead of an answer"
    STALL = "never answered, nothing is done"
    TRUNCATE = "done, half the answer is sent and the connection closed"
    CORRUPT = "done, and the answer's bytes are damaged"
    OBSERVE = "only counted"


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests a rule is about; None matches all. Each given condition must hold."""

    apis: frozenset[int] | None = None
    node: int | None = None
    topic: str | None = None
    group: str | None = None
    transactional_id: str | None = None
    client_id: str | None = None
    when: Callable[[RequestContext, Any], bool] | None = None

    def matches(self, node_id: int, context: RequestContext, request: Any, topic_names: Mapping[UUID, str]) -> bool:
        """Whether the request is one of them."""
        return (
            (self.apis is None or context.api_key in self.apis)
            and self.node in (None, node_id)
            and self.client_id in (None, context.client_id)
            and (self.topic is None or self.topic in topics_of(request, topic_names))
            and (self.group is None or self.group in groups_of(context.api_key, request))
            and (
                self.transactional_id is None or self.transactional_id in transactional_ids_of(context.api_key, request)
            )
            and (self.when is None or self.when(context, request))
        )


@dataclass(eq=False)
class FaultRule:
    """One rule.

    ``hits`` counts the requests it was applied to; ``seen`` also those that chance or ``skip`` let pass.
    """

    kind: FaultKind
    match: Match
    error: ErrorCode = ErrorCode.NONE
    delay_s: float = 0.0
    count: int | None = None
    skip: int = 0
    probability: float = 1.0
    hits: int = 0
    seen: int = 0
    _faults: Faults | None = field(default=None, repr=False)

    @property
    def used_up(self) -> bool:
        """Whether it has been applied as often as it may."""
        return self.count is not None and self.hits >= self.count

    def remove(self) -> None:
        """Apply it no more. Its counters stay."""
        assert self._faults is not None
        self._faults._remove(self)

    def wait_for(self, hits: int = 1, timeout_s: float = 10.0) -> None:
        """Wait until it has been applied this often; TimeoutError says how often it was."""
        assert self._faults is not None
        if not self._faults._wait_for(lambda: self.hits >= hits, timeout_s):
            raise TimeoutError(f"{self.kind.name} rule applied {self.hits} of {hits} times in {timeout_s} s")


class Faults:
    """The rules of a cluster. The first rule that matches a request is applied; observers count without taking it."""

    def __init__(self, rng: Randomness, guard: Guard | None = None) -> None:
        self._rng = rng
        self._guard = guard
        self._rules: tuple[FaultRule, ...] = ()

    # ---- making rules ----

    def error(self, api: object, error: ErrorCode | int | str, **conditions: Any) -> FaultRule:
        """Answer with this error, in the places where the API has errors; only the topic given, when one is."""
        code = ErrorCode[error] if isinstance(error, str) else ErrorCode(error)
        if code == ErrorCode.NONE:
            raise UsageError("an error rule needs an error")
        return self._add(FaultKind.ERROR, api, conditions, error=code)

    def delay(self, api: object, delay_s: float, **conditions: Any) -> FaultRule:
        """Do what is asked and answer so much later."""
        return self._add(FaultKind.DELAY, api, conditions, delay_s=delay_s)

    def drop(self, api: object, *, after: bool = False, **conditions: Any) -> FaultRule:
        """Close the connection: before doing anything, or after it is done but not answered."""
        return self._add(FaultKind.DROP_AFTER if after else FaultKind.DROP_BEFORE, api, conditions)

    def stall(self, api: object, **conditions: Any) -> FaultRule:
        """Do nothing and never answer; the connection stays open."""
        return self._add(FaultKind.STALL, api, conditions)

    def truncate(self, api: object, **conditions: Any) -> FaultRule:
        """Do it, send half of the answer, close the connection."""
        return self._add(FaultKind.TRUNCATE, api, conditions)

    def corrupt(self, api: object, **conditions: Any) -> FaultRule:
        """Do it, and answer with a whole frame of damaged bytes."""
        return self._add(FaultKind.CORRUPT, api, conditions)

    def observe(self, api: object = None, **conditions: Any) -> FaultRule:
        """Count, and change nothing."""
        return self._add(FaultKind.OBSERVE, api, conditions)

    def clear(self) -> None:
        """Remove all rules."""
        with self._locked():
            self._rules = ()

    @property
    def rules(self) -> tuple[FaultRule, ...]:
        """The rules in force, in order."""
        return self._rules

    # ---- asking ----

    def hit(
        self, node_id: int, context: RequestContext, request: Any, topic_names: Mapping[UUID, str]
    ) -> FaultRule | None:
        """The rule to apply to this request, counted; None for none."""
        if not self._rules:
            return None
        chosen: FaultRule | None = None
        with self._locked():
            for rule in self._rules:
                taken = chosen is not None and rule.kind is not FaultKind.OBSERVE
                if taken or rule.used_up or not rule.match.matches(node_id, context, request, topic_names):
                    continue
                rule.seen += 1
                if rule.seen <= rule.skip or (rule.probability < 1 and self._rng.random() >= rule.probability):
                    continue
                rule.hits += 1
                if rule.kind is not FaultKind.OBSERVE:
                    chosen = rule
            if self._guard is not None:
                self._guard.notify_all()
        return chosen

    # ---- inside ----

    def _add(self, kind: FaultKind, api: object, conditions: dict[str, Any], **settings: Any) -> FaultRule:
        limits = {name: conditions.pop(name) for name in ("count", "skip", "probability") if name in conditions}
        match = Match(apis=_apis(api), **conditions)
        rule = FaultRule(kind, match, **settings, **limits)
        rule._faults = self
        with self._locked():
            self._rules = (*self._rules, rule)
        return rule

    def _remove(self, rule: FaultRule) -> None:
        with self._locked():
            self._rules = tuple(each for each in self._rules if each is not rule)

    def _wait_for(self, predicate: Callable[[], bool], timeout_s: float) -> bool:
        if self._guard is None:
            return predicate()
        with self._guard:
            return self._guard.wait_for(predicate, timeout_s)

    def _locked(self) -> AbstractContextManager[object]:
        return nullcontext() if self._guard is None else self._guard  # type: ignore[return-value]


def _apis(api: object) -> frozenset[int] | None:
    """None for all; an ApiKey, a name like "Fetch" or "FETCH", a number, or several of them."""
    if api is None:
        return None
    if isinstance(api, (str, int)):
        return frozenset({api_key(api)})
    if isinstance(api, Iterable):
        return frozenset(api_key(each) for each in api)
    raise UsageError(f"{api!r} is not an API")


def api_key(api: object) -> ApiKey:
    """The key of an API given by number or by name, in any spelling: Fetch, FETCH, list_offsets, ListOffsets."""
    if isinstance(api, int):
        return ApiKey(api)
    wanted = str(api).replace("_", "").replace("-", "").upper()
    for key in ApiKey:
        if key.name.replace("_", "") == wanted:
            return key
    raise UsageError(f"{api!r} is not the name of an API")
