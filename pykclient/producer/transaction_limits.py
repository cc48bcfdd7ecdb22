"""What the broker's limit on transactions is, asked only when transaction_timeout_ms was refused for being above it.

An operation on the reactor thread, on the way to an error: it must never hide that error behind one of its own.
"""

from __future__ import annotations

from pykclient.client.engine import Operation, call
from pykclient.errors import InvalidTransactionTimeout, KafkaError
from pykclient.net.client_request import Request
from pykclient.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)

_BROKER = 4
_SETTING = "transaction.max.timeout.ms"
_PATIENCE_S = 2.0


def timeout_refused(asked_ms: int, transactional_id: str | None, broker_id: int | None) -> Operation[KafkaError]:
    """The error with both numbers in it; with ours alone when the broker does not tell its own."""
    allowed = "the broker's"
    question = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=_BROKER, resource_name=str(broker_id), configuration_keys=[_SETTING])
        ]
    )
    try:
        if broker_id is not None:
            answer = yield from call(
                Request[DescribeConfigsResponse](question, node_id=broker_id, timeout_s=_PATIENCE_S)
            )
            found = [entry.value for result in answer.results for entry in result.configs if entry.name == _SETTING]
            if found and found[0]:
                allowed = f"{found[0]} ms, the broker's"
    except KafkaError:
        pass  # no right to read settings, or no answer: the refusal itself is what matters
    return InvalidTransactionTimeout(
        f"transaction_timeout_ms is {asked_ms} ms, above {allowed} {_SETTING}; lower it, or raise the broker's",
        transactional_id=transactional_id,
    )


__all__ = ["timeout_refused"]
