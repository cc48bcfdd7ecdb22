"""The standard library's dataclasses, whose methods are written at their first use instead of at import.

``dataclass`` compiles up to nine functions per class. The clients have a hundred of these classes and most programs use
few of them, so that this was the largest part of what an import cost. Here a class gets its slots and its guard against
assignment at once, and in place of each generated method a descriptor, whose first use has ``dataclasses`` write it:
what makes objects, or what compares and shows them, which most are never. From then on these are ordinary methods.
To type checkers these names are those of the standard library. Any thread may be the first to use a class. Layer 0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

_MAKING = {"__dataclass_fields__", "__dataclass_params__", "__init__", "__match_args__", "__replace__"}
"""What is written when objects are made; the rest when they are compared or shown."""
_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__")
_SLOTS = {"__hash__", "__eq__", "__repr__", *_COMPARISONS}
"""The interpreter takes any error while it looks these up for "there is none": Ctrl-C in the middle of writing them
would be lost, or be a TypeError. While it calls them it does not."""


class _Field:
    """What ``field`` was called with."""

    __slots__ = ("arguments",)

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.arguments = arguments


def _field(**arguments: Any) -> Any:
    return _Field(arguments)


class _Plan:
    """What is needed to write the methods of one class: how it was declared, and with which options."""

    __slots__ = ("cls", "names", "namespace", "options")

    def __init__(self, namespace: dict[str, Any], options: dict[str, bool]) -> None:
        self.namespace = namespace
        self.options = options
        self.names: list[str] = []
        self.cls: type

    def write(self, wanted: str) -> None:
        """Have the standard library make a twin of the class, and take over what it wrote.

        Two threads may do so at once: either takes over the same, and neither has to wait for a lock that a fork
        could leave locked for ever.
        """
        import dataclasses

        namespace = {
            name: dataclasses.field(**value.arguments) if isinstance(value, _Field) else value
            for name, value in self.namespace.items()
        }
        namespace["__qualname__"] = self.cls.__qualname__
        # A class without one would be given its signature, at three times the price of all the rest.
        namespace["__doc__"] = "twin"
        twin = type(self.cls)(self.cls.__name__, self.cls.__bases__, namespace)
        makes = wanted in _MAKING
        less = {"repr": False, "eq": False, "order": False, "slots": False} if makes else {}
        written: Any = dataclasses.dataclass(**{**self.options, **less})(twin)
        for option in less:
            if hasattr(written.__dataclass_params__, option):  # slots came with Python 3.12
                setattr(written.__dataclass_params__, option, self.options[option])
        for name in self.names:
            if (name in _MAKING) is makes:
                setattr(self.cls, name, written.__dict__[name])


class _Deferred:
    """Stands in for something that ``_Plan.write`` puts in its place."""

    __slots__ = ("name", "plan")

    def __init__(self, plan: _Plan, name: str) -> None:
        self.plan = plan
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        found = self.plan.cls.__dict__[self.name]
        if found is self:
            self.plan.write(self.name)
            found = self.plan.cls.__dict__[self.name]
        bind = getattr(type(found), "__get__", None)
        return found if bind is None else bind(found, instance, owner)


def _method(plan: _Plan, name: str) -> Callable[..., Any]:
    """As _Deferred, for what the interpreter calls by itself."""

    def first(*arguments: Any) -> Any:
        plan.write(name)
        return plan.cls.__dict__[name](*arguments)

    first.__name__ = name
    return first


def _dataclass(
    cls: type | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    order: bool = False,
    frozen: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    slots: bool = False,
) -> Any:
    options = {
        "init": init, "repr": repr, "eq": eq, "order": order,
        "frozen": frozen, "match_args": match_args, "kw_only": kw_only, "slots": slots,
    }  # fmt: skip
    return _defer(cls, options) if cls is not None else lambda each: _defer(each, options)


def _defer(cls: type, options: dict[str, bool]) -> type:
    declared = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    for name in declared.pop("__slots__", ()):
        del declared[name]
    plan = _Plan(declared, options)
    added = _stand_ins(plan)
    if options["slots"]:
        cls = _with_slots(cls, {**declared, **added})
    else:
        for name, value in declared.items():
            if isinstance(value, _Field) and "default" not in value.arguments:
                delattr(cls, name)
            elif isinstance(value, _Field):
                setattr(cls, name, value.arguments["default"])
        for name, value in added.items():
            setattr(cls, name, value)
    plan.cls = cls
    return cls


def _stand_ins(plan: _Plan) -> dict[str, Any]:
    """What a dataclass with these options has beyond what its author wrote."""
    declared, options = plan.namespace, plan.options
    names = ["__dataclass_fields__", "__dataclass_params__"]
    names += ["__init__"] if options["init"] else []
    names += [f"__{name}__" for name in ("repr", "eq") if options[name] and f"__{name}__" not in declared]
    names += _COMPARISONS if options["order"] else ()
    names += ["__match_args__"] if options["match_args"] and "__match_args__" not in declared else []
    names += ["__replace__"] if sys.version_info >= (3, 13) else []
    added: dict[str, Any] = {}
    # A class that defines __eq__ has a __hash__ of None that its author did not write.
    if options["eq"] and declared.get("__hash__") is None:
        if options["frozen"]:
            names.append("__hash__")
        else:
            added["__hash__"] = None
    if options["frozen"]:
        added["__setattr__"] = _refuse_assignment
        added["__delattr__"] = _refuse_deletion
    plan.names = names
    return {**added, **{name: (_method if name in _SLOTS else _Deferred)(plan, name) for name in names}}


def _with_slots(cls: type, namespace: dict[str, Any]) -> type:
    """The class again, with slots for its fields: a class can have no slots added."""
    inherited = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    names = [name for name, note in cls.__annotations__.items() if not note.startswith("ClassVar")]
    for name in names:
        namespace.pop(name, None)
    namespace["__slots__"] = tuple(name for name in names if name not in inherited)
    namespace["__qualname__"] = cls.__qualname__
    if "__setattr__" in namespace:  # frozen: what a copy or a pickle brings cannot be assigned
        namespace.setdefault("__getstate__", _state)
        namespace.setdefault("__setstate__", _set_state)
    return type(cls)(cls.__name__, cls.__bases__, namespace)


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    if _is_frozen(self, name):
        raise _frozen_error("assign to", name)
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise _frozen_error("delete", name)
    object.__delattr__(self, name)


def _is_frozen(self: Any, name: str) -> bool:
    """An ordinary class that inherits from a frozen one may have attributes of its own."""
    return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__


def _frozen_error(verb: str, name: str) -> AttributeError:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(f"cannot {verb} field {name!r}")


def _state(self: Any) -> list[Any]:
    from dataclasses import fields

    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    from dataclasses import fields

    for each, value in zip(fields(self), state, strict=False):
        object.__setattr__(self, each.name, value)


def _replace(instance: Any, /, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(instance, **changes)


if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    dataclass: Callable[..., Any] = _dataclass
    field: Callable[..., Any] = _field
    replace: Callable[..., Any] = _replace

__all__ = ["dataclass", "field", "replace"]
