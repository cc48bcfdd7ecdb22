"""``foreachBatch`` with our writer: for output mode ``update``, and for one batch that goes to several places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def write_batch(**options: str) -> Callable[[Any, int], None]:
    """A function for ``df.writeStream.foreachBatch(...)`` that appends each batch to Kafka, at least once.

    Option names as keywords, dots as double underscores: ``write_batch(kafka__bootstrap__servers="...", topic="t")``.
    """
    named = {name.replace("__", "."): str(value) for name, value in options.items()}

    def write(batch: Any, batch_id: int) -> None:
        batch.write.format("pykclient").mode("append").options(**named).save()

    return write


__all__ = ["write_batch"]
