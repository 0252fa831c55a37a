"""One Spark session for all tests of the pipeline: starting it takes longer than most tests.

The JVM is short-lived here, so it compiles with C1 only. Java would shrink its code cache for that,
and Spark would fill it within minutes. Child processes of tests inherit these options.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from pathcast.pipeline.batches import BatchRunner
from pathcast.pipeline.session import open_session

BRIEF = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
os.environ.setdefault("JDK_JAVA_OPTIONS", BRIEF)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say in a failure's report that Spark's Java has ended: all later tests fail too."""
    report = yield
    gateway = SparkContext._gateway
    status = None if gateway is None else gateway.proc.poll()
    if report.failed and status is not None:
        report.sections.append(("Spark's Java", f"it ended with status {status}"))
    return report


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {
        # Spark keeps the plans of a thousand queries; the tests of a process run more.
        "spark.driver.memory": "2g",
        # Compiling the code of a query takes longer than its few rows. Child processes compile.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    session = open_session("local[2,4]", settings=settings)
    yield session
    session.stop()


@pytest.fixture(params=["one pass", pytest.param("several passes", marks=pytest.mark.deep)])
def staging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test once per way of staging a batch."""
    if request.param == "several passes":
        monkeypatch.setattr(BatchRunner, "_allows_one_pass", lambda *_: False)
