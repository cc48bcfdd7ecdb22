"""What every request handler of the group coordinator needs: the shard of a group, the caller's rights, and errors as
answers.

Runs on the node's thread; never blocks. The handlers themselves are in group_coordinator.py, offset_requests.py and
group_listing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Protocol, TypeVar

from pykclient.broker.authorizer import Authorizer, Operation, ResourceType
from pykclient.broker.coordinator import CoordinatorRuntime, Result
from pykclient.broker.error_replies import error_response
from pykclient.broker.group_shard import GroupShard
from pykclient.broker.group_topics import TopicCatalog
from pykclient.broker.request import RequestContext
from pykclient.errors import BrokerError, ErrorCode
from pykclient.net.completion import Completion
from pykclient.types import TopicPartition

R = TypeVar("R")
S = TypeVar("S")

GROUP_TOPIC = "__consumer_offsets"


class VerifyTransaction(Protocol):
    """The transaction coordinator's check before a transactional write (KIP-890); ``TransactionCoordinator.verify``
    is one.
    """

    def __call__(
        self,
        context: RequestContext,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        supports_v2: bool,
    ) -> Completion[dict[TopicPartition, ErrorCode]]:
        """Whether the producer may write to these partitions now, one code for each."""
        ...


class GroupAccess:
    """See the module text."""

    def __init__(
        self,
        runtime: CoordinatorRuntime[GroupShard],
        authorizer: Authorizer,
        catalog: TopicCatalog,
        partition_for: Callable[[str], int],
    ) -> None:
        self.runtime = runtime
        self.authorizer = authorizer
        self.catalog = catalog
        self.partition_for = partition_for

    def run(
        self,
        context: RequestContext,
        group_id: str,
        operation: Callable[[GroupShard], Result[R]],
        *,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> Completion[R]:
        """Run an operation on the shard of the group."""
        return self.runtime.run(
            self.partition_for(group_id),
            operation,
            now=context.now,
            wall_ms=context.wall_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
        )

    def allows(self, context: RequestContext, operation: Operation, resource: ResourceType, name: str) -> bool:
        """Whether whoever sent the request may do this."""
        return self.authorizer.allows(context.principal, context.peer.host, operation, resource, name)

    def allows_group(self, context: RequestContext, operation: Operation, group_id: str) -> bool:
        """On a group."""
        return self.allows(context, operation, ResourceType.GROUP, group_id)

    def allows_topic(self, context: RequestContext, operation: Operation, topic: str) -> bool:
        """On a topic."""
        return self.allows(context, operation, ResourceType.TOPIC, topic)


def code_of(error: BaseException) -> int:
    """The code to answer with; what is not a BrokerError is our bug and goes on up."""
    if isinstance(error, BrokerError):
        return int(error.code)
    raise error


def not_expected(error: BaseException) -> NoReturn:
    """For completions whose parts have turned their errors into answers: what is left is our bug and goes on up."""
    raise error


def refuse(context: RequestContext, request: Any, error: BaseException) -> Any:
    """An answer that says the error everywhere it can."""
    response = error_response(context.api_key, context.api_version, request, code_of(error))
    if hasattr(response, "error_message"):
        response.error_message = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return response


def converted(
    completion: Completion[R], convert: Callable[[R], S], failed: Callable[[BaseException], S]
) -> Completion[S]:
    """A completion of what another one becomes, whether it went well or not."""
    result: Completion[S] = Completion()

    def done(finished: Completion[R]) -> None:
        try:
            value = failed(finished.error) if finished.error is not None else convert(finished.result())
        except Exception as error:  # the request must be answered whatever a conversion does
            result.fail(error)
        else:
            result.succeed(value)

    completion.add_callback(done)
    return result


def gathered(completions: Sequence[Completion[R]]) -> Completion[list[R]]:
    """All values in order, once all are there. The parts have turned their errors into answers already."""
    result: Completion[list[R]] = Completion()
    waiting = len(completions)

    def done(_: Completion[R]) -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            try:
                values = [completion.result() for completion in completions]
            except Exception as error:  # as above
                result.fail(error)
            else:
                result.succeed(values)

    if not completions:
        result.succeed([])
    for completion in completions:
        completion.add_callback(done)
    return result
