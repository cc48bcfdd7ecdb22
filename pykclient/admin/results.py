"""What a call about many things gives back: one result or one error per thing.

Plain data, usable from any thread. Must never let one item's error hide another item's result, nor hand out an error
where a result was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from pykclient.errors import KafkaError

K = TypeVar("K")
V = TypeVar("V")


class PartialFailure(KafkaError):
    """Some items of a call failed; ``errors`` says which, and why each."""

    def __init__(self, message: str | None = None, *, errors: Mapping[Any, KafkaError] | None = None) -> None:
        self.errors: dict[Any, KafkaError] = dict(errors or {})
        if message is None and self.errors:
            message = f"{len(self.errors)} items failed: " + "; ".join(
                f"{item}: {error}" for item, error in list(self.errors.items())[:5]
            )
        super().__init__(message)


class Results(Mapping[K, V], Generic[K, V]):
    """A mapping from item to result, in the order asked.

    ``results[item]`` gives the item's result or raises the item's error; ``errors`` and ``succeeded`` are plain dicts
    of the two kinds; ``raise_for_errors()`` raises when anything failed and gives the results back otherwise, so that
    ``admin.create_topics(["orders"]).raise_for_errors()`` reads as one line. Looping over the mapping gives the items;
    ``values()`` and ``items()`` raise at an item that failed.
    """

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: Mapping[K, V | KafkaError] | None = None) -> None:
        self._outcomes: dict[K, V | KafkaError] = dict(outcomes or {})

    def __getitem__(self, item: K) -> V:
        outcome = self._outcomes[item]
        if isinstance(outcome, KafkaError):
            raise outcome
        return outcome

    def __iter__(self) -> Iterator[K]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __contains__(self, item: object) -> bool:
        return item in self._outcomes

    @property
    def errors(self) -> dict[K, KafkaError]:
        """The items that failed."""
        return {item: outcome for item, outcome in self._outcomes.items() if isinstance(outcome, KafkaError)}

    @property
    def succeeded(self) -> dict[K, V]:
        """The items that did not."""
        return {item: outcome for item, outcome in self._outcomes.items() if not isinstance(outcome, KafkaError)}

    def error(self, item: K) -> KafkaError | None:
        """The item's error, None when it went well; KeyError when it was not part of the call."""
        outcome = self._outcomes[item]
        return outcome if isinstance(outcome, KafkaError) else None

    def raise_for_errors(self) -> Results[K, V]:
        """Raise the error when one item failed, PartialFailure when several did; give the results back otherwise."""
        errors = self.errors
        if len(errors) == 1:
            raise next(iter(errors.values()))
        if errors:
            raise PartialFailure(errors=errors)
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Results):
            return self._outcomes == other._outcomes
        return not self.errors and self.succeeded == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Results({self._outcomes!r})"


__all__ = ["PartialFailure", "Results"]
