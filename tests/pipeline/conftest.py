"""One Spark session for all tests of the pipeline: starting it takes longer than most of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pathcast.pipeline.session import open_session

# Java that lives for seconds should not spend them on compiling well; this reaches the processes that tests start.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session("local[2,4]")
    yield session
    session.stop()
