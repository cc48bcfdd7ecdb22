"""Writes ``aio/admin.py`` from the blocking admin client: ``python -m pykclient.aio.generate_admin [--check]``.

Every call of KafkaAdminClient is one line over an operation (a unit test holds it to that), so its awaited twin is the
same text with ``async`` and ``await`` in two places. Written out and committed, so that editors and type checkers see
real signatures.
"""

from __future__ import annotations

import pathlib
import sys

SOURCE = pathlib.Path(__file__).parent.parent / "admin" / "client.py"
TARGET = pathlib.Path(__file__).parent / "admin.py"
FIRST_CALL = "    # ---- topics ---"

HEAD = '''"""AsyncKafkaAdminClient: KafkaAdminClient awaited.

Generated from pykclient/admin/client.py; change nothing here. To regenerate: python -m pykclient.aio.generate_admin
Longer than most modules because every call is declared here, as in the client it is made from.
"""
'''

CLASS = '''class AsyncKafkaAdminClient:
    """Looks after a cluster from an event loop. Options, calls and results as for KafkaAdminClient. See
    docs/admin.md."""

    def __init__(self, options: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        self._sync = KafkaAdminClient(adapted(options), **adapted(keywords))
        self._runner = LoopRunner(self._sync._engine, self._sync._config)

    async def _run(self, operation: Callable[[Session], Operation[T]], timeout: float | None) -> T:
        session = self._sync._session(timeout)
        return await self._runner.run(operation(session), session.timeout_s + GRACE_S)

    async def close(self) -> None:
        """End the client; calls under way fail with ClientClosed. Safe to call twice."""
        self._sync.close()
        await self._runner.closed()

    async def __aenter__(self) -> AsyncKafkaAdminClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Async{str(self._sync)[1:]}"

'''

NOT_NEEDED = (
    "from pykclient.client.assembly import ClientParts, assemble\n",
    "from pykclient.config import AdminConfig, read_options\n",
    "from pykclient.admin.routing import AdminSettings, Office, Session\n",
)


def generated() -> str:
    """The text that ``admin.py`` should have."""
    text = SOURCE.read_text()
    imports = text[text.index("from __future__") : text.index("\nT = TypeVar")]
    for line in NOT_NEEDED:
        imports = imports.replace(line, "")
    imports = imports.replace("import ClientClosed, KafkaError, UsageError", "import KafkaError")
    calls = text[text.index(FIRST_CALL) : text.index("\n\n__all__")]
    calls = calls.replace("    def ", "    async def ").replace("return self._run(", "return await self._run(")
    ours = (
        "from pykclient.admin.client import GRACE_S, KafkaAdminClient\n"
        "from pykclient.admin.routing import Session\n"
        "from pykclient.aio.runner import LoopRunner\n"
        "from pykclient.aio.tokens import adapted\n"
    )
    return f'{HEAD}\n{imports}{ours}\nT = TypeVar("T")\n\n\n{CLASS}{calls}\n\n__all__ = ["AsyncKafkaAdminClient"]\n'


def main(arguments: list[str]) -> int:
    """Write it, or with --check say whether it is current."""
    if "--check" in arguments:
        current = TARGET.exists() and TARGET.read_text() == generated()
        sys.stdout.write("" if current else f"{TARGET.name} is not current\n")
        return 0 if current else 1
    TARGET.write_text(generated())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
