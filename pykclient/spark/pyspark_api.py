"""The only file that imports pyspark: the classes to derive from, and what this version of Spark can do.

Driver and workers. Spark 4.0 to 4.3: what a version lacks is replaced by a stand-in here and nowhere else.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pykclient.errors import UsageError

try:
    from pyspark import TaskContext
    from pyspark.sql import datasource
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.streaming import StreamingQueryListener
    from pyspark.sql.types import (
        ArrayType,
        BinaryType,
        DataType,
        IntegerType,
        LongType,
        StringType,
        StructField,
        StructType,
        TimestampType,
    )
except ImportError as missing:
    raise UsageError("this needs Spark 4: pip install 'pykclient[spark]'") from missing

DataSource: Any = datasource.DataSource
DataSourceReader: Any = datasource.DataSourceReader
DataSourceStreamReader: Any = datasource.DataSourceStreamReader
InputPartition: Any = datasource.InputPartition
WriterCommitMessage: Any = datasource.WriterCommitMessage
DataSourceArrowWriter: Any = datasource.DataSourceArrowWriter
DataSourceStreamWriter: Any = datasource.DataSourceStreamWriter
if hasattr(datasource, "DataSourceStreamArrowWriter"):  # since 4.1
    DataSourceStreamArrowWriter: Any = datasource.DataSourceStreamArrowWriter
else:

    class DataSourceStreamArrowWriter(DataSourceStreamWriter, DataSourceArrowWriter):  # type: ignore[misc, no-redef]
        """Stand-in. 4.0 gives record batches to every writer that is an Arrow writer, without asking whether it is one
        for streams."""


try:  # since 4.2
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )

    LIMITS_READS = True
except ImportError:
    LIMITS_READS = False

    @dataclass
    class ReadAllAvailable:  # type: ignore[no-redef]
        """Stand-in."""

    @dataclass
    class ReadMaxRows:  # type: ignore[no-redef]
        """Stand-in."""

        max_rows: int

    @dataclass
    class ReadMinRows:  # type: ignore[no-redef]
        """Stand-in."""

        min_rows: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Stand-in."""


HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))

COLUMNS: dict[str, Any] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": HEADERS,
}
"""The columns of the source, as Spark's own connector has them."""


_NOTE = "pykclient.options"


def source_schema(columns: tuple[str, ...], table: Mapping[str, str] | None = None) -> StructType:
    """The schema with these columns. The options of a table are noted in it: Spark keeps them, but when the table is
    read it gives a Python source its schema alone."""
    found = StructType([StructField(name, COLUMNS[name]) for name in columns])
    if table is not None:
        found.fields[0].metadata = {_NOTE: json.dumps(dict(table))}
    return found


def noted_options(schema: StructType) -> dict[str, str]:
    """The options of the table that has this schema."""
    notes = [field.metadata[_NOTE] for field in schema.fields if field.metadata and _NOTE in field.metadata]
    return dict(json.loads(notes[0])) if notes else {}


def arrow_schema(schema: StructType) -> Any:
    """The pyarrow schema that Spark compares the reader's batches with."""
    if "timezone" in inspect.signature(to_arrow_schema).parameters:
        return to_arrow_schema(schema, timezone="UTC")
    return to_arrow_schema(schema)


__all__ = [
    "COLUMNS",
    "HEADERS",
    "LIMITS_READS",
    "ArrayType",
    "BinaryType",
    "DataSource",
    "DataSourceArrowWriter",
    "DataSourceReader",
    "DataSourceStreamArrowWriter",
    "DataSourceStreamReader",
    "DataType",
    "InputPartition",
    "IntegerType",
    "ReadAllAvailable",
    "ReadMaxRows",
    "ReadMinRows",
    "StreamingQueryListener",
    "StringType",
    "StructType",
    "SupportsTriggerAvailableNow",
    "TaskContext",
    "WriterCommitMessage",
    "arrow_schema",
    "noted_options",
    "source_schema",
]
