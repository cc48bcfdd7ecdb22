# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: help demo test lint types unit bench clean

help:            ## list the commands
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(BIN)/python pyproject.toml setup.py
	$(BIN)/python -m pip install --quiet .
	touch $@

# Editable, so that edits are seen; the C extension is built in place and rebuilt when its source changes.
$(VENV)/.test-installed: $(BIN)/python pyproject.toml setup.py $(wildcard pykclient/protocol/_accel.c)
	$(BIN)/python -m pip install --quiet --editable '.[test,arrow,interop]'
	touch $@

demo: $(VENV)/.test-installed  ## set up and run the main job on the embedded default
	$(BIN)/python -m pykclient demo

test: $(VENV)/.test-installed lint types  ## set up, lint, check types, run all tests
	$(PYTEST)
	PYKCLIENT_ACCEL=off $(PYTEST) tests/unit tests/vectors

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test-installed
	$(BIN)/mypy

bench: $(VENV)/.test-installed  ## print the table of record and message costs
	$(BIN)/python benchmarks/records.py

clean:           ## remove the environment and everything built
	rm -rf $(VENV) build dist *.egg-info pykclient/protocol/*.so
