# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
# SPARK_VERSION=4.1.4: in an environment of its own, with that version of Spark instead of the newest.
VENV   ?= .venv$(SPARK_VERSION:%=-spark-%)
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
EXTRAS := test,arrow,interop,cli

# Spark runs in a JVM: where there is no Java its large download would be of no use.
JAVA   := $(shell command -v java || ls "$$JAVA_HOME/bin/java" 2>/dev/null)
SPARK  := $(if $(JAVA),$(VENV)/.spark)
COMMA  := ,
CONSUMERS := tests/integration/consumer tests/integration/aio tests/integration/user_asks

.PHONY: help demo test test-core test-live test-consumers test-interop test-spark lint types full bench bench-broker bench-producer bench-consumer bench-spark compare docs clean

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Editable, so that edits are seen; the C extension is built in place, and again when its source changes.
$(VENV)/.installed: $(BIN)/python pyproject.toml setup.py pykclient/protocol/_accel.c
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	touch $@

# What the extra asks for, without the package itself, which stays as it is. PySpark has no wheel: 450 MB are fetched, and
# packed and unpacked by pip, which takes one to three minutes.
$(VENV)/.spark: $(VENV)/.installed
	@echo "fetching PySpark (450 MB) ..."
	@$(BIN)/python -m pip install --quiet $$($(BIN)/python -c "import importlib.metadata as m; \
	  print(*(r.split(';')[0].strip() for r in m.requires('pykclient') if r.endswith('extra == \"spark\"')))") \
	  $(SPARK_VERSION:%=pyspark==%) \
	  || { echo "PySpark could not be installed, so nothing that needs Spark was run: see pip's words above."; exit 1; }
	@touch $@

# The demo needs less than the tests do, and is to be quick on a fresh machine.
$(VENV)/.demo: $(BIN)/python pyproject.toml setup.py pykclient/protocol/_accel.c
	$(BIN)/python -m pip install --quiet --editable '.[arrow,cli$(if $(JAVA),$(COMMA)spark)]' || \
	  { echo "Not all of it could be installed: going on without Spark."; $(BIN)/python -m pip install --quiet --editable '.[cli]'; }
	@touch $@

demo: $(VENV)/.demo  ## set up, then run the main job on an embedded cluster and through Spark, and check its totals
	$(BIN)/python -m pykclient demo

# Five parts, four at a time, each with its output in one piece: one computes, the others mostly wait for brokers, or at
# first for the download of Spark. The longest come first.
test: $(VENV)/.installed  ## set up, lint, check types, run all tests
	@$(MAKE) --no-print-directory --jobs=4 --keep-going --output-sync=target test-consumers test-live test-spark test-interop lint types test-core

test-core: $(VENV)/.installed  ## what needs no network: natively, then in pure Python
	$(PYTEST) tests/unit tests/vectors tests/simulation
	PYKCLIENT_ACCEL=off $(PYTEST) tests/unit tests/vectors

test-live: $(VENV)/.installed  ## over sockets: embedded brokers, and Apache Kafka where Java and Maven are
	$(PYTEST) tests/integration $(CONSUMERS:%=--ignore=%)

test-consumers: $(VENV)/.installed  ## the same for what reads and for what users asked for, mostly waiting for groups
	$(PYTEST) $(CONSUMERS)

test-interop: $(VENV)/.installed  ## other clients, and faults
	$(PYTEST) tests/interop tests/chaos

test-spark: $(VENV)/.installed $(SPARK)  ## with Spark (a large download) where Java is; SPARK_VERSION=4.1.4 for another
	$(PYTEST) tests/spark

full: $(VENV)/.installed $(SPARK)  ## the long runs too: faults on three real brokers, every injected error, hundreds of kills
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

bench-spark: $(VENV)/.installed $(VENV)/.spark  ## beside Spark's own connector and a plain source; writes benchmarks/README.md
	$(BIN)/python -m benchmarks.spark

compare: $(VENV)/.installed  ## everything beside the other clients in one run; writes benchmarks/README.md
	$(BIN)/python -m benchmarks.compare

docs: $(VENV)/.installed  ## build the documentation site into build/site
	$(BIN)/python -m pip install --quiet '.[docs]'
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict

clean:           ## remove the environment and everything built
	rm -rf $(VENV) build dist *.egg-info pykclient/protocol/*.so
