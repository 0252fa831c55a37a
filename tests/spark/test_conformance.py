"""The conformance suite in every mode of `pathcast.spark`: one Spark job per mode."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from pathcast.spark import Compiled, subscriptions
from tests.spark.modes import MODES, Outcomes
from tests.spark.suite import Suite, conformance_suite


@pytest.fixture(scope="module")
def suite() -> Suite:
    return conformance_suite()


@pytest.fixture(scope="module")
def subs(suite: Suite) -> Compiled:
    return subscriptions(suite.subscriptions)


@pytest.mark.parametrize("mode", MODES)
def test_results_equal_those_of_matcher_and_libxml2(
    mode: str,
    spark: SparkSession,
    suite: Suite,
    subs: Compiled,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp(mode) / "documents"
    suite.save(folder)
    result = MODES[mode](spark, folder, subs)
    expected: Outcomes = suite.expected
    if mode == "column":  # it has no errors: null is a refused document
        expected = {
            name: None if isinstance(outcome, str) else outcome
            for name, outcome in suite.expected.items()
        }
    assert result == expected
