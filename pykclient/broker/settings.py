"""Settings as clients ask for them: DescribeConfigs, IncrementalAlterConfigs, AlterConfigs, and client quotas.

Reads the node's image and sends changes to the controller. Runs on the node's thread and never blocks. A sensitive
value must never leave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pykclient.broker import config_changes
from pykclient.broker.authorizer import CLUSTER_NAME, Operation, ResourceType
from pykclient.broker.config_changes import Alteration, AlterOperation, ConfigResource
from pykclient.broker.config_keys import BROKER_KEYS, DYNAMIC_BROKER_KEYS, TOPIC_KEYS, sensitive
from pykclient.broker.configs import ConfigEntry, broker_layers, resolve
from pykclient.broker.image import QuotaEntity
from pykclient.broker.node_view import NodeView, allowed, then
from pykclient.broker.request import RequestContext
from pykclient.broker.topic_changes import topic_name_problem
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey, alter_configs, incremental_alter_configs
from pykclient.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ResponseEntityData,
    ResponseEntryData,
)
from pykclient.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from pykclient.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from pykclient.protocol.messages.list_config_resources import (
    ConfigResource as ListedResource,
)
from pykclient.protocol.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

QUOTA_KEYS = frozenset({"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"})
QUOTA_ENTITIES = frozenset({"user", "client-id", "ip"})
MATCH_EXACT, MATCH_DEFAULT, MATCH_ANY = 0, 1, 2


class Settings:
    """The room."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.DESCRIBE_CONFIGS: "describe_configs",
        ApiKey.INCREMENTAL_ALTER_CONFIGS: "incremental_alter_configs",
        ApiKey.ALTER_CONFIGS: "alter_configs",
        ApiKey.LIST_CONFIG_RESOURCES: "list_config_resources",
        ApiKey.DESCRIBE_CLIENT_QUOTAS: "describe_client_quotas",
        ApiKey.ALTER_CLIENT_QUOTAS: "alter_client_quotas",
    }

    def __init__(self, node: NodeView) -> None:
        self._node = node

    # ---- reading ----

    def describe_configs(self, context: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
        """The effective values, and with synonyms where each comes from."""
        return DescribeConfigsResponse(results=[self._described(context, request, each) for each in request.resources])

    def _described(
        self, context: RequestContext, request: DescribeConfigsRequest, resource: DescribeConfigsResource
    ) -> DescribeConfigsResult:
        result = DescribeConfigsResult(
            resource_type=resource.resource_type, resource_name=resource.resource_name, error_message=None
        )
        denied = self._denied(context, Operation.DESCRIBE_CONFIGS, resource.resource_type, resource.resource_name)
        if denied is not None:
            result.error_code = denied
            return result
        entries = self._entries(resource.resource_type, resource.resource_name)
        if isinstance(entries, tuple):
            result.error_code, result.error_message = entries
            return result
        wanted = resource.configuration_keys
        result.configs = [
            self._shown(entry, request, read_only=resource.resource_type == ConfigResource.BROKER)
            for entry in entries
            if wanted is None or entry.name in wanted
        ]
        return result

    def _entries(self, kind: int, name: str) -> list[ConfigEntry] | tuple[ErrorCode, str]:
        node = self._node
        layers = broker_layers(node.config, node.node_id, node.image.broker_configs)
        if kind == ConfigResource.TOPIC:
            topic = node.image.topics.get(name)
            if topic is None:
                problem = topic_name_problem(name)
                if problem is not None:
                    return ErrorCode.INVALID_TOPIC_EXCEPTION, problem
                return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
            return [resolve(key, layers, topic.configs) for key in TOPIC_KEYS.values() if not key.internal]
        if kind == ConfigResource.BROKER:
            if name == "":
                source, values = layers[1]
                return [resolve(BROKER_KEYS[key], [(source, values)]) for key in values]
            if name != str(node.node_id):
                return ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {node.node_id}, but received {name}"
            return [resolve(key, layers) for key in BROKER_KEYS.values()]
        if kind in (ConfigResource.BROKER_LOGGER, ConfigResource.CLIENT_METRICS, ConfigResource.GROUP):
            return []
        return ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}"

    def _shown(
        self, entry: ConfigEntry, request: DescribeConfigsRequest, *, read_only: bool
    ) -> DescribeConfigsResourceResult:
        hidden = sensitive(entry.key)
        synonyms = [
            DescribeConfigsSynonym(name, None if hidden else value, source) for name, value, source in entry.synonyms
        ]
        return DescribeConfigsResourceResult(
            name=entry.name,
            value=None if hidden else entry.value,
            read_only=read_only and entry.name not in DYNAMIC_BROKER_KEYS,
            config_source=entry.source,
            is_sensitive=hidden,
            synonyms=synonyms if request.include_synonyms else [],
            config_type=entry.key.type,
            documentation=entry.key.doc if request.include_documentation else None,
        )

    def list_config_resources(
        self, context: RequestContext, request: ListConfigResourcesRequest
    ) -> ListConfigResourcesResponse:
        """The topics and brokers that settings can be set on."""
        if not allowed(self._node, context, Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME):
            return ListConfigResourcesResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        image = self._node.image
        names: dict[int, list[str]] = {
            ConfigResource.TOPIC: list(image.topics),
            ConfigResource.BROKER: [str(node_id) for node_id in image.brokers],
        }
        # Version 0 knows client metrics only, of which this broker has none.
        wanted = [] if context.api_version == 0 else request.resource_types or list(names)
        found = [ListedResource(name, kind) for kind in wanted for name in names.get(kind, ())]
        if context.api_version == 0:
            return ListConfigResourcesResponse()
        return ListConfigResourcesResponse(config_resources=found)

    # ---- writing ----

    def incremental_alter_configs(
        self, context: RequestContext, request: incremental_alter_configs.IncrementalAlterConfigsRequest
    ) -> Completion[incremental_alter_configs.IncrementalAlterConfigsResponse]:
        """Set, unset, append to and subtract from single values."""
        resources = [
            (r.resource_type, r.resource_name, [Alteration(c.name, c.config_operation, c.value) for c in r.configs])
            for r in request.resources
        ]
        rows = self._alter(context, resources, replace_all=False, validate_only=request.validate_only)
        result_class = incremental_alter_configs.AlterConfigsResourceResponse
        return then(
            rows,
            lambda results: incremental_alter_configs.IncrementalAlterConfigsResponse(
                responses=[result_class(*row) for row in results]
            ),
        )

    def alter_configs(
        self, context: RequestContext, request: alter_configs.AlterConfigsRequest
    ) -> Completion[alter_configs.AlterConfigsResponse]:
        """The old form: what is not named is unset."""
        resources = [
            (r.resource_type, r.resource_name, [Alteration(c.name, AlterOperation.SET, c.value) for c in r.configs])
            for r in request.resources
        ]
        rows = self._alter(context, resources, replace_all=True, validate_only=request.validate_only)
        result_class = alter_configs.AlterConfigsResourceResponse
        return then(
            rows,
            lambda results: alter_configs.AlterConfigsResponse(responses=[result_class(*row) for row in results]),
        )

    def _alter(
        self,
        context: RequestContext,
        resources: list[tuple[int, str, list[Alteration]]],
        *,
        replace_all: bool,
        validate_only: bool,
    ) -> Completion[list[tuple[ErrorCode, str | None, int, str]]]:
        """Rows as both responses have them: error, text, resource type, resource name."""
        rows: list[tuple[ErrorCode, str | None, int, str]] = []
        permitted = []
        for kind, name, alterations in resources:
            denied = self._denied(context, Operation.ALTER_CONFIGS, kind, name)
            if denied is not None:
                rows.append((denied, None, kind, name))
            else:
                permitted.append((kind, name, alterations))

        def answer(outcomes: list[config_changes.Outcome]) -> list[tuple[ErrorCode, str | None, int, str]]:
            done = zip(permitted, outcomes, strict=True)
            return [(error, text, kind, name) for (kind, name, _), (error, text) in done] + rows

        return then(
            self._node.controller.run(
                lambda state: config_changes.alter_configs(
                    state.image, permitted, replace_all=replace_all, validate_only=validate_only
                )
            ),
            answer,
        )

    def _denied(self, context: RequestContext, operation: Operation, kind: int, name: str) -> ErrorCode | None:
        if kind == ConfigResource.TOPIC:
            permitted = allowed(self._node, context, operation, ResourceType.TOPIC, name)
            return None if permitted else ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if kind == ConfigResource.GROUP:
            permitted = allowed(self._node, context, operation, ResourceType.GROUP, name)
            return None if permitted else ErrorCode.GROUP_AUTHORIZATION_FAILED
        permitted = allowed(self._node, context, operation, ResourceType.CLUSTER, CLUSTER_NAME)
        return None if permitted else ErrorCode.CLUSTER_AUTHORIZATION_FAILED

    # ---- quotas ----

    def describe_client_quotas(
        self, context: RequestContext, request: DescribeClientQuotasRequest
    ) -> DescribeClientQuotasResponse:
        """The entities that match every component; with ``strict`` none that has more."""
        if not allowed(self._node, context, Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME):
            return DescribeClientQuotasResponse(
                error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message=None, entries=None
            )
        wanted = {each.entity_type: (each.match_type, each.match) for each in request.components}
        entries = [
            EntryData(
                entity=[EntityData(kind, name) for kind, name in entity],
                values=[ValueData(key, value) for key, value in sorted(values.items())],
            )
            for entity, values in self._node.image.quotas.items()
            if _quota_matches(entity, wanted, strict=request.strict)
        ]
        return DescribeClientQuotasResponse(error_message=None, entries=entries)

    def alter_client_quotas(
        self, context: RequestContext, request: AlterClientQuotasRequest
    ) -> AlterClientQuotasResponse | Completion[AlterClientQuotasResponse]:
        """All legal entries, or for each what is wrong with it."""
        permitted = allowed(self._node, context, Operation.ALTER_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME)
        rows: list[ResponseEntryData] = []
        entries: list[tuple[QuotaEntity, list[tuple[str, float | None]]]] = []
        for entry in request.entries:
            error, text = ErrorCode.NONE, None
            if not permitted:
                error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            else:
                text = _quota_problem(entry)
                if text is not None:
                    error = ErrorCode.INVALID_REQUEST
            named = [ResponseEntityData(each.entity_type, each.entity_name) for each in entry.entity]
            rows.append(ResponseEntryData(error, text, named))
            if error == ErrorCode.NONE:
                entity = tuple(sorted(((each.entity_type, each.entity_name) for each in entry.entity), key=str))
                entries.append((entity, [(op.key, None if op.remove else op.value) for op in entry.ops]))
        response = AlterClientQuotasResponse(entries=rows)
        if not entries:
            return response
        return then(
            self._node.controller.run(
                lambda state: config_changes.alter_quotas(state.image, entries, validate_only=request.validate_only)
            ),
            lambda _: response,
        )


def _quota_problem(entry: Any) -> str | None:
    kinds = [each.entity_type for each in entry.entity]
    if not kinds or len(set(kinds)) != len(kinds) or not set(kinds) <= QUOTA_ENTITIES:
        return f"Unhandled client quota entity types {kinds}"
    for operation in entry.ops:
        if operation.key not in QUOTA_KEYS:
            return f"Invalid configuration key {operation.key}"
        if not operation.remove and operation.value <= 0:
            return f"Quota {operation.key} must be greater than 0"
    return None


def _quota_matches(entity: QuotaEntity, wanted: dict[str, tuple[int, str | None]], *, strict: bool) -> bool:
    parts = dict(entity)
    if strict and set(parts) != set(wanted):
        return False
    for kind, (match_type, match) in wanted.items():
        if kind not in parts:
            return False
        if match_type == MATCH_EXACT and parts[kind] != match:
            return False
        if match_type == MATCH_DEFAULT and parts[kind] is not None:
            return False
    return True
