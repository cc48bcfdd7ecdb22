"""Rights: create, describe, delete. Operations on the reactor thread; changes go to the controller.

Filters never widen by mistake: what a filter leaves out is sent as "any", never as an empty name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pykclient.admin.results import Results
from pykclient.admin.routing import Controller, Session, ask_once, check, fan_out, outcome_of
from pykclient.admin.types import Acl, AclFilter, AclOperation, AclPatternType, AclPermission, AclResourceType
from pykclient.client.engine import Operation
from pykclient.errors import KafkaError, broker_error
from pykclient.net.client_request import Request
from pykclient.protocol.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from pykclient.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from pykclient.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def create_acls(session: Session, acls: Iterable[Acl]) -> Operation[Results[Acl, None]]:
    """Grant or deny; one that is there already is no error."""

    def ask(items: list[Acl], node_id: int | None) -> Request[CreateAclsResponse]:
        message = CreateAclsRequest(
            creations=[
                AclCreation(
                    resource_type=acl.resource_type,
                    resource_name=acl.resource_name,
                    resource_pattern_type=acl.pattern,
                    principal=acl.principal,
                    host=acl.host,
                    operation=acl.operation,
                    permission_type=acl.permission,
                )
                for acl in items
            ]
        )
        return Request(message, node_id=node_id)

    def read(response: CreateAclsResponse, items: list[Acl]) -> dict[Acl, KafkaError | None]:
        # The answer names nothing: it is in the order of the request.
        return {
            acl: outcome_of(row.error_code, None, row.error_message)
            for acl, row in zip(items, response.results, strict=False)
        }

    return (yield from fan_out(session, acls, route=Controller(), ask=ask, read=read))


def _fields(wanted: AclFilter) -> dict[str, Any]:
    return {
        "resource_type_filter": wanted.resource_type,
        "resource_name_filter": wanted.resource_name,
        "pattern_type_filter": wanted.pattern,
        "principal_filter": wanted.principal,
        "host_filter": wanted.host,
        "operation": wanted.operation,
        "permission_type": wanted.permission,
    }


def describe_acls(session: Session, wanted: AclFilter) -> Operation[list[Acl]]:
    """The rights that match."""

    def read(response: DescribeAclsResponse) -> list[Acl]:
        check(response.error_code, response.error_message, api="DescribeAcls")
        return [
            Acl(
                row.principal,
                AclOperation(row.operation),
                AclResourceType(resource.resource_type),
                resource.resource_name,
                AclPermission(row.permission_type),
                AclPatternType(resource.pattern_type),
                row.host,
            )
            for resource in response.resources
            for row in resource.acls
        ]

    return (
        yield from ask_once(
            session,
            lambda node_id: Request[DescribeAclsResponse](DescribeAclsRequest(**_fields(wanted)), node_id=node_id),
            read,
        )
    )


def delete_acls(session: Session, filters: Iterable[AclFilter]) -> Operation[Results[AclFilter, list[Acl]]]:
    """Delete what matches each filter; the result lists what is gone."""

    def ask(items: list[AclFilter], node_id: int | None) -> Request[DeleteAclsResponse]:
        return Request(
            DeleteAclsRequest(filters=[DeleteAclsFilter(**_fields(each)) for each in items]), node_id=node_id
        )

    def read(response: DeleteAclsResponse, items: list[AclFilter]) -> dict[AclFilter, list[Acl] | KafkaError]:
        return {each: _deleted(row) for each, row in zip(items, response.filter_results, strict=False)}

    return (yield from fan_out(session, filters, route=Controller(), ask=ask, read=read))


def _deleted(result: Any) -> list[Acl] | KafkaError:
    if result.error_code:
        return broker_error(result.error_code, result.error_message)
    gone = []
    for row in result.matching_acls:
        if row.error_code:
            return broker_error(row.error_code, row.error_message)
        gone.append(
            Acl(
                row.principal,
                AclOperation(row.operation),
                AclResourceType(row.resource_type),
                row.resource_name,
                AclPermission(row.permission_type),
                AclPatternType(row.pattern_type),
                row.host,
            )
        )
    return gone
