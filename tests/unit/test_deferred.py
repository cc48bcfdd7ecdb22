"""Classes that are completed at first use are in every way what the standard library makes at once."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import sys
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, cast

import pytest

from pykclient import deferred

T = TypeVar("T")
MODULE = sys.modules[__name__]


def declare(module: Any) -> dict[str, Any]:
    """One class of each kind that the package has, made by ``dataclasses`` or by its twin."""
    dataclass, field = module.dataclass, module.field

    @dataclass(frozen=True, slots=True)
    class Frozen:
        """Held by users."""

        KIND: ClassVar[str] = "x"
        name: str
        count: int = 3
        names: list[str] = field(default_factory=list, repr=False)

        def twice(self) -> int:
            return self.count * 2

    @dataclass(slots=True)
    class Mutable:
        name: str
        seen: dict[str, int] = field(default_factory=dict)
        total: int = field(default=0, init=False)

        def __post_init__(self) -> None:
            self.total = len(self.name)

    @dataclass
    class Open:
        name: str = "n"
        secret: str | None = field(default=None, repr=False)

    @dataclass(eq=False)
    class ByIdentity:
        name: str

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        major: int
        minor: int = 0

    @dataclass(frozen=True, kw_only=True, repr=False)
    class Table:
        first: int = field(default=1, metadata={"doc": "one"})

        def __repr__(self) -> str:
            return "Table!"

    @dataclass(frozen=True, kw_only=True, repr=False)
    class Longer(Table):
        second: str = "2"

    @dataclass(slots=True)
    class Box(Generic[T]):
        content: T

    @dataclass(frozen=True)
    class OwnHash:
        name: str

        def __hash__(self) -> int:
            return 5

    @dataclass(init=False, repr=False, eq=False, match_args=False)
    class Slotted:
        __slots__ = ("name",)
        name: str

        def __init__(self, name: str = "") -> None:
            self.name = name

    return {name: found for name, found in locals().items() if isinstance(found, type)}


ARGUMENTS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "Frozen": [(("a",), {}), (("a", 4), {"names": ["x"]}), (("b",), {})],
    "Mutable": [(("abc",), {}), (("abc",), {"seen": {"x": 1}})],
    "Open": [((), {}), (("a", "hush"), {})],
    "ByIdentity": [(("a",), {})],
    "Ordered": [((1,), {}), ((1, 2), {}), ((2,), {})],
    "Table": [((), {}), ((), {"first": 2})],
    "Longer": [((), {}), ((), {"second": "x", "first": 3})],
    "Box": [((1,), {}), (([1, 2],), {})],
    "OwnHash": [(("a",), {})],
    "Slotted": [(("a",), {}), ((), {})],
}


def outcome(action: Callable[[], Any]) -> Any:
    """What came of it, as something that two runs can be compared by."""
    try:
        found = action()
    except Exception as error:
        return type(error), str(error)
    return re.sub(" at 0x[0-9a-f]+", "", repr(found)) if dataclasses.is_dataclass(found) else found


def behaviour(cls: Any, arguments: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> list[Any]:
    found: list[Any] = [
        str(inspect.signature(cls)),
        [(f.name, f.type, f.init, f.repr, f.compare, f.kw_only, dict(f.metadata)) for f in dataclasses.fields(cls)],
        [(f.default is dataclasses.MISSING, f.default_factory is dataclasses.MISSING) for f in dataclasses.fields(cls)],
        repr(cls.__dataclass_params__),
        getattr(cls, "__match_args__", None),
        cls.__dict__.get("__slots__"),
        cls.__hash__ is None,
        cls.__eq__ is object.__eq__,
        cls.__qualname__,
        outcome(cls),
        outcome(lambda: cls("a", "b", "c", "d")),
    ]
    for positional, named in arguments:
        found += instance_behaviour(cls, cls(*positional, **named), cls(*positional, **named))
    return found


def instance_behaviour(cls: Any, one: Any, same: Any) -> list[Any]:
    first = dataclasses.fields(cls)[0].name
    found = [outcome(lambda: dataclasses.asdict(one)), one == 5, one == same, hasattr(one, "__dict__")]
    found.append(outcome(lambda: hash(one) == hash(same)))
    if cls.__repr__ is not object.__repr__:
        found += [repr(one), repr(copy.copy(one)), repr(copy.deepcopy(one))]
        found.append(outcome(lambda: dataclasses.replace(one)))
    found += [outcome(lambda: one < same), outcome(lambda: one >= same)]
    found.append(outcome(lambda: setattr(one, first, "1")))
    # Whether, not how: with slots the standard library stumbles over its own super() on the way to the refusal.
    found.append(outcome(lambda: setattr(one, "unheard_of", 1)) is None)
    found.append(outcome(lambda: delattr(one, first)))
    return found


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_deferred_class_behaves_as_the_standard_one(name: str) -> None:
    ours, theirs = declare(deferred)[name], declare(dataclasses)[name]
    assert dataclasses.is_dataclass(ours)
    assert behaviour(ours, ARGUMENTS[name]) == behaviour(theirs, ARGUMENTS[name])
    # And once more, now that nothing is deferred.
    assert behaviour(ours, ARGUMENTS[name]) == behaviour(theirs, ARGUMENTS[name])


def test_every_kind_is_compared() -> None:
    assert set(declare(deferred)) == set(ARGUMENTS)


FIRST_USES: dict[str, Callable[[Any], Any]] = {
    "made": lambda cls: cls("a"),
    "asked for its fields": dataclasses.fields,
    "asked for its signature": inspect.signature,
    "matched": lambda cls: cls.__match_args__,
    "unpickled": lambda cls: cls.__new__(cls).__setstate__(["a", 1, []]),
    "derived from": lambda cls: dataclasses.fields(dataclasses.dataclass(frozen=True)(type("Sub", (cls,), {}))),
}


@pytest.mark.parametrize("use", sorted(FIRST_USES))
def test_any_first_use_completes_the_class(use: str) -> None:
    cls = declare(deferred)["Frozen"]
    assert "__init__" in waiting(cls)
    FIRST_USES[use](cls)
    assert waiting(cls) in ({"__repr__", "__eq__", "__hash__"}, deferred._MAKING & set(vars(cls)))
    assert repr(cls("a", 2)) == "declare.<locals>.Frozen(name='a', count=2)"
    assert waiting(cls) == set()
    assert all(inspect.isfunction(vars(cls)[name]) for name in ("__init__", "__repr__", "__eq__", "__hash__"))


def waiting(cls: Any) -> set[str]:
    stand_in = deferred._method(cast(Any, None), "").__code__
    return {
        name
        for name, value in vars(cls).items()
        if isinstance(value, deferred._Deferred) or getattr(value, "__code__", None) is stand_in
    }


@pytest.mark.parametrize("use", [hash, repr, lambda thing: thing == thing], ids=["hash", "repr", "equal"])
def test_ctrl_c_while_methods_are_written_is_not_swallowed(
    use: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter takes an error in looking up such a method for its absence."""

    @deferred.dataclass(frozen=True)
    class Place:
        name: str

    thing = Place("here")
    write = deferred._Plan.write

    def interrupted(self: Any, wanted: str) -> None:
        monkeypatch.setattr(deferred._Plan, "write", write)
        raise KeyboardInterrupt

    monkeypatch.setattr(deferred._Plan, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        use(thing)
    assert use(thing)


def test_a_derived_class_calls_the_constructor_of_its_base() -> None:
    base = declare(deferred)["Mutable"]

    class Derived(base):  # type: ignore[misc, valid-type]
        def __init__(self, name: str) -> None:
            super().__init__(name + "!")

    assert Derived("abc").total == 4
    assert Derived("abc") == Derived("abc")


def test_an_ordinary_class_below_a_frozen_one_has_attributes_of_its_own() -> None:
    for module in (deferred, dataclasses):

        class Derived(declare(module)["Table"]):  # type: ignore[misc]
            pass

        derived = Derived()
        derived.own = 1
        del derived.own
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
            derived.first = 2
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
            del derived.first


@deferred.dataclass(frozen=True, slots=True)
class Pickled:
    name: str
    values: tuple[int, ...] = (1,)


def test_frozen_slots_are_pickled_before_and_after_the_first_use() -> None:
    one = Pickled("a", (2, 3))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one, protocol)) == one


def test_threads_may_be_first_together() -> None:
    for _ in range(20):
        cls = declare(deferred)["Ordered"]
        start = threading.Barrier(8)
        made: list[Any] = []

        def make(cls: Any = cls, start: threading.Barrier = start, made: list[Any] = made) -> None:
            start.wait(10)
            made.append(cls(1, 2))

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert len(made) == 8
        assert len(set(made)) == 1


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace came with Python 3.13")
def test_copy_replace() -> None:
    assert copy.replace(declare(deferred)["Ordered"](1), minor=5).minor == 5  # type: ignore[attr-defined]


def test_replace_is_that_of_the_standard_library() -> None:
    assert deferred.replace(Pickled("a"), name="b") == Pickled("b")
