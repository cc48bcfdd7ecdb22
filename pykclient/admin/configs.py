"""Configurations of topics, brokers, groups and loggers: describe them, and change single options.

Operations on the reactor thread. A change names the options it touches; all others stay (KIP-339).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pykclient.admin.results import Results
from pykclient.admin.routing import Brokers, Session, ask_once, check, fan_out, outcome_of
from pykclient.admin.topics import text_of
from pykclient.admin.types import (
    Append,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    Subtract,
)
from pykclient.client.engine import Operation
from pykclient.errors import KafkaError
from pykclient.net.client_request import Request
from pykclient.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from pykclient.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from pykclient.protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse

SET, DELETE, APPEND, SUBTRACT = range(4)
ConfigChange = str | int | float | bool | Append | Subtract | None


def _own_broker(resource: ConfigResource) -> int | None:
    """A broker answers for itself; any broker answers for all else."""
    if resource.type in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER) and resource.name:
        return int(resource.name)
    return None


def describe_configs(
    session: Session,
    resources: Iterable[ConfigResource],
    *,
    names: Iterable[str] | None,
    include_synonyms: bool,
    include_documentation: bool,
) -> Operation[Results[ConfigResource, dict[str, ConfigEntry]]]:
    """The options of each resource by name; ``names`` picks some."""
    keys = None if names is None else list(names)

    def ask(items: list[ConfigResource], node_id: int | None) -> Request[DescribeConfigsResponse]:
        message = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(resource_type=item.type, resource_name=item.name, configuration_keys=keys)
                for item in items
            ],
            include_synonyms=include_synonyms,
            include_documentation=include_documentation,
        )
        return Request(message, node_id=node_id, version_min=3 if include_documentation else 0)

    def read(
        response: DescribeConfigsResponse, items: list[ConfigResource]
    ) -> dict[ConfigResource, dict[str, ConfigEntry] | KafkaError]:
        return {
            ConfigResource(ConfigResourceType(row.resource_type), row.resource_name): outcome_of(
                row.error_code, {each.name: _entry(each) for each in row.configs}, row.error_message
            )
            for row in response.results
        }

    return (yield from fan_out(session, resources, route=Brokers(_own_broker), ask=ask, read=read))


def _entry(row: DescribeConfigsResourceResult) -> ConfigEntry:
    return ConfigEntry(
        row.name,
        row.value,
        ConfigSource(row.config_source),
        row.read_only,
        row.is_sensitive,
        tuple((each.name, each.value, ConfigSource(each.source)) for each in row.synonyms),
        row.documentation,
    )


def alter_configs(
    session: Session,
    changes: Mapping[ConfigResource, Mapping[str, ConfigChange]],
    *,
    validate_only: bool,
) -> Operation[Results[ConfigResource, None]]:
    """Set options; None takes one back to its default, Append and Subtract change lists."""

    def ask(items: list[ConfigResource], node_id: int | None) -> Request[IncrementalAlterConfigsResponse]:
        message = IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=item.type,
                    resource_name=item.name,
                    configs=[_change(name, value) for name, value in changes[item].items()],
                )
                for item in items
            ],
            validate_only=validate_only,
        )
        return Request(message, node_id=node_id)

    def read(
        response: IncrementalAlterConfigsResponse, items: list[ConfigResource]
    ) -> dict[ConfigResource, KafkaError | None]:
        return {
            ConfigResource(ConfigResourceType(row.resource_type), row.resource_name): outcome_of(
                row.error_code, None, row.error_message
            )
            for row in response.responses
        }

    return (yield from fan_out(session, changes, route=Brokers(_own_broker), ask=ask, read=read))


def _change(name: str, value: ConfigChange) -> AlterableConfig:
    if value is None:
        return AlterableConfig(name=name, config_operation=DELETE, value=None)
    if isinstance(value, Append):
        return AlterableConfig(name=name, config_operation=APPEND, value=value.value)
    if isinstance(value, Subtract):
        return AlterableConfig(name=name, config_operation=SUBTRACT, value=value.value)
    return AlterableConfig(name=name, config_operation=SET, value=text_of(value))


def list_config_resources(session: Session, types: Iterable[ConfigResourceType]) -> Operation[list[ConfigResource]]:
    """What has a configuration of its own; all kinds when none is named."""
    wanted = [int(each) for each in types]

    def read(response: ListConfigResourcesResponse) -> list[ConfigResource]:
        check(response.error_code, api="ListConfigResources")
        return [
            ConfigResource(ConfigResourceType(row.resource_type), row.resource_name)
            for row in response.config_resources
        ]

    return (
        yield from ask_once(
            session,
            lambda node_id: Request[ListConfigResourcesResponse](
                ListConfigResourcesRequest(resource_types=wanted), node_id=node_id, version_min=1
            ),
            read,
        )
    )
