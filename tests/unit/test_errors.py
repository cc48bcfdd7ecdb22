"""Errors: complete, numbered as Kafka numbers them, honest about what to do next, safe to move between processes."""

from __future__ import annotations

import inspect
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient import errors
from pykclient.errors import (
    Action,
    BrokerError,
    ConfigError,
    ErrorCode,
    FatalError,
    KafkaConnectionError,
    KafkaError,
    UnknownErrorCode,
    broker_error,
    error_for_code,
)

# Facts of Apache Kafka 4.3: the codes whose exception class is a RetriableException.
JAVA_RETRIABLE = {
    2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 89, 100, 103, 106,
    122, 123, 133,
}  # fmt: skip


def all_error_classes() -> list[type[KafkaError]]:
    return [
        member
        for name in errors.__all__
        if inspect.isclass(member := getattr(errors, name)) and issubclass(member, KafkaError)
    ]


def test_every_code_has_a_class_named_as_kafka_names_it() -> None:
    assert {code.value for code in ErrorCode} == set(range(-1, 134))
    for code in ErrorCode:
        if code is ErrorCode.NONE:
            continue
        error_class = error_for_code(code)
        assert error_class.code == code
        assert error_class.__name__ == "".join(word.capitalize() for word in code.name.split("_"))
        assert getattr(errors, error_class.__name__) is error_class


def test_retriable_is_what_java_calls_retriable() -> None:
    ours = {code.value for code in ErrorCode if code and error_for_code(code).retriable}
    assert ours == JAVA_RETRIABLE


@pytest.mark.parametrize("error_class", all_error_classes())
def test_every_error_says_what_to_do(error_class: type[KafkaError]) -> None:
    assert isinstance(error_class.action, Action)
    assert error_class.__doc__, "a sentence for the reader"
    assert str(error_class.__doc__).split("\n\n")[0].rstrip().endswith(".")
    if error_class.action in (Action.RETRY, Action.REFRESH_METADATA, Action.FIND_COORDINATOR):
        assert error_class.retriable
    if issubclass(error_class, FatalError):
        assert error_class.fatal
        assert not error_class.retriable
    assert not (error_class.retriable and error_class.fatal)


@pytest.mark.parametrize("error_class", all_error_classes())
def test_every_error_survives_pickling_with_its_context(error_class: type[KafkaError]) -> None:
    error = error_class("told so", topic="orders", partition=3, offset=9)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is error_class
    assert (str(copy), copy.topic, copy.partition, copy.offset) == (str(error), "orders", 3, 9)
    assert "orders" in str(copy)
    assert copy.args == error.args


@settings(deadline=None)
@given(st.integers(-(2**15), 2**15 - 1).filter(lambda code: not -1 <= code <= 133))
def test_code_from_the_future_keeps_its_number(code: int) -> None:
    error = error_for_code(code)(topic="orders")
    assert isinstance(error, UnknownErrorCode)
    assert isinstance(error, BrokerError)
    assert not error.retriable
    assert str(code) in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.topic) == (code, "orders")


def test_success_is_not_an_error() -> None:
    with pytest.raises(AssertionError):
        error_for_code(0)


@pytest.mark.parametrize(
    ("name", "abortable", "fatal", "retriable"),
    [
        ("ProducerFenced", False, True, False),
        ("InvalidTxnState", False, True, False),
        ("TransactionalIdAuthorizationFailed", False, True, False),
        ("TransactionAbortable", True, False, False),
        ("InvalidProducerEpoch", True, False, False),
        ("TransactionAborted", True, False, False),
        ("ConcurrentTransactions", False, False, True),
        ("TransactionTimedOut", False, True, False),
        ("TopicAuthorizationFailed", True, False, False),
    ],
)
def test_transaction_errors_say_abort_close_or_retry(name: str, abortable: bool, fatal: bool, retriable: bool) -> None:
    error_class: type[KafkaError] = getattr(errors, name)
    assert (error_class.abortable, error_class.fatal, error_class.retriable) == (abortable, fatal, retriable)


def test_brokers_words_replace_the_default_sentence() -> None:
    error = broker_error(ErrorCode.POLICY_VIOLATION, "at most 10 partitions", topic="orders")
    assert isinstance(error, errors.PolicyViolation)
    assert str(error) == "[44] at most 10 partitions (topic orders)"
    assert str(broker_error(6)).startswith("[6] Another broker leads")
    assert str(broker_error(6, "")).startswith("[6] Another broker leads")


def test_standard_exceptions_can_be_caught_too() -> None:
    with pytest.raises(TimeoutError):
        raise errors.BufferExhausted
    with pytest.raises(ConnectionError, match=r"\[::1\]:9092"):
        raise KafkaConnectionError(host="::1", port=9092)


def test_config_error_lists_all_problems() -> None:
    error = ConfigError(["a is wrong", "b is wrong"])
    assert error.problems == ("a is wrong", "b is wrong")
    assert str(error) == "a is wrong; b is wrong"
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


def test_messages_name_the_numbers_that_matter() -> None:
    version = errors.UnsupportedVersionError(api="FETCH", needed=(4, 17), offered=(0, 3))
    assert "4 to 17" in str(version)
    assert "0 to 3" in str(version)
    assert "FETCH" in str(version)
    assert "not offer it" in str(errors.UnsupportedVersionError(needed=(0, 1)))
    offset = errors.OffsetOutOfRangeError(wanted=5, earliest=10, latest=20, topic="t", partition=0)
    assert "5" in str(offset)
    assert "10 to 20" in str(offset)
    assert isinstance(offset, errors.OffsetOutOfRange)
    assert "2000" in str(errors.RecordTooLarge(size=2000, limit=1000))
    assert "2147483647" in str(errors.FrameTooLarge(size=2147483647, limit=100))
