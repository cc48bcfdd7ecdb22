"""Who may do what: Kafka's ACL semantics over an immutable set of bindings.

Runs on the broker node's thread, which hands it the bindings of the current metadata image. Pure: no I/O, no clock,
and it must never raise for a request that is merely not allowed. Switched off it allows everything, as a Kafka
without an authorizer does.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pykclient.broker.request import Principal

WILDCARD = "*"
CLUSTER_NAME = "kafka-cluster"


class ResourceType(enum.IntEnum):
    """What an ACL is about; numbers as on the wire."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Operation(enum.IntEnum):
    """What somebody wants to do; numbers as on the wire."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class PatternType(enum.IntEnum):
    """How a binding's name is compared; ANY and MATCH are for filters only."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(enum.IntEnum):
    """What a binding says; numbers as on the wire."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


# An ALLOW for one of the operations on the right allows the one on the left too. A DENY implies nothing.
IMPLIED_BY: dict[Operation, frozenset[Operation]] = {
    Operation.DESCRIBE: frozenset({Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.ALTER_CONFIGS}),
}

SUPPORTED_OPERATIONS: dict[ResourceType, tuple[Operation, ...]] = {
    ResourceType.TOPIC: (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (
        Operation.READ,
        Operation.DELETE,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.CLUSTER: (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE, Operation.TWO_PHASE_COMMIT),
    ResourceType.DELEGATION_TOKEN: (Operation.DESCRIBE,),
    ResourceType.USER: (Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS),
}


@dataclass(frozen=True, slots=True, order=True)
class AclBinding:
    """One rule: who, from where, may or may not do what on which resource."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission

    def concerns(self, resource_type: ResourceType, name: str) -> bool:
        """Whether it is about this resource."""
        if self.resource_type != resource_type:
            return False
        if self.pattern_type == PatternType.PREFIXED:
            return name.startswith(self.resource_name)
        return self.resource_name in (name, WILDCARD)

    def speaks_of(self, principal: str, host: str) -> bool:
        """Whether it is about this principal coming from this host."""
        return self.principal in (principal, "User:*") and self.host in (host, WILDCARD)


@dataclass(frozen=True, slots=True)
class AclFilter:
    """A pattern over bindings, as DescribeAcls and DeleteAcls send it; None matches anything."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    def matches(self, binding: AclBinding) -> bool:
        """Whether the binding is one that the filter asks for."""
        return (
            self.resource_type in (ResourceType.ANY, binding.resource_type)
            and self._matches_name(binding)
            and self.principal in (None, binding.principal)
            and self.host in (None, binding.host)
            and self.operation in (Operation.ANY, binding.operation)
            and self.permission in (Permission.ANY, binding.permission)
        )

    def _matches_name(self, binding: AclBinding) -> bool:
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, binding.pattern_type):
            return False
        if self.resource_name is None:
            return True
        if self.pattern_type == PatternType.MATCH:
            return binding.concerns(binding.resource_type, self.resource_name)
        return self.resource_name == binding.resource_name


class Authorizer:
    """Answers ``allows``; holds the bindings of one metadata image at a time."""

    def __init__(
        self, *, enabled: bool = False, super_users: Iterable[str] = (), allow_when_no_acl_found: bool = False
    ) -> None:
        self.enabled = enabled
        self._super_users = frozenset(super_users)
        self._allow_when_no_acl_found = allow_when_no_acl_found
        self._bindings: Sequence[AclBinding] = ()

    def set_bindings(self, bindings: Sequence[AclBinding]) -> None:
        """Take the bindings of a new metadata image."""
        self._bindings = bindings

    def allows(
        self, principal: Principal, host: str, operation: Operation, resource_type: ResourceType, name: str
    ) -> bool:
        """DENY beats ALLOW; no binding for the resource means no unless configured; super users may do everything."""
        who = str(principal)
        if not self.enabled or who in self._super_users:
            return True
        concerning = [binding for binding in self._bindings if binding.concerns(resource_type, name)]
        if not concerning:
            return self._allow_when_no_acl_found
        ours = [binding for binding in concerning if binding.speaks_of(who, host)]
        if any(b.permission == Permission.DENY and b.operation in (operation, Operation.ALL) for b in ours):
            return False
        wanted = {operation, Operation.ALL} | IMPLIED_BY.get(operation, frozenset())
        return any(b.permission == Permission.ALLOW and b.operation in wanted for b in ours)

    def allows_on_any(self, principal: Principal, host: str, operation: Operation, resource_type: ResourceType) -> bool:
        """Whether some resource of this type could be used: what an idempotent InitProducerId asks about topics."""
        who = str(principal)
        if not self.enabled or who in self._super_users or self._allow_when_no_acl_found:
            return True
        wanted = {operation, Operation.ALL} | IMPLIED_BY.get(operation, frozenset())
        ours = [b for b in self._bindings if b.resource_type == resource_type and b.speaks_of(who, host)]
        denies = [b for b in ours if b.permission == Permission.DENY and b.operation in (operation, Operation.ALL)]
        return any(
            binding.permission == Permission.ALLOW
            and binding.operation in wanted
            and not any(_dominates(deny, binding) for deny in denies)
            for binding in ours
        )

    def authorized_operations(self, principal: Principal, host: str, resource_type: ResourceType, name: str) -> int:
        """The bit field of the operations that this principal may do on the resource."""
        bits = 0
        for operation in SUPPORTED_OPERATIONS[resource_type]:
            if self.allows(principal, host, operation, resource_type, name):
                bits |= 1 << operation
        return bits


def _dominates(deny: AclBinding, allow: AclBinding) -> bool:
    """Whether everything that ``allow`` covers is covered by ``deny``."""
    if deny.pattern_type == PatternType.PREFIXED:
        return allow.resource_name.startswith(deny.resource_name)
    if deny.resource_name == WILDCARD:
        return True
    return allow.pattern_type == PatternType.LITERAL and allow.resource_name == deny.resource_name
