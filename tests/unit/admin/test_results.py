"""Results: one outcome per item, errors raised where a result is asked for, never handed out in its place."""

from __future__ import annotations

import pickle

import pytest

from pykclient.admin import PartialFailure, Results
from pykclient.errors import KafkaError, TopicAlreadyExists, UnknownTopicOrPartition

FAILED = TopicAlreadyExists(topic="b")


def outcomes() -> Results[str, int]:
    return Results({"a": 1, "b": FAILED, "c": 3})


def test_a_result_is_given_and_an_error_raised() -> None:
    results = outcomes()
    assert results["a"] == 1
    with pytest.raises(TopicAlreadyExists):
        _ = results["b"]
    with pytest.raises(KeyError):
        _ = results["nobody"]
    with pytest.raises(TopicAlreadyExists):
        dict(results.items())


def test_errors_and_results_are_looked_at_without_raising() -> None:
    results = outcomes()
    assert list(results) == ["a", "b", "c"]
    assert len(results) == 3
    assert "b" in results
    assert results.succeeded == {"a": 1, "c": 3}
    assert results.errors == {"b": FAILED}
    assert (results.error("a"), results.error("b")) == (None, FAILED)


def test_one_error_is_raised_as_itself_and_several_together() -> None:
    with pytest.raises(TopicAlreadyExists):
        outcomes().raise_for_errors()
    both: Results[str, int] = Results({"a": UnknownTopicOrPartition(topic="a"), "b": FAILED})
    with pytest.raises(PartialFailure, match=r"2 items failed: a: .*; b: ") as raised:
        both.raise_for_errors()
    assert set(raised.value.errors) == {"a", "b"}
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), PartialFailure)


def test_results_without_errors_pass_and_equal_a_dict() -> None:
    good: Results[str, int] = Results({"a": 1})
    assert good.raise_for_errors() is good
    assert good == {"a": 1}
    assert good != {"a": 2}
    assert outcomes() != {"a": 1, "c": 3}
    nothing: Results[str, None] = Results({"a": None})
    assert nothing == {"a": None}
    assert isinstance(Results({"a": KafkaError("x")}).error("a"), KafkaError)
