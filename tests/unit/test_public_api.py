"""The public face: every promised name is there, and importing the package costs next to nothing."""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

import pykclient


def test_every_public_name_resolves() -> None:
    for name in pykclient.__all__:
        assert getattr(pykclient, name) is not None


def test_public_names_are_the_objects_of_their_modules() -> None:
    for name, module in pykclient._EXPORTS.items():
        assert getattr(pykclient, name) is getattr(importlib.import_module(module), name)


def test_lists_of_names_agree() -> None:
    """Type checkers read the imports, users read __all__, Python reads _EXPORTS."""
    source = pathlib.Path(pykclient.__file__ or "").read_text()
    typed = {
        alias.asname or alias.name
        for block in ast.parse(source).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module != "typing"
        for alias in statement.names
    }
    assert typed == set(pykclient._EXPORTS)
    assert set(pykclient._EXPORTS) <= set(pykclient.__all__)
    assert len(pykclient.__all__) == len(set(pykclient.__all__))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = pykclient.NoSuchThing


def test_dir_shows_lazy_names() -> None:
    assert set(pykclient.__all__) <= set(dir(pykclient))


def test_import_loads_no_other_module_of_the_package() -> None:
    code = "import sys, pykclient; print([m for m in sys.modules if m.startswith('pykclient.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["pykclient.errors", "pykclient.types", "pykclient.plugins", "pykclient.config"])
def test_all_of_each_ground_module_resolves(module: str) -> None:
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        assert hasattr(loaded, name), name
