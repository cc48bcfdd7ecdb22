"""Topic subscriptions by regular expression (KIP-848), by RE2's rules and with RE2's promise: time linear in the name.

The pattern is parsed with Python's own parser; look-around, back-references and whatever else RE2 refuses is refused;
the rest becomes a small automaton that is run over all its states at once. Python's backtracking engine never sees a
member's pattern: ``(a+)+$`` would stall the whole broker.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pykclient.errors import InvalidRegularExpression

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

PATTERN_LENGTH_MAX = 1000
REPEAT_MAX = 1000
"""RE2's own bound for counted repetitions."""
STATES_MAX = 20_000
"""Counted repetitions multiply; past this size a pattern is refused."""

_POSIX_CLASSES = {
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:alnum:]": "a-zA-Z0-9",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:word:]": "a-zA-Z0-9_",
}
_AT_START = (constants.AT_BEGINNING, constants.AT_BEGINNING_STRING)
_AT_END = (constants.AT_END, constants.AT_END_STRING)

CharacterTest = Callable[[str], bool]


@dataclass(slots=True)
class _State:
    """Goes on without a character to ``free``, under a condition on the place to ``at``, and with a character to
    ``step``.
    """

    free: list[int] = field(default_factory=list)
    at: list[tuple[Any, int]] = field(default_factory=list)
    step: tuple[CharacterTest, int] | None = None


class TopicRegex:
    """A pattern ready to be matched against whole names. Raises InvalidRegularExpression when it isn't one."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > PATTERN_LENGTH_MAX:
            raise InvalidRegularExpression(f"longer than {PATTERN_LENGTH_MAX} characters")
        self.pattern = pattern
        self._states: list[_State] = []
        try:
            with warnings.catch_warnings():
                # Python warns of sets whose meaning may change one day; a member's pattern is no business of our log.
                warnings.simplefilter("ignore")
                parsed = parser.parse(_in_python_words(pattern))
            start = self._new_state()
            self._final = self._sequence(parsed, start, bool(parsed.state.flags & re.IGNORECASE))
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidRegularExpression(f"{pattern!r}: {error}") from error

    def matches(self, name: str) -> bool:
        """Whether the whole name matches."""
        current = self._closure({0}, name, 0)
        for position, character in enumerate(name):
            after = set()
            for state in current:
                step = self._states[state].step
                if step is not None and step[0](character):
                    after.add(step[1])
            if not after:
                return False
            current = self._closure(after, name, position + 1)
        return self._final in current

    def _closure(self, states: set[int], name: str, position: int) -> set[int]:
        seen, todo = set(states), list(states)
        while todo:
            state = self._states[todo.pop()]
            reached = [*state.free, *(to for place, to in state.at if _holds(place, name, position))]
            for to in reached:
                if to not in seen:
                    seen.add(to)
                    todo.append(to)
        return seen

    # From the parse tree to states; each returns the state after its part.

    def _new_state(self) -> int:
        if len(self._states) >= STATES_MAX:
            raise InvalidRegularExpression(f"too large: {self.pattern!r}")
        self._states.append(_State())
        return len(self._states) - 1

    def _sequence(self, parsed: Any, start: int, ignore_case: bool) -> int:
        for operation, argument in parsed:
            start = self._part(operation, argument, start, ignore_case)
        return start

    def _part(self, operation: Any, argument: Any, start: int, ignore_case: bool) -> int:
        end = self._new_state()
        if operation is constants.AT:
            self._states[start].at.append((argument, end))
        elif operation is constants.SUBPATTERN:
            _, added, removed, body = argument
            ignore_case = bool((ignore_case or added & re.IGNORECASE) and not removed & re.IGNORECASE)
            self._states[self._sequence(body, start, ignore_case)].free.append(end)
        elif operation is constants.BRANCH:
            for branch in argument[1]:
                branch_start = self._new_state()
                self._states[start].free.append(branch_start)
                self._states[self._sequence(branch, branch_start, ignore_case)].free.append(end)
        elif operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            self._repeat(argument, start, end, ignore_case)
        else:
            test = _test_of(operation, argument)
            if ignore_case:
                test = _either_case(test)
            self._states[start].step = (test, end)
        return end

    def _repeat(self, argument: Any, start: int, end: int, ignore_case: bool) -> None:
        low, high, body = argument
        unbounded = high is constants.MAXREPEAT
        if low > REPEAT_MAX or (not unbounded and high > REPEAT_MAX):
            raise InvalidRegularExpression(f"repeated more than {REPEAT_MAX} times")
        for _ in range(low):
            start = self._sequence(body, self._after(start), ignore_case)
        if unbounded:
            again = self._after(start)
            self._states[self._sequence(body, again, ignore_case)].free.append(again)
            start = again
        else:
            for _ in range(high - low):
                self._states[start].free.append(end)
                start = self._sequence(body, self._after(start), ignore_case)
        self._states[self._after(start)].free.append(end)

    def _after(self, state: int) -> int:
        """A fresh state right behind, so that a loop or a second part never shares a state's single step."""
        fresh = self._new_state()
        self._states[state].free.append(fresh)
        return fresh


def _in_python_words(pattern: str) -> str:
    if "(?<=" in pattern or "(?<!" in pattern:
        raise InvalidRegularExpression(f"look-behind is not supported: {pattern!r}")
    pattern = pattern.replace("(?<", "(?P<").replace(r"\z", r"\Z")
    for name, members in _POSIX_CLASSES.items():
        pattern = pattern.replace(name, members)
    return pattern


def _holds(place: Any, name: str, position: int) -> bool:
    if place in _AT_START:
        return position == 0
    if place in _AT_END:
        return position == len(name)
    before = position > 0 and _is_word(name[position - 1])
    after = position < len(name) and _is_word(name[position])
    return (before != after) == (place is constants.AT_BOUNDARY)


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


_CATEGORIES: dict[Any, CharacterTest] = {
    constants.CATEGORY_DIGIT: lambda character: character in "0123456789",
    constants.CATEGORY_NOT_DIGIT: lambda character: character not in "0123456789",
    constants.CATEGORY_WORD: _is_word,
    constants.CATEGORY_NOT_WORD: lambda character: not _is_word(character),
    constants.CATEGORY_SPACE: lambda character: character in " \t\n\f\r",
    constants.CATEGORY_NOT_SPACE: lambda character: character not in " \t\n\f\r",
}


def _test_of(operation: Any, argument: Any) -> CharacterTest:
    """The test of one character. Everything that isn't one is what RE2 doesn't have."""
    if operation is constants.ANY:
        return lambda character: character != "\n"
    if operation is constants.LITERAL:
        return lambda character: ord(character) == argument
    if operation is constants.NOT_LITERAL:
        return lambda character: ord(character) != argument
    if operation is constants.RANGE:
        low, high = argument
        return lambda character: low <= ord(character) <= high
    if operation is constants.CATEGORY:
        return _CATEGORIES[argument]
    if operation is constants.IN:
        negated = argument[0][0] is constants.NEGATE
        tests = [_test_of(*item) for item in argument[negated:]]
        return lambda character: any(test(character) for test in tests) != negated
    raise InvalidRegularExpression("look-around, back-references and atomic groups are not supported")


def _either_case(test: CharacterTest) -> CharacterTest:
    return lambda character: test(character.lower()) or test(character.upper())


def matching_topics(pattern: str, names: Iterable[str], may_describe: Callable[[str], bool]) -> frozenset[str]:
    """The topics whose whole name matches and that the subscriber is allowed to see."""
    regex = TopicRegex(pattern)
    return frozenset(name for name in names if regex.matches(name) and may_describe(name))
