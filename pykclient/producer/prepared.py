"""A transaction whose records are all stored and whose end is left to somebody else: two-phase commit over EndTxn.

``prepare_transaction`` makes one, ``commit_prepared`` and ``abort_prepared`` of any producer, in any process, end it.
Works with every broker that has transactions. The broker still aborts it when transaction.timeout.ms has passed, and a
new producer with the same transactional id aborts it too; committing then raises, and nothing of it is visible.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykclient.client.coordinators import CoordinatorKind, Coordinators
from pykclient.client.engine import Operation, call, sleep
from pykclient.errors import Action, KafkaConnectionError, KafkaError, KafkaTimeoutError, error_for_code
from pykclient.net.client_request import Request
from pykclient.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse

RETRY_S = 0.05
RETRY_MAX_S = 1.0


@dataclass(frozen=True, slots=True)
class PreparedTransaction:
    """Plain data: may be pickled, written as JSON (``dataclasses.asdict``) and sent elsewhere."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    end_txn_version: int
    """The version of EndTxn to end it with; another one would be read differently by the broker."""
    empty: bool = False
    """Nothing was sent in it, so there is nothing to end."""


def end_prepared(prepared: PreparedTransaction, *, committed: bool) -> Operation[None]:
    """Commit or abort it, through whichever broker coordinates it; tried until it answers for good.

    Repeating a commit that went through is fine as long as the transactional id has not been used since.
    """
    if prepared.empty:
        return
    coordinators, key, pause_s = Coordinators(), prepared.transactional_id, RETRY_S
    message = EndTxnRequest(
        transactional_id=key,
        producer_id=prepared.producer_id,
        producer_epoch=prepared.producer_epoch,
        committed=committed,
    )
    while True:
        try:
            node_id = yield from coordinators.find(CoordinatorKind.TRANSACTION, key)
            version = prepared.end_txn_version
            request = Request[EndTxnResponse](
                message, node_id=node_id, version_min=version if version >= 5 else 0, version_max=version
            )
            response = yield from call(request)
            if response.error_code == 0:
                return
            raise error_for_code(response.error_code)(transactional_id=key, node=request.address)
        except (KafkaConnectionError, KafkaTimeoutError):
            coordinators.forget(CoordinatorKind.TRANSACTION, key)
        except KafkaError as error:
            if not error.retriable:
                raise
            if error.action is Action.FIND_COORDINATOR:
                coordinators.forget(CoordinatorKind.TRANSACTION, key)
        yield from sleep(pause_s)
        pause_s = min(pause_s * 2, RETRY_MAX_S)


__all__ = ["PreparedTransaction", "end_prepared"]
