"""The choice of a strategy, its reason, and the accuracy of the memory estimates."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.files import Subscription
from pathcast.matching import Matcher
from pathcast.pipeline.partition_strategy import (
    MEMO_BYTES,
    MEMO_BYTES_PER_STATE,
    PartitionStrategy,
    choose_strategy,
    measure_version,
    worker_memory,
)
from pathcast.pipeline.versions import Version, compile_version
from pathcast.sandbox.processes import proc_field

MB = 1_000_000


def test_small_version_is_not_split() -> None:
    assert choose_strategy("auto", 856 * MB, 2_000 * MB) == PartitionStrategy(
        "documents",
        1,
        "it fits: an engine of all subscriptions needs 856 MB, a worker may use 2,000 MB",
    )


def test_large_version_is_split() -> None:
    assert choose_strategy("auto", 2_192 * MB, 1_240 * MB) == PartitionStrategy(
        "subscriptions",
        3,
        "too much for one: an engine of all subscriptions needs 2,192 MB, "
        "a worker may use 1,240 MB; "
        "each of 3 fragments needs 859 MB",
    )


def test_requested_mode_is_used() -> None:
    assert choose_strategy("documents", 2_000 * MB, 1_000 * MB).name == "documents"
    strategy = choose_strategy("subscriptions", 300 * MB, 4_000 * MB)
    assert (strategy.name, strategy.fragments) == ("subscriptions", 8)
    assert strategy.reason.startswith("as asked: ")
    assert choose_strategy("subscriptions", 20_192 * MB, 1_240 * MB).fragments == 25


@pytest.mark.parametrize("room", [0, 100 * MB, 241 * MB])
def test_worker_memory_too_small(room: int) -> None:
    with pytest.raises(PipelineError, match="a worker may use") as caught:
        choose_strategy("auto", 4_000 * MB, room)
    assert caught.value.kind == "memory"
    assert "192 MB" in str(caught.value)


@given(st.integers(0, 10**12), st.integers(0, 10**11))
def test_number_of_fragments_is_minimal(needed: int, room: int) -> None:
    try:
        strategy = choose_strategy("auto", needed, room)
    except PipelineError:
        assert needed > room
        assert room * 0.8 - MEMO_BYTES < needed / 4096
        return
    if strategy.name == "documents":
        assert needed <= room
        return
    fragment_bytes = MEMO_BYTES + (needed - MEMO_BYTES) / strategy.fragments
    assert fragment_bytes <= room * 0.8 + 1
    if strategy.fragments > 2:
        assert MEMO_BYTES + (needed - MEMO_BYTES) / (strategy.fragments - 1) > room * 0.8


def test_memo_bound_equals_that_of_the_core() -> None:
    """The core's limit is in ints of four bytes."""
    matcher = Matcher()
    matcher.add_many((number, f"/a/b{number}") for number in range(1_000))
    matcher.match(b"<a/>")
    (context,) = matcher._engine._contexts  # type: ignore[attr-defined]
    (traversal,) = context.traversals()
    assert traversal.dfa.limit * 4 == MEMO_BYTES + MEMO_BYTES_PER_STATE * matcher.stats().states


def version_of(count: int, folder: Path) -> Version:
    return compile_version(
        (Subscription(number, f"/news/b{number % 997}//c{number}") for number in range(count)),
        folder,
    )


LOADING = """
import sys
from pathlib import Path
from pathcast.pipeline.worker import load_version

def now():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))

before = now()
loaded = load_version(sys.argv[1])
loaded.matcher.match(b"<a/>")
print(now() - before)
"""


def test_measured_memory_is_realistic(tmp_path: Path) -> None:
    """Compare with the memory of another process that loads the version; the memo is excluded."""
    version = version_of(60_000, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(version.path)], capture_output=True, check=True
    )
    occupied = int(done.stdout)
    states = 1 + 1 + 997 + 60_000
    measured = measure_version(version) - MEMO_BYTES - MEMO_BYTES_PER_STATE * states
    assert occupied > 10 * MB
    assert 0.9 * occupied <= measured <= 1.6 * occupied  # loading peaks higher


def test_expensive_subscriptions_can_be_measured(tmp_path: Path) -> None:
    version = compile_version([Subscription("a", "//*[//* = //*]")], tmp_path, allow_expensive=True)
    assert measure_version(version) > MEMO_BYTES


def test_unloadable_version(tmp_path: Path) -> None:
    path = tmp_path / "none.subscriptions"
    path.write_bytes(b"nothing")
    with pytest.raises(PipelineError, match="is not one of saved subscriptions"):
        measure_version(Version("none", path, path, 0))


def test_worker_memory_is_a_share_of_free_memory(spark: SparkSession) -> None:
    memory = worker_memory(spark)
    assert 0 < memory < 0.6 * proc_field(Path("/proc/meminfo"), "MemTotal") / 2  # type: ignore[operator]


LIMITED = """
import json, sys
from pathcast.pipeline.session import open_session
from pathcast.pipeline.partition_strategy import worker_memory

session = open_session("local[1]", settings={"spark.executor.pyspark.memory": "3g"})
print(json.dumps(worker_memory(session)))
session.stop()
"""


@pytest.mark.deep
def test_worker_memory_under_a_limit() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=True)
    memory = json.loads(done.stdout.splitlines()[-1])
    assert 1 << 30 < memory < 3 << 30
