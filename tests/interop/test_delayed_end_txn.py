"""An EndTxn that the network delivers late must not end the transaction after its own (KIP-890).

Under the first protocol it would: the epoch of the next transaction is the same. Under the second every end bumps it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.describe_transactions import DescribeTransactionsRequest
from pykclient.protocol.messages.end_txn import EndTxnRequest
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest
from pykclient.protocol.records import iter_batches
from pykclient.testing.chaos_proxy import ChaosProxy, Fault
from tests.interop.clients import wait_until
from tests.interop.talk import batch, coordinated, fetch, new_topic, produce
from tests.interop.wire import Closed, Conversation, Wire


@pytest.fixture
def proxy(bootstrap_servers: str) -> Iterator[ChaosProxy]:
    host, _, port = bootstrap_servers.rpartition(":")
    with ChaosProxy((host, int(port))) as proxy:
        yield proxy


def markers(c: Conversation, topic: str) -> list[int]:
    """The epochs of the control batches in the topic."""
    response = c.wire.ask(fetch(topic, 0), 12)
    stored = bytes(response.responses[0].partitions[0].records or b"")
    return [header.producer_epoch for header in iter_batches(stored) if header.is_control]


def test_a_late_end_does_not_touch_the_next_transaction(bootstrap_servers: str, proxy: ChaosProxy, topic: str) -> None:
    c = Conversation(bootstrap_servers, {"topic": topic})
    transactional_id = f"tx-{uuid.uuid4().hex[:8]}"
    new_topic(c)
    coordinated(c, transactional_id, 1)
    init = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
    wait_until(lambda: c.wire.ask(init, 5).error_code == 0, "a producer id")
    producer = c.wire.ask(init, 5)

    def write(epoch: int) -> None:
        records = batch(
            b"v", transactional=True, producer_id=producer.producer_id, producer_epoch=epoch, base_sequence=0
        )
        response = c.wire.ask(produce(topic, records, tx=transactional_id), 12)
        assert response.responses[0].partition_responses[0].error_code == 0

    def state() -> str:
        asked = c.wire.ask(DescribeTransactionsRequest(transactional_ids=[transactional_id]), 0)
        return str(asked.transaction_states[0].transaction_state)

    first = producer.producer_epoch
    end = EndTxnRequest(
        transactional_id=transactional_id, producer_id=producer.producer_id, producer_epoch=first, committed=True
    )
    write(first)
    rule = proxy.add(Fault.HOLD_REQUEST, [ApiKey.END_TXN], hits_max=1)
    late = Wire(proxy.address)
    late.ask(end, 5, answered=False)
    proxy.wait_for(lambda: rule.hits == 1)
    # The client has waited long enough, and sends it again over another connection.
    second = c.wire.ask(end, 5)
    assert (second.error_code, second.producer_epoch) == (0, first + 1)
    wait_until(lambda: state() == "CompleteCommit", "the end of the first transaction")
    write(second.producer_epoch)
    proxy.release()
    try:
        late.receive()  # Whatever it is told, it is told after it was dealt with.
    except Closed:
        pytest.fail("the held request was not answered")
    late.close()
    assert state() == "Ongoing"
    assert markers(c, topic) == [first + 1]
    end.producer_epoch, end.committed = second.producer_epoch, False
    assert c.wire.ask(end, 5).error_code == 0
    wait_until(lambda: state() == "CompleteAbort", "the end of the second transaction")
    assert markers(c, topic) == [first + 1, first + 2]
    c.wire.close()
