"""The same requests, byte for byte, to Apache Kafka and to the embedded broker: administration."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from pykclient.protocol.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from pykclient.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from pykclient.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from pykclient.protocol.messages.api_versions import ApiVersionsRequest
from pykclient.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from pykclient.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from pykclient.protocol.messages.describe_acls import DescribeAclsRequest
from pykclient.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from pykclient.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from pykclient.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from pykclient.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from pykclient.protocol.messages.list_groups import ListGroupsRequest
from pykclient.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from pykclient.protocol.messages.sasl_handshake import SaslHandshakeRequest
from pykclient.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.interop.clients import wait_until
from tests.interop.talk import new_topic
from tests.interop.wire import Compare, Conversation, Wire

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(120)]


def test_announced_versions_are_kafkas(embedded_bootstrap: str, real_bootstrap: str) -> None:
    """Fewer APIs are fine; a served one is served in every version that clients of Kafka 4.3 may pick."""
    found = []
    for bootstrap in (real_bootstrap, embedded_bootstrap):
        wire = Wire(bootstrap)
        request = ApiVersionsRequest(client_software_name="differ", client_software_version="1")
        response = wire.ask(request, 4)
        found.append({ApiKey(a.api_key).name: (a.min_version, a.max_version) for a in response.api_keys})
        wire.close()
    real, embedded = found
    # Kafka says 0 for Produce, which it does not serve below 3, so that old versions of librdkafka compress.
    del real["PRODUCE"], embedded["PRODUCE"]
    assert embedded == {name: versions for name, versions in real.items() if name in embedded}


def test_scram_users(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        user = c.names["group"]

        def upsert(label: str, **options: Any) -> None:
            one = ScramCredentialUpsertion(
                name=user, mechanism=1, iterations=4096, salt=b"salt", salted_password=b"x" * 32
            )
            for name, value in options.items():
                setattr(one, name, value)
            c.ask(f"upsert {label}", AlterUserScramCredentialsRequest(upsertions=[one]), 0)

        upsert("with few iterations", iterations=10)
        upsert("with many iterations", iterations=100_000)
        upsert("with an unknown mechanism", mechanism=9)
        upsert("without a name", name="")
        upsert("well")
        deletion = ScramCredentialDeletion(name=f"{user}-none", mechanism=1)
        c.ask("delete a stranger", AlterUserScramCredentialsRequest(deletions=[deletion]), 0)
        twice = [ScramCredentialDeletion(name=user, mechanism=n) for n in (1, 2)]
        c.ask("alter twice", AlterUserScramCredentialsRequest(deletions=twice), 0)

        def describe(label: str, *names: str) -> Any:
            users = [UserName(name=name) for name in names]
            return c.ask(f"describe {label}", DescribeUserScramCredentialsRequest(users=users), 0)

        known = DescribeUserScramCredentialsRequest(users=[UserName(name=user)])
        wait_until(lambda: c.wire.ask(known, 0).results[0].error_code == 0, "the user")
        describe("a user and a stranger", user, f"{user}-none")
        describe("a user twice", user, user)
        deletion = ScramCredentialDeletion(name=user, mechanism=1)
        c.ask("delete", AlterUserScramCredentialsRequest(deletions=[deletion]), 0)

    compare(talk)


def test_quotas(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        user = c.names["group"]

        def alter(label: str, key: str, value: float, *, remove: bool = False, entity: str = "user") -> None:
            entry = RequestEntryData(
                entity=[RequestEntityData(entity_type=entity, entity_name=user)],
                ops=[OpData(key=key, value=value, remove=remove)],
            )
            c.ask(f"alter {label}", AlterClientQuotasRequest(entries=[entry]), 1)

        alter("well", "producer_byte_rate", 1000.0)
        alter("an unknown key", "no_such_rate", 1.0)
        alter("below zero", "producer_byte_rate", -1.0)
        alter("an unknown entity", "producer_byte_rate", 1.0, entity="nobody")
        filter_ = DescribeClientQuotasRequest(components=[ComponentData(entity_type="user", match_type=0, match=user)])
        wait_until(lambda: c.wire.ask(filter_, 1).entries, "the quota")
        c.ask("describe", filter_, 1)
        strange = DescribeClientQuotasRequest(
            components=[ComponentData(entity_type="nobody", match_type=0, match=user)]
        )
        c.ask("describe an unknown entity", strange, 1)
        alter("away", "producer_byte_rate", 0.0, remove=True)

    compare(talk, known=["describe an unknown entity"])


def test_without_an_authorizer(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        anything = DescribeAclsRequest(
            resource_type_filter=1,
            resource_name_filter=None,
            pattern_type_filter=1,
            principal_filter=None,
            host_filter=None,
            operation=1,
            permission_type=1,
        )
        c.ask("describe", anything, 3)
        creation = AclCreation(
            resource_type=2, resource_name="t", principal="User:a", host="*", operation=3, permission_type=3
        )
        c.ask("create", CreateAclsRequest(creations=[creation]), 3)
        which = DeleteAclsFilter(
            resource_type_filter=2, resource_name_filter="t", principal_filter=None, host_filter=None,
            operation=1, permission_type=1,
        )  # fmt: skip
        c.ask("delete", DeleteAclsRequest(filters=[which]), 3)
        c.ask("handshake on a plain listener", SaslHandshakeRequest(mechanism="PLAIN"), 1)
        c.ask("authenticate on a plain listener", SaslAuthenticateRequest(auth_bytes=b"\0a\0b"), 2)

    compare(talk, known=["authenticate on a plain listener"])


def test_moving_and_electing(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)
        for kind in (0, 1, 9):
            one = TopicPartitions(topic=topic, partitions=[0, 9])
            other = TopicPartitions(topic=f"{topic}-none", partitions=[0])
            c.ask(f"elect {kind}", ElectLeadersRequest(election_type=kind, topic_partitions=[one, other]), 2)

        def reassign(label: str, replicas: list[int] | None, name: str = topic, partition: int = 0) -> None:
            where = ReassignablePartition(partition_index=partition, replicas=replicas)
            request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name=name, partitions=[where])])
            c.ask(f"reassign {label}", request, 0)

        reassign("to a stranger", [777])
        reassign("to nobody", [])
        reassign("cancelled", None)
        reassign("an unknown topic", [1], f"{topic}-none")
        reassign("an unknown partition", [1], partition=9)
        c.ask("reassignments", ListPartitionReassignmentsRequest(topics=None), 0)
        updates = [FeatureUpdateKey(feature="no.such", max_version_level=1)]
        c.ask("an unknown feature", UpdateFeaturesRequest(feature_updates=updates), 1)
        updates = [FeatureUpdateKey(feature="transaction.version", max_version_level=99)]
        c.ask("a feature too high", UpdateFeaturesRequest(feature_updates=updates), 1)

    compare(talk, known=["elect 9", "an unknown feature", "a feature too high"])


def test_legacy_alter_configs_and_listings(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic = new_topic(c)

        def alter(label: str, key: str, value: str | None, name: str = topic, kind: int = 2) -> None:
            resource = AlterConfigsResource(
                resource_type=kind, resource_name=name, configs=[AlterableConfig(name=key, value=value)]
            )
            c.ask(f"alter {label}", AlterConfigsRequest(resources=[resource]), 2)

        alter("well", "retention.ms", "7000")
        alter("to nonsense", "retention.ms", "soon")
        alter("an unknown key", "no.such", "1")
        alter("an unknown topic", "retention.ms", "1", f"{topic}-none")
        alter("an unknown kind", "retention.ms", "1", "x", 77)
        resource = DescribeConfigsResource(resource_type=2, resource_name=topic, configuration_keys=["retention.ms"])
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
        wait_until(lambda: c.wire.ask(request, 4).results[0].configs[0].value == "7000", "the new setting")
        c.ask("describe with synonyms", request, 4)
        c.ask("groups in an unknown state", ListGroupsRequest(states_filter=[f"x{uuid.uuid4().hex}"]), 5)
        c.ask("groups of an unknown type", ListGroupsRequest(types_filter=["nonsense"]), 5)

    compare(talk, known=[r"describe with synonyms.*\.synonyms"])
