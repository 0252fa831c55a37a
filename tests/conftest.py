"""Settings of all tests: the effort of hypothesis, and the folder of public test documents.

Two environment variables, both shown in pytest's header:

- `PATHCAST_DEEP=1` (make check-deep): more examples, with a new random seed in every run.
- `PATHCAST_CORPUS=folder`: public documents and subscriptions that are not part of the project.
  Tests with the fixture `corpus` are skipped without it. A folder that does not exist is an error,
  so that a typing mistake does not pass for a success.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

DEEP = os.environ.get("PATHCAST_DEEP", "0") not in ("", "0")
CORPUS = os.environ.get("PATHCAST_CORPUS", "")

# Machines differ in speed: neither a deadline nor the check for slow generation may fail a test.
_no_deadline = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _no_deadline, derandomize=True)
settings.register_profile("deep", _no_deadline, max_examples=2000, print_blob=True)
settings.load_profile("deep" if DEEP else "quick")


def pytest_configure(config: pytest.Config) -> None:
    if CORPUS and not Path(CORPUS).is_dir():
        raise pytest.UsageError(f"PATHCAST_CORPUS names no folder: {CORPUS}")


def pytest_report_header(config: pytest.Config) -> list[str]:
    corpus = f"used, {CORPUS}" if CORPUS else "not set, tests on public documents are skipped"
    return [f"PATHCAST_CORPUS: {corpus}", f"PATHCAST_DEEP: {'yes' if DEEP else 'no'}"]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of public test documents; skip the test without it."""
    if not CORPUS:
        pytest.skip("PATHCAST_CORPUS is not set: it names the folder of public test documents")
    return Path(CORPUS)


@pytest.fixture(scope="session")
def deep() -> bool:
    """Whether the tests run with their large parameters."""
    return DEEP
