"""``pykclient acls``: show, grant and take away rights. Runs on the command's thread."""

from __future__ import annotations

import argparse
import enum

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import Acl, AclFilter, AclOperation, AclPatternType, AclPermission, AclResourceType
from pykclient.cli.actions import add_actions, report, report_errors, run_action
from pykclient.cli.screen import print_json, table
from pykclient.cli.usage import Usage, confirmed

EXAMPLES = """\
  pykclient acls list --topic orders
  pykclient acls add --principal User:alice --operation read --topic orders
  pykclient acls add --principal User:b --operation write --topic a- --prefixed
  pykclient acls delete --principal User:alice --yes"""

OPERATIONS = [each.name.lower().replace("_", "-") for each in AclOperation if each > AclOperation.ANY]
OPERATION_HELP = f"one of {', '.join(OPERATIONS)}"
CLUSTER_NAME = "kafka-cluster"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions."""
    add_actions(
        parser,
        [
            ("list", "the rights that match; all without filters", _filter_arguments, _list),
            ("add", "grant rights, or deny them", _add_arguments, _add),
            ("delete", "take away the rights that match", _delete_arguments, _delete),
        ],
    )


def run(arguments: argparse.Namespace) -> int:
    """Do the action."""
    return run_action(arguments)


def _resource_arguments(parser: argparse.ArgumentParser, *, required: bool) -> None:
    # argparse does not break the line inside such a group, and the screen has 80 columns.
    what = "--topic NAME | --group NAME | --transactional-id NAME | --cluster"
    rights = "--principal User:NAME --operation NAME" if required else "[--principal User:NAME] [--operation NAME]"
    parser.usage = f"%(prog)s {rights} ...\n         {f'({what})' if required else f'[{what}]'}"
    resource = parser.add_mutually_exclusive_group(required=required)
    resource.add_argument("--topic", metavar="NAME")
    resource.add_argument("--group", metavar="NAME")
    resource.add_argument("--transactional-id", metavar="NAME")
    resource.add_argument("--cluster", action="store_true")
    parser.add_argument("--host", help="from this address only")
    parser.add_argument("--deny", action="store_true", help="a denial, which is stronger than any right")


def _filter_arguments(parser: argparse.ArgumentParser) -> None:
    _resource_arguments(parser, required=False)
    parser.add_argument("--principal", metavar="User:NAME")
    parser.add_argument("--operation", choices=OPERATIONS, metavar="NAME", help=OPERATION_HELP)
    parser.add_argument("--prefixed", action="store_true", help="only rights on prefixes")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    _resource_arguments(parser, required=True)
    parser.add_argument("--principal", required=True, metavar="User:NAME")
    parser.add_argument(
        "--operation",
        choices=OPERATIONS,
        action="append",
        required=True,
        metavar="NAME",
        help=f"{OPERATION_HELP}; may be repeated",
    )
    parser.add_argument("--prefixed", action="store_true", help="for all names that start like this")


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    _filter_arguments(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _resource(arguments: argparse.Namespace) -> tuple[AclResourceType, str] | None:
    if arguments.topic is not None:
        return AclResourceType.TOPIC, arguments.topic
    if arguments.group is not None:
        return AclResourceType.GROUP, arguments.group
    if arguments.transactional_id is not None:
        return AclResourceType.TRANSACTIONAL_ID, arguments.transactional_id
    return (AclResourceType.CLUSTER, CLUSTER_NAME) if arguments.cluster else None


def _filter(arguments: argparse.Namespace) -> AclFilter:
    resource = _resource(arguments)
    return AclFilter(
        principal=arguments.principal,
        operation=AclOperation.ANY if arguments.operation is None else _operation(arguments.operation),
        resource_type=AclResourceType.ANY if resource is None else resource[0],
        resource_name=None if resource is None else resource[1],
        permission=AclPermission.DENY if arguments.deny else AclPermission.ANY,
        pattern=AclPatternType.PREFIXED if arguments.prefixed else AclPatternType.ANY,
        host=arguments.host,
    )


def _operation(word: str) -> AclOperation:
    return AclOperation[word.upper().replace("-", "_")]


def _list(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    return _show(admin.describe_acls(_filter(arguments)), arguments)


def _show(acls: list[Acl], arguments: argparse.Namespace) -> int:
    ordered = sorted(acls, key=lambda acl: (acl.resource_type, acl.resource_name, acl.principal, acl.operation))
    if arguments.json:
        print_json(ordered)
        return 0
    rows = [
        (
            acl.principal,
            _word(acl.permission),
            _word(acl.operation),
            _word(acl.resource_type),
            acl.resource_name + ("*" if acl.pattern is AclPatternType.PREFIXED else ""),
            acl.host,
        )
        for acl in ordered
    ]
    table(("principal", "permission", "operation", "resource", "name", "host"), rows)
    return 0


def _word(member: enum.Enum) -> str:
    return member.name.lower().replace("_", "-")


def _add(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    resource = _resource(arguments)
    assert resource is not None, "the parser requires one"
    if ":" not in arguments.principal:
        raise Usage(f"--principal {arguments.principal!r}: write User:{arguments.principal}")
    new = [
        Acl(
            arguments.principal,
            _operation(word),
            resource[0],
            resource[1],
            AclPermission.DENY if arguments.deny else AclPermission.ALLOW,
            AclPatternType.PREFIXED if arguments.prefixed else AclPatternType.LITERAL,
            arguments.host or "*",
        )
        for word in arguments.operation
    ]
    verb = "denied" if arguments.deny else "allowed"
    return report(
        admin.create_acls(new),
        arguments,
        lambda acl, _: (
            f"{acl.principal}: {_word(acl.operation)} on {_word(acl.resource_type)} {acl.resource_name} {verb}"
        ),
    )


def _delete(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    wanted = _filter(arguments)
    matching = admin.describe_acls(wanted)
    if not matching:
        return _show([], arguments) if arguments.json else _nothing()
    if not confirmed(f"delete {len(matching)} rights?", yes=arguments.yes):
        return 1
    results = admin.delete_acls(wanted)
    gone = [acl for acls in results.succeeded.values() for acl in acls]
    _show(gone, arguments)
    return report_errors(results.errors, arguments)


def _nothing() -> int:
    print("no right matches")
    return 0
