"""One Spark session for all tests of the pipeline: starting it takes longer than most of them.

Most of what Spark does here is to begin: to load classes, to plan small jobs, to write programs for them and to compile these. So Java does not
compile well, nor check its own classes, which reaches the processes that tests start too. The shared session alone, but for `make
check-deep`, has Spark interpret its plans instead of writing programs for them: a tenth less CPU. `pathcast run` as a process of its
own (killed, interrupted, on a cluster) has Spark as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pathcast.pipeline.session import open_session

BRIEF = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
os.environ.setdefault("JDK_JAVA_OPTIONS", BRIEF)


@pytest.fixture(scope="session")
def spark(deep: bool) -> Iterator[SparkSession]:
    session = open_session("local[2,4]", settings={} if deep else INTERPRETED)
    yield session
    session.stop()
