"""Kafka's ACL semantics, as a table of who is let in."""

from __future__ import annotations

import pytest

from pykclient.broker.authorizer import (
    AclBinding,
    AclFilter,
    Authorizer,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from pykclient.broker.request import Principal

ALICE = Principal("User", "alice")
BOB = Principal("User", "bob")
HOST = "127.0.0.1"


def acl(
    operation: Operation,
    name: str = "orders",
    *,
    principal: str = "User:alice",
    permission: Permission = Permission.ALLOW,
    pattern: PatternType = PatternType.LITERAL,
    host: str = "*",
    resource: ResourceType = ResourceType.TOPIC,
) -> AclBinding:
    return AclBinding(resource, name, pattern, principal, host, operation, permission)


def authorizer(*bindings: AclBinding, **options: object) -> Authorizer:
    result = Authorizer(enabled=True, **options)  # type: ignore[arg-type]
    result.set_bindings(bindings)
    return result


def may(subject: Authorizer, operation: Operation, name: str = "orders", who: Principal = ALICE) -> bool:
    return subject.allows(who, HOST, operation, ResourceType.TOPIC, name)


def test_switched_off_allows_everything() -> None:
    assert may(Authorizer(enabled=False), Operation.DELETE)


def test_without_a_binding_nothing_is_allowed_unless_configured() -> None:
    assert not may(authorizer(), Operation.READ)
    assert may(authorizer(allow_when_no_acl_found=True), Operation.READ)
    elsewhere = authorizer(acl(Operation.READ, principal="User:bob"), allow_when_no_acl_found=True)
    assert not may(elsewhere, Operation.READ), "a binding on the resource ends the allow-by-default"


def test_super_users_pass_even_a_deny() -> None:
    denied = acl(Operation.ALL, permission=Permission.DENY)
    assert may(authorizer(denied, super_users=["User:alice"]), Operation.WRITE)


@pytest.mark.parametrize("implying", [Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER])
def test_describe_is_implied_by_an_allow_but_not_denied_by_its_deny(implying: Operation) -> None:
    assert may(authorizer(acl(implying)), Operation.DESCRIBE)
    subject = authorizer(acl(Operation.DESCRIBE), acl(implying, permission=Permission.DENY))
    assert may(subject, Operation.DESCRIBE)
    assert not may(subject, implying)


def test_alter_configs_implies_describe_configs_and_not_the_other_way() -> None:
    assert may(authorizer(acl(Operation.ALTER_CONFIGS)), Operation.DESCRIBE_CONFIGS)
    assert not may(authorizer(acl(Operation.DESCRIBE_CONFIGS)), Operation.ALTER_CONFIGS)


def test_deny_beats_allow_whatever_their_patterns() -> None:
    subject = authorizer(
        acl(Operation.ALL, "*"), acl(Operation.WRITE, "ord", pattern=PatternType.PREFIXED, permission=Permission.DENY)
    )
    assert not may(subject, Operation.WRITE)
    assert may(subject, Operation.READ)
    assert may(subject, Operation.WRITE, "invoices")


def test_prefixed_wildcard_and_literal_names() -> None:
    subject = authorizer(acl(Operation.READ, "team-", pattern=PatternType.PREFIXED))
    assert may(subject, Operation.READ, "team-a")
    assert not may(subject, Operation.READ, "tea")
    literal = authorizer(acl(Operation.READ, "team"))
    assert not may(literal, Operation.READ, "team-a")
    assert may(authorizer(acl(Operation.READ, "*")), Operation.READ, "whatever")
    assert not may(authorizer(acl(Operation.READ, "*", pattern=PatternType.PREFIXED)), Operation.READ, "whatever")


def test_principal_and_host_must_match() -> None:
    assert not may(authorizer(acl(Operation.READ)), Operation.READ, who=BOB)
    assert may(authorizer(acl(Operation.READ, principal="User:*")), Operation.READ, who=BOB)
    assert not may(authorizer(acl(Operation.READ, host="10.0.0.1")), Operation.READ)
    assert may(authorizer(acl(Operation.READ, host=HOST)), Operation.READ)


def test_resource_types_do_not_mix() -> None:
    subject = authorizer(acl(Operation.READ, resource=ResourceType.GROUP))
    assert not may(subject, Operation.READ)
    assert subject.allows(ALICE, HOST, Operation.READ, ResourceType.GROUP, "orders")


def test_any_resource_is_found_unless_a_deny_covers_all_of_it() -> None:
    def any_topic(*bindings: AclBinding) -> bool:
        return authorizer(*bindings).allows_on_any(ALICE, HOST, Operation.WRITE, ResourceType.TOPIC)

    allow = acl(Operation.WRITE, "orders-eu")
    assert any_topic(allow)
    assert not any_topic(acl(Operation.READ, "orders-eu"))
    assert not any_topic(allow, acl(Operation.WRITE, "*", permission=Permission.DENY))
    prefix_deny = acl(Operation.WRITE, "orders", pattern=PatternType.PREFIXED, permission=Permission.DENY)
    assert not any_topic(allow, prefix_deny)
    assert any_topic(allow, acl(Operation.WRITE, "x", pattern=PatternType.PREFIXED, permission=Permission.DENY))


def test_authorized_operations_is_a_bit_field_of_what_is_allowed() -> None:
    subject = authorizer(acl(Operation.READ))
    bits = subject.authorized_operations(ALICE, HOST, ResourceType.TOPIC, "orders")
    assert bits == (1 << Operation.READ) | (1 << Operation.DESCRIBE)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (AclFilter(), {"a", "b", "c"}),
        (AclFilter(resource_name="orders"), {"a"}),
        (AclFilter(resource_name="orders", pattern_type=PatternType.MATCH), {"a", "b", "c"}),
        (AclFilter(resource_name="ord", pattern_type=PatternType.PREFIXED), {"b"}),
        (AclFilter(pattern_type=PatternType.LITERAL), {"a", "c"}),
        (AclFilter(operation=Operation.WRITE), {"b"}),
        (AclFilter(principal="User:bob"), {"c"}),
        (AclFilter(permission=Permission.DENY), set()),
        (AclFilter(resource_type=ResourceType.GROUP), set()),
        (AclFilter(host="10.9.9.9"), set()),
    ],
)
def test_filters(wanted: AclFilter, expected: set[str]) -> None:
    bindings = {
        "a": acl(Operation.READ),
        "b": acl(Operation.WRITE, "ord", pattern=PatternType.PREFIXED),
        "c": acl(Operation.READ, "*", principal="User:bob"),
    }
    assert {label for label, binding in bindings.items() if wanted.matches(binding)} == expected
