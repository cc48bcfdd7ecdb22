"""What a producer counts, under the names Java gives its metrics. Touched once per batch or request, never per record.

Written by the Sender thread; read by any (ints and floats, so a reader sees old or new, never torn).
"""

from __future__ import annotations

from collections.abc import Sequence

from pykclient.client.metrics import Histogram
from pykclient.producer.batch import ProducerBatch


class ProducerMetrics:
    """Totals since the producer was made, and the last latencies."""

    def __init__(self) -> None:
        self.record_send_total = 0
        self.record_error_total = 0
        self.record_retry_total = 0
        self.batch_split_total = 0
        self.request_total = 0
        self.batch_total = 0
        self.batch_records_total = 0
        self.latency_s = Histogram()
        self.compression_ratio_total = 0.0
        self.compressed_total = 0

    def request_sent(self, batches: Sequence[ProducerBatch]) -> None:
        """A Produce request left with these batches."""
        self.request_total += 1
        self.batch_total += len(batches)
        for batch in batches:
            self.batch_records_total += batch.record_count

    def answered(self, latency_s: float) -> None:
        """A Produce request was answered."""
        self.latency_s.record(latency_s)

    def compressed(self, ratio: float) -> None:
        """A batch shrank to this part of its size."""
        self.compressed_total += 1
        self.compression_ratio_total += ratio

    def delivered(self, records: int) -> None:
        """Records were acknowledged."""
        self.record_send_total += records

    def failed(self, records: int) -> None:
        """Records failed for good."""
        self.record_error_total += records

    def retried(self, records: int) -> None:
        """Records are sent again."""
        self.record_retry_total += records

    def batch_split(self) -> None:
        """A batch was split."""
        self.batch_split_total += 1

    def snapshot(self) -> dict[str, float]:
        """Java's names, totals and averages over the producer's life."""
        return {
            "record-send-total": self.record_send_total,
            "record-error-total": self.record_error_total,
            "record-retry-total": self.record_retry_total,
            "batch-split-total": self.batch_split_total,
            "request-total": self.request_total,
            "records-per-request-avg": self.batch_records_total / self.request_total if self.request_total else 0.0,
            "records-per-batch-avg": self.batch_records_total / self.batch_total if self.batch_total else 0.0,
            "request-latency-avg": 1000 * self.latency_s.average,
            "request-latency-p50": 1000 * self.latency_s.percentile(50),
            "request-latency-p99": 1000 * self.latency_s.percentile(99),
            "request-latency-max": 1000 * self.latency_s.maximum,
            "compression-rate-avg": self.compression_ratio_total / self.compressed_total
            if self.compressed_total
            else 1.0,
        }
