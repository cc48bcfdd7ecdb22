"""How far streaming queries are behind, per partition: Spark's own metrics of a Python source are empty.

A listener on the driver, called by Spark's listener thread. It must never raise.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from pykclient.errors import UsageError
from pykclient.spark import pyspark_api as api
from pykclient.spark.offsets import Offsets, from_json
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)


def lag_of(source: Any) -> dict[TopicPartition, int]:
    """Offsets between what a batch ended with and what there was, from one source of a query's progress."""
    end, latest = _offsets(source.endOffset), _offsets(source.latestOffset)
    return {tp: max(0, offset - end.get(tp, 0)) for tp, offset in latest.items()}


def _offsets(text: Any) -> Offsets:
    if not isinstance(text, str) or not text.startswith("{"):
        return {}
    try:
        return from_json(json.loads(text))
    except (ValueError, UsageError):
        return {}  # another kind of source


class LagListener(api.StreamingQueryListener):  # type: ignore[misc]
    """``spark.streams.addListener(LagListener())`` logs the lag of every batch at INFO; ``report`` is called with the
    query's name or id and the lag per partition, for a metrics system."""

    def __init__(self, report: Callable[[str, dict[TopicPartition, int]], None] | None = None) -> None:
        if not api.LIMITS_READS:  # there the latest offset is where the batch ended, and the lag always 0
            raise UsageError("LagListener needs Spark 4.2 or later. Use commitGroup, and the tools that show its lag")
        super().__init__()
        self._report = report

    def onQueryStarted(self, event: Any) -> None:
        """See Spark."""

    def onQueryProgress(self, event: Any) -> None:
        """After each batch."""
        progress = event.progress
        for source in progress.sources:
            lag = lag_of(source)
            if not lag:
                continue
            name = progress.name or str(progress.id)
            logger.info(
                "query %s, batch %s: %d offsets behind, %s",
                name,
                progress.batchId,
                sum(lag.values()),
                {f"{tp.topic}-{tp.partition}": behind for tp, behind in lag.items() if behind},
            )
            if self._report is not None:
                try:
                    self._report(name, lag)
                except Exception:
                    logger.exception("the lag report of query %s raised", name)

    def onQueryIdle(self, event: Any) -> None:
        """See Spark."""

    def onQueryTerminated(self, event: Any) -> None:
        """See Spark."""


__all__ = ["LagListener", "lag_of"]
