"""Every API in every version that a broker announces is answered, in bytes that the version's reader understands."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.errors import ErrorCode
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.api_versions import ApiVersionsRequest
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient
from tests.unit.test_faults import filled

NOT_ASKED = {ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(topics={"x": 2}, group_initial_rebalance_delay_ms=0) as running:
        yield running


def announced(cluster: EmbeddedCluster) -> list[tuple[ApiKey, int, int]]:
    with RawClient(cluster.bootstrap_servers) as client:
        answer = client.ask(ApiKey.API_VERSIONS, ApiVersionsRequest("test", "1"), 4)
    return [(ApiKey(each.api_key), each.min_version, each.max_version) for each in answer.api_keys]


def requests(key: ApiKey, version: int) -> Iterator[Any]:
    """A request that asks for nothing, and one with something in every field."""
    request_class: Any = api(key).request_class()
    for request in (request_class(), filled(request_class, version)):
        if hasattr(request, "client_software_name"):
            request.client_software_name = request.client_software_version = "x"
        if hasattr(request, "acks"):
            request.acks = 1
        if hasattr(request, "protocols") and request.protocols:
            request.session_timeout_ms = 10_000
        yield request


def test_every_announced_version_is_answered(cluster: EmbeddedCluster) -> None:
    versions = announced(cluster)
    assert len(versions) > 40
    failures = []
    for key, low, high in versions:
        if key in NOT_ASKED:
            continue
        for version in range(low, high + 1):
            for number, request in enumerate(requests(key, version)):
                try:
                    with RawClient(cluster.bootstrap_servers, timeout_s=5) as client:
                        client.ask(key, request, version)
                except Exception as error:
                    failures.append(f"{key.name} v{version} request {number}: {error!r}")
    assert failures == []


def test_all_four_ranges_that_matter_are_as_in_kafka_4_3(cluster: EmbeddedCluster) -> None:
    found = {key: (low, high) for key, low, high in announced(cluster)}
    assert found[ApiKey.PRODUCE] == (3, 13)
    assert found[ApiKey.FETCH] == (4, 18)
    assert found[ApiKey.METADATA] == (0, 13)
    assert found[ApiKey.CREATE_TOPICS] == (2, 7)
    assert found[ApiKey.WRITE_TXN_MARKERS] == (1, 2), "admin clients abort transactions with it"


def test_an_unknown_topic_id_is_said(cluster: EmbeddedCluster) -> None:
    from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

    for version in (10, 12, 13):
        with RawClient(cluster.bootstrap_servers) as client:
            request = MetadataRequest(topics=[MetadataRequestTopic(uuid.UUID(int=9), None)])
            answer = client.ask(ApiKey.METADATA, request, version)
        assert answer.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
