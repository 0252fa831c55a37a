"""Tests of `pathcast.spark` over Spark Connect, in one child process with a server of its own."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import pytest

from pathcast import Matcher
from pathcast.errors import DocumentError
from pathcast.spark import subscriptions
from tests.pipeline.conftest import BRIEF
from tests.spark.modes import MODES, Outcomes
from tests.spark.suite import Suite, conformance_suite


@pytest.fixture(scope="module")
def suite() -> Suite:
    return conformance_suite()


@pytest.fixture(scope="module")
def results(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcomes]:
    folder = tmp_path_factory.mktemp("connect")
    suite.save(folder / "documents")
    compiled = subscriptions(suite.subscriptions)
    (folder / "subscriptions.pickle").write_bytes(pickle.dumps(compiled))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYSPARK_PYTHON": sys.executable,
        "JDK_JAVA_OPTIONS": BRIEF,
    }
    child = subprocess.run(
        [sys.executable, "-m", "tests.spark.connect_child", str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    written: dict[str, Outcomes] = json.loads((folder / "results.json").read_text())
    return written


@pytest.mark.parametrize("mode", MODES)
def test_results_equal_those_of_matcher_and_libxml2(
    mode: str, suite: Suite, results: dict[str, Outcomes]
) -> None:
    for name, outcome in suite.expected.items():
        expected = None if mode == "column" and isinstance(outcome, str) else outcome
        assert results[mode][name] == expected
    assert len(results[mode]) == len(suite.expected)


def test_deliveries_and_hops(suite: Suite, results: dict[str, Outcomes]) -> None:
    assert results["deliveries"] == {
        name: outcome
        for name, outcome in suite.expected.items()
        if isinstance(outcome, list)
        if outcome
    }
    matcher = Matcher()
    matcher.add("letters", "//a")
    matcher.add("digits", "//*[. = '1']")
    for name, body in suite.bodies.items():
        try:
            expected = list(matcher.match(body))
        except DocumentError:
            assert results["hops"][name] is None
        else:
            assert results["hops"][name] == expected


def test_records(results: dict[str, Outcomes]) -> None:
    assert results["records"] == {"d#1": "<i>1</i>", "d#2": "<i>2</i>"}


def test_exactly_once_streams_need_a_classic_session(results: dict[str, Outcomes]) -> None:
    assert "needs a classic session" in str(results["stream into a folder"]["error"])


def test_wrong_columns_are_errors_of_the_client(results: dict[str, Outcomes]) -> None:
    assert results["wrong column"] == {"error": "column"}
