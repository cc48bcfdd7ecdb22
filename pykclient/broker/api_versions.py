"""What the broker says it speaks: ApiVersions, from the handlers it really has.

Holds the table of served APIs, cut by ``max_versions`` when the broker poses as an older one. Runs on the node's
thread. It must never announce an API or version that no handler serves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pykclient.broker.config_changes import FEATURES
from pykclient.broker.faults import api_key
from pykclient.errors import ConfigError, ErrorCode
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

FEATURES_FROM = 3
# Before this version a feature whose lowest level is 0 cannot be said (KIP-1022 clients choke on it).
ZERO_LEVELS_FROM = 4
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?\Z")


class ServedVersions:
    """The versions of each API that requests may have."""

    def __init__(self, keys: Iterable[ApiKey], max_versions: Mapping[object, int | None] | None = None) -> None:
        limits = {api_key(key): version for key, version in (max_versions or {}).items()}
        self._ranges: dict[int, tuple[int, int]] = {}
        for key in sorted(keys):
            info = api(key)
            highest = info.max_version - 1 if info.latest_version_unstable else info.max_version
            limit = limits.get(key, highest)
            if limit is None:
                continue
            if limit < info.min_version:
                raise ConfigError(f"max_versions: {info.name} below version {info.min_version} is not served")
            self._ranges[key] = (info.min_version, min(limit, highest))
        self.poses = bool(limits)

    def __iter__(self) -> Iterator[tuple[ApiKey, int, int]]:
        return ((ApiKey(key), low, high) for key, (low, high) in self._ranges.items())

    def serves(self, key: int, version: int) -> bool:
        """Whether a request of this version is answered."""
        found = self._ranges.get(key)
        return found is not None and found[0] <= version <= found[1]

    def answer(
        self, request: ApiVersionsRequest | None, version: int, features: Mapping[str, int], epoch: int
    ) -> ApiVersionsResponse:
        """The answer; ``request`` None is one in a version we cannot read, which is told what we can (KIP-511)."""
        keys = [ApiVersion(key, low, high) for key, (low, high) in self._ranges.items()]
        if request is None:
            return ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, keys)
        if version >= FEATURES_FROM and not (
            _SOFTWARE.match(request.client_software_name) and _SOFTWARE.match(request.client_software_version)
        ):
            return ApiVersionsResponse(ErrorCode.INVALID_REQUEST)
        response = ApiVersionsResponse(api_keys=keys)
        if version >= FEATURES_FROM:
            response.supported_features = [
                SupportedFeatureKey(each.name, each.min_level, each.max_level)
                for each in FEATURES
                if each.min_level > 0 or version >= ZERO_LEVELS_FROM
            ]
            response.finalized_features = [FinalizedFeatureKey(name, level, level) for name, level in features.items()]
            response.finalized_features_epoch = epoch
        return response
