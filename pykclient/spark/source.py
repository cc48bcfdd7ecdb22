"""The data source ``pykclient``: what Spark asks of it, answered by the modules beside this one.

The stream reader lives in one Python process of the driver for a whole run of a query; ``read`` runs on the executors,
in another, unpickled copy of the reader. So nothing here holds a socket when it is pickled.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

from pykclient.consumer.consumer import KafkaConsumer
from pykclient.errors import KafkaError, UsageError
from pykclient.spark import pyspark_api as api
from pykclient.spark.offsets import (
    OffsetRange,
    Offsets,
    from_json,
    losses_between,
    ranges_between,
    rate_limited,
    split_ranges,
    to_json,
)
from pykclient.spark.options import (
    COLUMN_NAMES,
    SourceOptions,
    consumer_settings,
    sink_options,
    source_columns,
    source_options,
    table_options,
)
from pykclient.spark.reading import read_range, report_loss
from pykclient.spark.sink import BatchWriter, StreamWriter
from pykclient.spark.view import KafkaView
from pykclient.spark.worker import InWorker, do_not_wait

logger = logging.getLogger(__name__)


class KafkaDataSource(InWorker, api.DataSource):  # type: ignore[misc]
    """Reads from and writes to Kafka. Options, columns and offsets are those of Spark's own ``kafka`` format."""

    options: dict[str, str]

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        do_not_wait()  # some workers of Spark's make it themselves

    @classmethod
    def name(cls) -> str:
        """What ``format(...)`` is given."""
        return "pykclient"

    def schema(self) -> Any:
        """The columns that the options ask for."""
        return api.source_schema(source_columns(self.options), table_options(self.options))

    def reader(self, schema: Any) -> KafkaBatchReader:
        """For ``spark.read``."""
        options = {**api.noted_options(schema), **self.options}
        return KafkaBatchReader(source_options(options, streaming=False), _checked(schema))

    def streamReader(self, schema: Any) -> KafkaStreamReader:
        """For ``spark.readStream``."""
        options = {**api.noted_options(schema), **self.options}
        return KafkaStreamReader(source_options(options, streaming=True), _checked(schema))

    def writer(self, schema: Any, overwrite: bool) -> BatchWriter:
        """For ``df.write``."""
        return BatchWriter(sink_options(self.options), schema, overwrite=overwrite)

    def streamWriter(self, schema: Any, overwrite: bool) -> StreamWriter:
        """For ``df.writeStream``."""
        return StreamWriter(sink_options(self.options), schema)


def _checked(schema: Any) -> Any:
    for field in schema.fields:
        if field.name not in COLUMN_NAMES or field.dataType != api.COLUMNS[field.name]:
            known = ", ".join(f"{name} {kind.simpleString()}" for name, kind in api.COLUMNS.items())
            raise UsageError(
                f"the schema has {field.name} {field.dataType.simpleString()}; the columns are fixed: {known}"
            )
    return api.source_schema(tuple(field.name for field in schema.fields))


class Piece(api.InputPartition):  # type: ignore[misc]
    """A range of offsets: the work of one task."""

    def __init__(self, wanted: OffsetRange) -> None:
        super().__init__(wanted)
        self.wanted = wanted


def _pieces(options: SourceOptions, start: Offsets, end: Offsets) -> list[Piece]:
    ranges = split_ranges(
        ranges_between(start, end), min_partitions=options.min_partitions, rows_max=options.rows_max_per_partition
    )
    return [Piece(each) for each in ranges]


class KafkaBatchReader(InWorker, api.DataSourceReader):  # type: ignore[misc]
    """A fixed range of offsets, planned once per DataFrame."""

    def __init__(self, options: SourceOptions, schema: Any) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> list[Piece]:
        """Ask the brokers what the options mean now, and cut it into tasks."""
        view = KafkaView(self._options)
        try:
            start = view.resolve(self._options.starting, starting=True)
            end = view.resolve(self._options.ending, starting=False)
        finally:
            view.close()
        # A start behind the end is an empty range here, not a topic made anew: the options name both.
        ordered = {tp: max(offset, start.get(tp, offset)) for tp, offset in end.items()}
        # Spark wants at least one partition for an empty result.
        return _pieces(self._options, start, ordered) or [Piece(OffsetRange("", -1, 0, 0))]

    def read(self, partition: Piece) -> Iterator[Any]:
        """On an executor."""
        return _read(self._options, partition, self._schema)


def _read(options: SourceOptions, partition: Piece, schema: Any) -> Iterator[Any]:
    if partition.wanted.size > 0:
        yield from read_range(options, partition.wanted, api.arrow_schema(schema))


class _StreamReader(InWorker, api.DataSourceStreamReader):  # type: ignore[misc]
    """The parts that do not depend on the version of Spark."""

    def __init__(self, options: SourceOptions, schema: Any) -> None:
        self._options = options
        self._schema = schema
        self._view = KafkaView(options)
        self._initial: Offsets | None = None
        self._target: Offsets | None = None
        self._last_batch_at = time.monotonic()
        self._committer: KafkaConsumer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_committer": None}

    def initialOffset(self) -> dict[str, Any]:
        """Where a query without a checkpoint begins. Spark asks twice; the answer must be the same."""
        if self._initial is None:
            self._initial = self._view.resolve(self._options.starting, starting=True)
        return to_json(self._initial)

    def _next_end(self, start: Offsets, limit: Any) -> Offsets:
        """Where the next batch ends, given where it starts and how much Spark wants."""
        latest = self._settled_latest(start)
        if self._target is not None:
            # What came after the query began is left for the next run; what was read already stays read.
            latest = {tp: max(min(offset, self._target.get(tp, 0)), start.get(tp, 0)) for tp, offset in latest.items()}
        if isinstance(limit, api.ReadAllAvailable):
            return latest
        waiting = sum(offset - start.get(tp, 0) for tp, offset in latest.items())
        least, most = self._options.rows_min_per_trigger, self._options.rows_max_per_trigger
        waited_s = time.monotonic() - self._last_batch_at
        if (
            least is not None
            and self._target is None
            and waiting < least
            and waited_s < self._options.trigger_delay_max_s
        ):
            return {tp: offset for tp, offset in start.items() if tp in latest}
        if waiting > 0:
            self._last_batch_at = time.monotonic()
        return latest if most is None else rate_limited(start, latest, most)

    def _settled_latest(self, start: Offsets) -> Offsets:
        """The ends, asked again when some are before what was read already: a new leader may be behind for a moment."""
        latest = self._view.latest_after(start)
        for _ in range(self._options.retries):
            if not losses_between(start, latest):
                return latest
            time.sleep(self._options.retry_interval_s)
            self._view.forget_latest()
            latest = self._view.latest_now()
        self._report_losses(start, latest)
        return latest

    def _report_losses(self, start: Offsets, end: Offsets) -> None:
        for loss in losses_between(start, end):
            what = "the partition is gone" if loss.available is None else f"the partition ends at {loss.available}"
            report_loss(self._options, loss.topic_partition, loss.available or 0, loss.wanted, what)

    def prepareForTriggerAvailableNow(self) -> None:
        """Trigger.AvailableNow: read what there is now, then end."""
        self._view.forget_latest()
        self._target = self._view.latest_now()

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """What Spark shows as latestOffset of the source."""
        return to_json(self._view.latest_now())

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[Piece]:
        """The tasks of a batch: the same ones for the same offsets and options, as a replay must be."""
        return _pieces(self._options, from_json(start), from_json(end))

    def read(self, partition: Piece) -> Iterator[Any]:
        """On an executor."""
        return _read(self._options, partition, self._schema)

    def commit(self, end: Mapping[str, Any]) -> None:
        """A batch is in the checkpoint; commitGroup learns of it, for tools that show lag."""
        group = self._options.commit_group
        if group is None:
            return
        try:
            if self._committer is None:
                self._committer = KafkaConsumer({**consumer_settings(self._options), "group.id": group})
            offsets = from_json(end)
            self._committer.commit(offsets, timeout=5.0)
        except KafkaError as error:
            # Only a display: the checkpoint is what counts, so the query goes on.
            logger.warning("commitGroup %s: could not commit %s: %s", group, dict(end), error)

    def stop(self) -> None:
        """The query ends. Spark does not always say so."""
        self._view.close()
        committer, self._committer = self._committer, None
        if committer is not None:
            committer.close(1.0)


if api.LIMITS_READS:

    class KafkaStreamReader(_StreamReader, api.SupportsTriggerAvailableNow):  # type: ignore[misc]
        """For Spark 4.2 and later."""

        def getDefaultReadLimit(self) -> Any:
            """maxOffsetsPerTrigger, minOffsetsPerTrigger, or no limit. ``_next_end`` honours both of them."""
            if self._options.rows_max_per_trigger is not None:
                return api.ReadMaxRows(self._options.rows_max_per_trigger)
            if self._options.rows_min_per_trigger is not None:
                return api.ReadMinRows(self._options.rows_min_per_trigger)
            return api.ReadAllAvailable()

        def latestOffset(self, start: Mapping[str, Any], limit: Any) -> dict[str, Any]:
            """Where the next batch ends."""
            return to_json(self._next_end(from_json(start), limit))

else:

    class KafkaStreamReader(_StreamReader):  # type: ignore[no-redef]
        """For Spark 4.0 and 4.1, which do not say where the batch starts: it is kept from what was planned last."""

        _planned: Offsets | None = None

        def __init__(self, options: SourceOptions, schema: Any) -> None:
            super().__init__(options, schema)
            if options.rows_max_per_trigger is not None or options.rows_min_per_trigger is not None:
                logger.warning(
                    "Spark before 4.2 does not tell its Python sources of Trigger.AvailableNow: with "
                    "maxOffsetsPerTrigger or minOffsetsPerTrigger a run may end before everything is read. Other "
                    "triggers are not concerned. spark.sql.streaming.triggerAvailableNowWrapper.enabled=true helps"
                )

        def latestOffset(self) -> dict[str, Any]:
            """Where the next batch ends. The first one of a new query has no cap: its start is not known yet. After a
            restart it is: Spark plans nothing, at the offsets of the checkpoint."""
            if self._planned is None:
                self._planned = self._initial
            if self._planned is None:
                return to_json(self._view.latest_now())
            self._planned = self._next_end(self._planned, api.ReadMaxRows(0))
            return to_json(self._planned)

        def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[Piece]:
            """As above, noting the end. The first chance after a restart to see that something is gone."""
            self._report_losses(from_json(start), from_json(end))
            self._planned = from_json(end)
            return super().partitions(start, end)


__all__ = ["KafkaBatchReader", "KafkaDataSource", "KafkaStreamReader", "Piece"]
