"""Writes docs/configuration.md and docs/errors.md from the code: ``python docs/generate.py``. With ``--check`` it only
says whether they are current. A test runs the check, so that the pages cannot fall behind."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable

from pykclient.admin import results
from pykclient.config.reference import markdown as configuration_page
from pykclient.errors import broker, client, families
from pykclient.errors.families import BrokerError, KafkaError, default_message
from pykclient.net import failures

FOLDER = pathlib.Path(__file__).parent

ERRORS_HEAD = """# Errors

Every error this package raises is a `KafkaError`. Catch a family, or ask the error itself what to do next:

| attribute | meaning |
|---|---|
| `error.retriable` | the same call may succeed when made again later |
| `error.abortable` | in a transaction: abort it, and the producer can go on with the next one |
| `error.fatal` | close this client; it cannot go on |
| `error.action` | the same in full, as an `Action` |
| `error.topic`, `.partition`, `.node`, `.group_id`, ... | what it is about, where that is known |

The clients retry what can be retried by themselves: a retriable error that reaches you has used up its time.
Messages never hold keys, values or secrets. Made by `python docs/generate.py`.
"""


def errors_page() -> str:
    """The whole page."""
    families_named = [getattr(families, name) for name in families.__all__ if name != "Action"]
    ours = [getattr(client, name) for name in client.__all__]
    connection = [getattr(failures, name) for name in failures.__all__]
    codes = sorted((getattr(broker, name) for name in broker.__all__ if _is_error(broker, name)), key=lambda e: e.code)
    parts = [
        ERRORS_HEAD,
        _table("Families", "", families_named),
        _table(
            "No connection",
            "In `pykclient.net.failures`; all are `KafkaConnectionError`s that name host and port. "
            "`pykclient doctor` goes through the same causes one by one.",
            connection,
        ),
        _table("Raised by the client itself", "In `pykclient.errors`.", [*ours, results.PartialFailure]),
        _codes("Answers of the broker", codes),
    ]
    return "\n".join(parts)


def _is_error(module: object, name: str) -> bool:
    found = getattr(module, name)
    return isinstance(found, type) and issubclass(found, BrokerError) and "code" in found.__dict__


def _table(title: str, lead: str, classes: Iterable[type[KafkaError]]) -> str:
    rows = [f"| `{each.__name__}` | {_bases(each)} | {_marks(each)} | {_sentence(each)} |" for each in classes]
    head = "| class | is a | | meaning, and what to do |\n|---|---|---|---|"
    return "\n".join([f"## {title}\n", *([lead, ""] if lead else []), head, *rows, ""])


def _codes(title: str, classes: Iterable[type[BrokerError]]) -> str:
    rows = [f"| {each.code} | `{each.__name__}` | {_marks(each)} | {_sentence(each)} |" for each in classes]
    lead = "In `pykclient.errors`, under Kafka's own names; all are `BrokerError`s."
    head = "| code | class | | meaning, and what to do |\n|---|---|---|---|"
    return "\n".join([f"## {title}\n", lead, "", head, *rows, ""])


def _bases(error: type[KafkaError]) -> str:
    return ", ".join(f"`{base.__name__}`" for base in error.__bases__ if base is not object)


def _marks(error: type[KafkaError]) -> str:
    return ", ".join(name for name in ("retriable", "abortable", "fatal") if getattr(error, name))


def _sentence(error: type[KafkaError]) -> str:
    return default_message(error).replace("|", "\\|")


PAGES = {"configuration.md": configuration_page, "errors.md": errors_page}


def main(words: list[str]) -> int:
    """Write the pages, or with ``--check`` name those that are not current."""
    stale = []
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in words:
                path.write_text(text, encoding="utf-8")
    if "--check" in words and stale:
        sys.stderr.write(f"not current: {', '.join(stale)}; run python docs/generate.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
