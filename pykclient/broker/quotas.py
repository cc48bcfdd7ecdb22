"""Byte-rate quotas: how long a client must be quiet after what it just sent or got.

One bucket per quota entity and kind, filled at the quota's rate and holding one second of it; a request may
overdraw it, and the time until it is level again is the throttle time (KIP-219: the answer goes out at once, the
connection is not read until then). Owned by the node's thread; never reads a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pykclient.broker.image import QuotaEntity

PRODUCE = "producer_byte_rate"
CONSUME = "consumer_byte_rate"
THROTTLE_S_MAX = 30.0
BURST_S = 1.0
BUCKETS_MAX = 10_000


@dataclass(slots=True)
class _Bucket:
    rate: float
    level: float
    at: float


class Quotas:
    """Which quota applies to whom, and the buckets."""

    def __init__(self) -> None:
        self._quotas: Mapping[QuotaEntity, Mapping[str, float]] = {}
        self._buckets: dict[tuple[QuotaEntity, str, str, str], _Bucket] = {}

    def set_quotas(self, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> None:
        """Take the quotas of a new metadata image."""
        if quotas != self._quotas:
            self._quotas = dict(quotas)
            self._buckets.clear()

    @property
    def active(self) -> bool:
        """Whether there is any quota at all."""
        return bool(self._quotas)

    def charge(self, key: str, user: str, client_id: str, size: int, now: float) -> float:
        """Take so many bytes from the client's bucket; the seconds it must now be quiet."""
        if not self._quotas:
            return 0.0
        found = self._applicable(key, user, client_id)
        if found is None:
            return 0.0
        entity, rate = found
        # A default entity gives each user or client a bucket of its own; a named one is shared by all it names.
        kinds = dict(entity)
        bucket_key = (entity, key, user if "user" in kinds else "", client_id if "client-id" in kinds else "")
        bucket = self._buckets.get(bucket_key)
        if bucket is None:
            if len(self._buckets) >= BUCKETS_MAX:
                self._buckets.clear()
            bucket = self._buckets[bucket_key] = _Bucket(rate, rate * BURST_S, now)
        bucket.level = min(bucket.rate * BURST_S, bucket.level + (now - bucket.at) * bucket.rate) - size
        bucket.at = now
        return min(THROTTLE_S_MAX, -bucket.level / bucket.rate) if bucket.level < 0 else 0.0

    def _applicable(self, key: str, user: str, client_id: str) -> tuple[QuotaEntity, float] | None:
        """The most specific quota, in Kafka's order: user before client, named before default."""
        for entity in _candidates(user, client_id):
            rate = self._quotas.get(entity, {}).get(key)
            if rate is not None:
                return entity, rate
        return None


def _candidates(user: str, client_id: str) -> list[QuotaEntity]:
    def both(client: str | None, name: str | None) -> QuotaEntity:
        return (("client-id", client), ("user", name))

    return [
        both(client_id, user),
        both(None, user),
        (("user", user),),
        both(client_id, None),
        both(None, None),
        (("user", None),),
        (("client-id", client_id),),
        (("client-id", None),),
    ]
