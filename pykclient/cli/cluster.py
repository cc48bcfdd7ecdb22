"""``pykclient cluster``: brokers, features, the controllers' quorum and disks. Runs on the command's thread."""

from __future__ import annotations

import argparse

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import LogDir
from pykclient.cli.actions import report_errors
from pykclient.cli.connect import add_connection, admin_client
from pykclient.cli.screen import print_json, table
from pykclient.cli.usage import shown_time

EXAMPLES = """\
  pykclient cluster brokers
  pykclient cluster features
  pykclient cluster quorum
  pykclient cluster disks --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to show."""
    parser.add_argument(
        "what",
        nargs="?",
        default="brokers",
        choices=("brokers", "features", "quorum", "disks"),
        help="what to show (default: %(default)s)",
    )
    add_connection(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show it."""
    with admin_client(arguments) as admin:
        show = {"brokers": _brokers, "features": _features, "quorum": _quorum, "disks": _disks}[arguments.what]
        return show(admin, arguments)


def _brokers(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    cluster = admin.describe_cluster()
    controller = None if cluster.controller is None else cluster.controller.id
    if arguments.json:
        brokers = [node._asdict() for node in cluster.brokers]
        print_json({"cluster_id": cluster.cluster_id, "controller": controller, "brokers": brokers})
        return 0
    rows = [
        (node.id, f"{node.host}:{node.port}", node.rack, "controller" if node.id == controller else None)
        for node in sorted(cluster.brokers)
    ]
    table(("id", "address", "rack", "role"), rows, title=f"cluster {cluster.cluster_id or 'without an id'}")
    return 0


def _features(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    features = admin.describe_features()
    if arguments.json:
        print_json(features)
        return 0
    names = sorted({*features.finalized, *features.supported})
    rows = []
    for name in names:
        low, high = features.supported.get(name, (None, None))
        rows.append((name, features.finalized.get(name), low, high))
    table(("feature", "in force", "lowest", "highest"), rows)
    return 0


def _quorum(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    quorum = admin.describe_quorum()
    if arguments.json:
        print_json(quorum)
        return 0
    rows = []
    for role, replicas in (("voter", quorum.voters), ("observer", quorum.observers)):
        for each in replicas:
            name = "leader" if each.node_id == quorum.leader_id else role
            behind = quorum.high_watermark - each.log_end_offset
            rows.append((each.node_id, name, each.log_end_offset, max(behind, 0), shown_time(each.last_caught_up)))
    title = f"leader {quorum.leader_id}, epoch {quorum.leader_epoch}, high watermark {quorum.high_watermark:,}"
    table(("id", "role", "log end", "behind", "last caught up"), rows, title=title)
    return 0


def _disks(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    results = admin.describe_log_dirs()
    rows: list[tuple[object, ...]] = []
    for broker, directories in sorted(results.succeeded.items()):
        for path, directory in sorted(directories.items()):
            if isinstance(directory, LogDir):
                used = sum(replica.size for replica in directory.replicas.values())
                rows.append((broker, path, len(directory.replicas), used, directory.usable_bytes, None))
            else:
                rows.append((broker, path, None, None, None, str(directory)))
    keys = ("broker", "path", "replicas", "bytes", "free_bytes", "error")
    if arguments.json:
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
    else:
        table(("broker", "directory", "replicas", "bytes", "free bytes", "error"), rows)
    return report_errors(results.errors, arguments)
