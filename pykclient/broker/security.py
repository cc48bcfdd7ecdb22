"""ACLs and SCRAM users as clients ask for them: create, delete and describe.

Reads the node's image and sends changes to the controller. Runs on the node's thread and never blocks. Passwords
never come here: clients send salted ones, and what is stored cannot be turned back into them.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from pykclient.broker import config_changes
from pykclient.broker.authorizer import (
    CLUSTER_NAME,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from pykclient.broker.config_changes import Outcome
from pykclient.broker.node_view import NodeView, allowed, then
from pykclient.broker.request import RequestContext
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.net.scram import ScramCredential
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from pykclient.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from pykclient.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from pykclient.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from pykclient.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

SCRAM_HASHES = {1: "sha256", 2: "sha512"}
SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384
CLUSTER_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


class SecurityAdmin:
    """The room."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.CREATE_ACLS: "create_acls",
        ApiKey.DELETE_ACLS: "delete_acls",
        ApiKey.DESCRIBE_ACLS: "describe_acls",
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS: "alter_user_scram_credentials",
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: "describe_user_scram_credentials",
    }

    def __init__(self, node: NodeView) -> None:
        self._node = node

    def create_acls(
        self, context: RequestContext, request: CreateAclsRequest
    ) -> CreateAclsResponse | Completion[CreateAclsResponse]:
        """One result per binding, in order."""
        refusal = self._refusal(context, Operation.ALTER)
        if refusal is not None:
            rows = [AclCreationResult(*refusal) for _ in request.creations]
            return CreateAclsResponse(results=rows)
        bindings: list[AclBinding] = []
        results: list[AclCreationResult] = []
        for creation in request.creations:
            try:
                bindings.append(_binding(creation))
            except ValueError as error:
                results.append(AclCreationResult(ErrorCode.INVALID_REQUEST, str(error)))
            else:
                results.append(AclCreationResult(error_message=None))
        response = CreateAclsResponse(results=results)
        return then(self._node.controller.run(lambda _: config_changes.create_acls(bindings)), lambda _: response)

    def delete_acls(
        self, context: RequestContext, request: DeleteAclsRequest
    ) -> DeleteAclsResponse | Completion[DeleteAclsResponse]:
        """For each filter what it removed."""
        refusal = self._refusal(context, Operation.ALTER)
        if refusal is not None:
            return DeleteAclsResponse(filter_results=[DeleteAclsFilterResult(*refusal) for _ in request.filters])
        filters: list[AclFilter] = []
        results: list[DeleteAclsFilterResult] = []
        valid: list[DeleteAclsFilterResult] = []
        for each in request.filters:
            result = DeleteAclsFilterResult(error_message=None)
            results.append(result)
            try:
                filters.append(_filter(each))
            except ValueError as error:
                result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, str(error)
            else:
                valid.append(result)

        def answer(removed: list[list[AclBinding]]) -> DeleteAclsResponse:
            for result, bindings in zip(valid, removed, strict=True):
                result.matching_acls = [_matching(binding) for binding in bindings]
            return DeleteAclsResponse(filter_results=results)

        return then(self._node.controller.run(lambda state: config_changes.delete_acls(state.image, filters)), answer)

    def describe_acls(self, context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
        """The bindings that match, grouped by resource."""
        refusal = self._refusal(context, Operation.DESCRIBE)
        if refusal is not None:
            return DescribeAclsResponse(error_code=refusal[0], error_message=refusal[1])
        try:
            wanted = _filter(request)
        except ValueError as error:
            return DescribeAclsResponse(error_code=ErrorCode.INVALID_REQUEST, error_message=str(error))
        found = [binding for binding in self._node.image.acls if wanted.matches(binding)]
        resources = [
            DescribeAclsResource(*resource, [_description(binding) for binding in bindings])
            for resource, bindings in groupby(found, key=lambda b: (b.resource_type, b.resource_name, b.pattern_type))
        ]
        return DescribeAclsResponse(error_message=None, resources=resources)

    def _refusal(self, context: RequestContext, operation: Operation) -> Outcome | None:
        if not self._node.authorizer.enabled:
            return ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker."
        if not allowed(self._node, context, operation, ResourceType.CLUSTER, CLUSTER_NAME):
            return CLUSTER_DENIED, None
        return None

    # ---- SCRAM users ----

    def alter_user_scram_credentials(
        self, context: RequestContext, request: AlterUserScramCredentialsRequest
    ) -> AlterUserScramCredentialsResponse | Completion[AlterUserScramCredentialsResponse]:
        """One result per user; a user with anything wrong is not touched at all."""
        users = dict.fromkeys([*(d.name for d in request.deletions), *(u.name for u in request.upsertions)])
        if not allowed(self._node, context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
            rows = [AlterUserScramCredentialsResult(user, CLUSTER_DENIED, None) for user in users]
            return AlterUserScramCredentialsResponse(results=rows)
        problems = _scram_problems(request)
        deletions = [(d.name, d.mechanism) for d in request.deletions if d.name not in problems]
        upsertions = [
            (u.name, u.mechanism, credential_from_salted(u.mechanism, u.salt, u.salted_password, u.iterations))
            for u in request.upsertions
            if u.name not in problems
        ]

        def answer(outcomes: dict[str, Outcome]) -> AlterUserScramCredentialsResponse:
            results = {**outcomes, **problems}
            rows = [AlterUserScramCredentialsResult(user, *results[user]) for user in users]
            return AlterUserScramCredentialsResponse(results=rows)

        return then(
            self._node.controller.run(lambda state: config_changes.alter_scram(state.image, deletions, upsertions)),
            answer,
        )

    def describe_user_scram_credentials(
        self, context: RequestContext, request: DescribeUserScramCredentialsRequest
    ) -> DescribeUserScramCredentialsResponse:
        """Which mechanisms each user has; never the keys."""
        if not allowed(self._node, context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
            return DescribeUserScramCredentialsResponse(error_code=CLUSTER_DENIED, error_message=None)
        stored: dict[str, list[CredentialInfo]] = {}
        for (user, mechanism), credential in sorted(self._node.image.scram.items()):
            stored.setdefault(user, []).append(CredentialInfo(mechanism, credential.iterations))
        asked = [each.name for each in request.users] if request.users else list(stored)
        results = []
        for user in dict.fromkeys(asked):
            result = DescribeUserScramCredentialsResult(user, error_message=None)
            if asked.count(user) > 1:
                result.error_code = ErrorCode.DUPLICATE_RESOURCE
                result.error_message = "Cannot describe SCRAM credentials for the same user twice in a single request"
            elif user not in stored:
                result.error_code = ErrorCode.RESOURCE_NOT_FOUND
                result.error_message = "Attempt to describe a user credential that does not exist"
            else:
                result.credential_infos = stored[user]
            results.append(result)
        return DescribeUserScramCredentialsResponse(error_message=None, results=results)


def credential_from_salted(mechanism: int, salt: bytes, salted_password: bytes, iterations: int) -> ScramCredential:
    """What to store, from the salted password (RFC 5802)."""
    name = SCRAM_HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    return ScramCredential(bytes(salt), iterations, stored_key, hmac.digest(salted_password, b"Server Key", name))


def _scram_problems(request: AlterUserScramCredentialsRequest) -> dict[str, Outcome]:
    problems: dict[str, Outcome] = {}
    seen: set[str] = set()
    items: list[ScramCredentialDeletion | ScramCredentialUpsertion] = [*request.deletions, *request.upsertions]
    for item in items:
        if not item.name:
            problems[item.name] = (ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
        elif item.mechanism not in SCRAM_HASHES:
            problems[item.name] = (ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
        elif item.name in seen:
            text = "A user credential cannot be altered twice in the same request"
            problems[item.name] = (ErrorCode.DUPLICATE_RESOURCE, text)
        seen.add(item.name)
    for upsertion in request.upsertions:
        if upsertion.name in problems:
            continue
        if not ITERATIONS_MIN <= upsertion.iterations <= ITERATIONS_MAX:
            text = f"Iterations must be between {ITERATIONS_MIN} and {ITERATIONS_MAX}"
            problems[upsertion.name] = (ErrorCode.UNACCEPTABLE_CREDENTIAL, text)
        elif not upsertion.salt or not upsertion.salted_password:
            problems[upsertion.name] = (
                ErrorCode.UNACCEPTABLE_CREDENTIAL,
                "The salt and the salted password are needed",
            )
    return problems


def _binding(creation: AclCreation) -> AclBinding:
    resource_type = ResourceType(creation.resource_type)
    pattern = PatternType(creation.resource_pattern_type)
    operation = Operation(creation.operation)
    permission = Permission(creation.permission_type)
    if resource_type in (ResourceType.UNKNOWN, ResourceType.ANY):
        raise ValueError("The resource type must be one resource type")
    if pattern not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise ValueError("The pattern type must be LITERAL or PREFIXED")
    if operation in (Operation.UNKNOWN, Operation.ANY):
        raise ValueError("The operation must be one operation")
    if permission not in (Permission.ALLOW, Permission.DENY):
        raise ValueError("The permission must be ALLOW or DENY")
    if resource_type == ResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        raise ValueError(f"The only name of a cluster resource is {CLUSTER_NAME}")
    if not creation.resource_name:
        raise ValueError("The resource name must not be empty")
    if not creation.principal.partition(":")[2]:
        raise ValueError("The principal must look like User:name")
    return AclBinding(
        resource_type, creation.resource_name, pattern, creation.principal, creation.host, operation, permission
    )


def _filter(asked: Any) -> AclFilter:
    """From a DescribeAcls request or an item of DeleteAcls, which have the same fields."""
    wanted = AclFilter(
        ResourceType(asked.resource_type_filter),
        asked.resource_name_filter,
        PatternType(asked.pattern_type_filter),
        asked.principal_filter,
        asked.host_filter,
        Operation(asked.operation),
        Permission(asked.permission_type),
    )
    if 0 in (wanted.resource_type, wanted.pattern_type, wanted.operation, wanted.permission):
        raise ValueError("The filter has an UNKNOWN element")
    return wanted


def _matching(binding: AclBinding) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=binding.resource_type,
        resource_name=binding.resource_name,
        pattern_type=binding.pattern_type,
        principal=binding.principal,
        host=binding.host,
        operation=binding.operation,
        permission_type=binding.permission,
    )


def _description(binding: AclBinding) -> AclDescription:
    return AclDescription(binding.principal, binding.host, binding.operation, binding.permission)
