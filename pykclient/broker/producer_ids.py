"""Producer ids: unique over the cluster's life, handed out from blocks that somebody else has made durable.

Owns the current block of one node. Runs on the node's thread. Must never give an id twice: a block that was only
half used when the node stopped is lost, not reused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pykclient.errors import CoordinatorLoadInProgress
from pykclient.net.completion import Completion

BlockSource: TypeAlias = "Callable[[], Completion[range]]"
"""Asks the controller for a block of ids nobody else has (AllocateProducerIds); done when the block is durable."""


class ProducerIdAllocator:
    """``next()`` gives an id, or raises CoordinatorLoadInProgress while the next block is on its way."""

    def __init__(self, source: BlockSource) -> None:
        self._source = source
        self._block = range(0)
        self._asked: Completion[range] | None = None

    def next(self) -> int:
        """An id that was never given before."""
        if not self._block:
            self._refill()
        producer_id, self._block = self._block[0], self._block[1:]
        return producer_id

    def _refill(self) -> None:
        if self._asked is None:
            self._asked = self._source()
        if not self._asked.done:
            raise CoordinatorLoadInProgress("the next block of producer ids is being allocated")
        asked, self._asked = self._asked, None
        block = asked.result()
        assert block, "an empty block of producer ids"
        self._block = block
