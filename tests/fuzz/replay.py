"""Runs the inputs of a folder through a fuzz target without atheris: `python -m tests.fuzz.replay fuzz_records CORPUS`.

For corpora under AddressSanitizer (see docs/development.md) and for inputs that once failed.
"""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import sys
import types


def without_atheris() -> types.ModuleType:
    """What a target needs of atheris to be imported."""
    stand_in = types.ModuleType("atheris")
    stand_in.instrument_imports = lambda **_: contextlib.nullcontext()  # type: ignore[attr-defined]
    return stand_in


def main(target: str, folder: str) -> None:
    sys.modules.setdefault("atheris", without_atheris())
    module = importlib.import_module(f"tests.fuzz.{target}")
    run = getattr(module, "one_input", None) or module.test_one_input
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    for path in files:
        run(path.read_bytes())
    print(f"{target}: {len(files)} inputs, no finding")


if __name__ == "__main__":
    main(*sys.argv[1:])
