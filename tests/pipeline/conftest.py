"""One Spark session for all tests of the pipeline: starting it takes longer than most tests.

The JVM is short-lived here, so it compiles with C1 only. Java would shrink its code cache for that,
and Spark would fill it within minutes. Child processes of tests inherit these options.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pathcast.pipeline.batches import BatchRunner
from pathcast.pipeline.session import open_session

BRIEF = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
os.environ.setdefault("JDK_JAVA_OPTIONS", BRIEF)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session("local[2,4]")
    yield session
    session.stop()


@pytest.fixture(params=["one pass", pytest.param("several passes", marks=pytest.mark.deep)])
def staging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test once per way of staging a batch."""
    if request.param == "several passes":
        monkeypatch.setattr(BatchRunner, "_allows_one_pass", lambda *_: False)
