"""The root of all errors, the four families, and what to do next after each error.

Plain classes, usable from any thread. Never holds a secret: messages and context fields name topics, hosts and
numbers only. Every error survives pickling (Spark and multiprocessing move them between processes), so whatever a
constructor stores must be picklable itself.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar

_CONTEXT_FIELDS = ("topic", "partition", "offset", "node", "group_id", "transactional_id", "api")


class Action(enum.Enum):
    """What the one who meets the error does next. Decisions ask for this, never for a number or a text."""

    RETRY = "send the same request again after the back-off"
    REFRESH_METADATA = "ask for fresh metadata, then send again to whoever leads now"
    FIND_COORDINATOR = "look the coordinator up again, then send again to it"
    FIND_CONTROLLER = "look the controller up again, then send again to it"
    RESET_SESSION = "start a new fetch or share session, then send again"
    REJOIN = "join the group again"
    UPDATE_EPOCH = "wait for the next heartbeat to bring the member epoch, then send again"
    RESET_OFFSET = "apply the auto_offset_reset policy"
    SPLIT_BATCH = "split the batch and send the parts; a single record that is too large fails"
    NEW_PRODUCER_ID = "ask for a new producer id or epoch before sending more"
    REBOOTSTRAP = "forget the known brokers and start again from bootstrap_servers"
    ACCEPT = "treat as done: the broker already has what was asked for"
    ABORT = "abort the transaction, then begin it again"
    RAISE = "tell the caller; trying again unchanged will not help"
    FATAL = "close this client; it cannot go on"


RETRIABLE_ACTIONS = frozenset(
    {
        Action.RETRY,
        Action.REFRESH_METADATA,
        Action.FIND_COORDINATOR,
        Action.FIND_CONTROLLER,
        Action.RESET_SESSION,
    }
)
"""After these the same request, sent again later, may succeed without the user doing anything."""


def rebuild(error_class: type[KafkaError], args: tuple[object, ...], state: dict[str, Any]) -> KafkaError:
    """Restore a pickled error without calling its constructor, whose signature differs from class to class."""
    error = error_class.__new__(error_class)
    error.args = args
    error.__dict__.update(state)
    return error


class KafkaError(Exception):
    """The root of every error this package raises on purpose."""

    action: ClassVar[Action] = Action.RAISE
    retriable: ClassVar[bool] = False
    """The same call may succeed when made again later."""
    abortable: ClassVar[bool] = False
    """In a transaction: abort it, and the producer can go on with the next one."""
    fatal: ClassVar[bool] = False
    """Close the client; it cannot go on."""

    def __init__(
        self,
        message: str | None = None,
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
        node: str | None = None,
        group_id: str | None = None,
        transactional_id: str | None = None,
        api: str | None = None,
    ) -> None:
        self.message = message or default_message(type(self))
        super().__init__(self.message)
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.node = node
        self.group_id = group_id
        self.transactional_id = transactional_id
        self.api = api

    def __str__(self) -> str:
        context = [f"{name.replace('_', ' ')} {self.__dict__[name]}" for name in _CONTEXT_FIELDS if self._has(name)]
        return f"{self.message} ({', '.join(context)})" if context else self.message

    def _has(self, name: str) -> bool:
        return self.__dict__.get(name) is not None

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self.args, self.__dict__)


def default_message(error_class: type) -> str:
    """The first paragraph of the class's documentation, as one line."""
    paragraph = (error_class.__doc__ or error_class.__name__).strip().split("\n\n")[0]
    return " ".join(paragraph.split())


class UsageError(KafkaError):
    """The call or its arguments are wrong; change the program."""


class ProtocolError(KafkaError):
    """Bytes from the other side make no sense; the connection they came from cannot be trusted further."""


class FatalError(KafkaError):
    """This client cannot go on; close it."""

    action = Action.FATAL
    fatal = True


class AuthenticationError(KafkaError):
    """Who we are could not be proven to the broker, or who it is could not be proven to us; check the credentials."""

    action = Action.FATAL
    fatal = True


class BrokerError(KafkaError):
    """The broker said no, with an error code."""

    code: ClassVar[int] = -1

    def __init_subclass__(
        cls,
        *,
        code: int | None = None,
        action: Action | None = None,
        retriable: bool | None = None,
        abortable: bool | None = None,
        fatal: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        if action is not None:
            cls.action = action
            cls.retriable = action in RETRIABLE_ACTIONS
            cls.abortable = action is Action.ABORT
            cls.fatal = action is Action.FATAL
        if retriable is not None:
            cls.retriable = retriable
        if abortable is not None:
            cls.abortable = abortable
        if fatal is not None:
            cls.fatal = fatal
        if code is not None:
            assert code not in BROKER_ERRORS, f"{cls.__name__} repeats code {code}"
            cls.code = code
            BROKER_ERRORS[code] = cls

    def __str__(self) -> str:
        return f"[{self.code}] {super().__str__()}"


BROKER_ERRORS: dict[int, type[BrokerError]] = {}
"""Filled by the class statements of broker.py."""


class AuthorizationError(BrokerError):
    """The broker knows who we are and does not allow this; ask for the right."""


__all__ = [
    "Action",
    "AuthenticationError",
    "AuthorizationError",
    "BrokerError",
    "FatalError",
    "KafkaError",
    "ProtocolError",
    "UsageError",
]
