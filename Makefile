# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
EXTRAS := test,arrow,interop,cli

.PHONY: help demo test test-core test-live spark lint types full bench bench-broker bench-producer bench-consumer bench-spark compare docs clean

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Editable, so that edits are seen; the C extension is built in place, and again when its source changes.
$(VENV)/.installed: $(BIN)/python pyproject.toml setup.py pykclient/protocol/_accel.c
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	touch $@

demo: $(VENV)/.installed  ## set up, then run the main job on an embedded cluster and check its totals
	$(BIN)/python -m pykclient demo

# Two halves side by side, each with its output in one piece: one computes, the other mostly waits for brokers.
test: $(VENV)/.installed lint types  ## set up, lint, check types, run all tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-core test-live

test-core: $(VENV)/.installed  ## what needs no network: natively, then in pure Python
	$(PYTEST) tests/unit tests/vectors tests/simulation
	PYKCLIENT_ACCEL=off $(PYTEST) tests/unit tests/vectors

test-live: $(VENV)/.installed  ## over sockets: embedded brokers, other clients, Apache Kafka where Java and Maven are
	$(PYTEST) tests/integration tests/interop tests/chaos tests/spark

spark: $(VENV)/.installed  ## the Spark tests, with Spark (a large download)
	$(BIN)/python -m pip install --quiet '.[spark]'
	$(PYTEST) tests/spark tests/unit/spark

full: $(VENV)/.installed  ## the long runs too: faults on three real brokers, every injected error, hundreds of kills
	$(PYTEST) --full --timeout 900

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

bench: $(VENV)/.installed  ## what a record costs to encode and decode, and what an import costs
	$(BIN)/python -m benchmarks.records

bench-broker: $(VENV)/.installed  ## the embedded broker: start, throughput, idle cost
	$(BIN)/python -m benchmarks.broker

bench-producer: $(VENV)/.installed  ## client CPU per record beside the other Python clients, on one real broker
	$(BIN)/python -m benchmarks.producer

bench-consumer: $(VENV)/.installed  ## the same for reading
	$(BIN)/python -m benchmarks.consumer

bench-spark: $(VENV)/.installed  ## beside Spark's own connector (installs Spark; --jars names a folder with its jars)
	$(BIN)/python -m pip install --quiet '.[spark]'
	$(BIN)/python -m benchmarks.spark

compare: $(VENV)/.installed  ## everything beside the other clients in one run; writes benchmarks/README.md
	$(BIN)/python -m benchmarks.compare

docs: $(VENV)/.installed  ## build the documentation site into build/site
	$(BIN)/python -m pip install --quiet '.[docs]'
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict

clean:           ## remove the environment and everything built
	rm -rf $(VENV) build dist *.egg-info pykclient/protocol/*.so
