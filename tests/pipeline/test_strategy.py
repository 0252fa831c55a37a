"""Which strategy, how many fragments and why; and whether the figures it is decided by are true."""

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
from pathcast.pipeline.strategy import (
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


def test_what_fits_is_not_spread() -> None:
    assert choose_strategy("auto", 856 * MB, 2_000 * MB) == PartitionStrategy(
        "documents",
        1,
        "it fits: an engine of all subscriptions needs 856 MB, a worker may use 2,000 MB",
    )


def test_what_does_not_fit_is_spread() -> None:
    assert choose_strategy("auto", 2_192 * MB, 1_240 * MB) == PartitionStrategy(
        "subscriptions",
        3,
        "too much for one: an engine of all subscriptions needs 2,192 MB, a worker may use 1,240 MB; "
        "each of 3 fragments needs 859 MB",
    )


def test_what_is_asked_for_is_done() -> None:
    assert choose_strategy("documents", 2_000 * MB, 1_000 * MB).name == "documents"
    found = choose_strategy("subscriptions", 300 * MB, 4_000 * MB)
    assert (found.name, found.fragments) == ("subscriptions", 8)
    assert found.reason.startswith("as asked: ")
    assert choose_strategy("subscriptions", 20_192 * MB, 1_240 * MB).fragments == 25


@pytest.mark.parametrize("room", [0, 100 * MB, 241 * MB])
def test_a_worker_may_be_too_small(room: int) -> None:
    with pytest.raises(PipelineError, match="a worker may use") as caught:
        choose_strategy("auto", 4_000 * MB, room)
    assert caught.value.kind == "memory"
    assert "192 MB" in str(caught.value)


@given(st.integers(0, 10**12), st.integers(0, 10**11))
def test_fragments_fit_and_no_fewer_would(needed: int, room: int) -> None:
    try:
        found = choose_strategy("auto", needed, room)
    except PipelineError:
        assert needed > room
        assert room * 0.8 - MEMO_BYTES < needed / 4096
        return
    if found.name == "documents":
        assert needed <= room
        return
    each = MEMO_BYTES + (needed - MEMO_BYTES) / found.fragments
    assert each <= room * 0.8 + 1
    if found.fragments > 2:
        assert MEMO_BYTES + (needed - MEMO_BYTES) / (found.fragments - 1) > room * 0.8


def test_what_is_remembered_is_bounded_as_we_say() -> None:
    """The core's own limit, in ints of four bytes."""
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


def test_the_measure_is_true(tmp_path: Path) -> None:
    """Against what such an engine occupies in another process; what it may remember is not in that."""
    version = version_of(60_000, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(version.path)], capture_output=True, check=True
    )
    occupied = int(done.stdout)
    states = 1 + 1 + 997 + 60_000
    found = measure_version(version) - MEMO_BYTES - MEMO_BYTES_PER_STATE * states
    assert occupied > 10 * MB
    assert 0.9 * occupied <= found <= 1.6 * occupied  # loading takes more for a moment


def test_expensive_ones_can_be_measured(tmp_path: Path) -> None:
    version = compile_version([Subscription("a", "//*[//* = //*]")], tmp_path, allow_expensive=True)
    assert measure_version(version) > MEMO_BYTES


def test_what_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    path = tmp_path / "none.subscriptions"
    path.write_bytes(b"nothing")
    with pytest.raises(PipelineError, match="is not one of saved subscriptions"):
        measure_version(Version("none", path, path, 0))


def test_the_room_is_a_share_of_what_is_free(spark: SparkSession) -> None:
    found = worker_memory(spark)
    assert 0 < found < 0.6 * proc_field(Path("/proc/meminfo"), "MemTotal") / 2  # type: ignore[operator]


LIMITED = """
import json, sys
from pathcast.pipeline.session import open_session
from pathcast.pipeline.strategy import worker_memory

session = open_session("local[1]", settings={"spark.executor.pyspark.memory": "3g"})
print(json.dumps(worker_memory(session)))
session.stop()
"""


@pytest.mark.deep
def test_the_room_is_what_the_limit_leaves() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert 1 << 30 < found < 3 << 30
