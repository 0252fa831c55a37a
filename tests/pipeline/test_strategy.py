"""The choice of a strategy, its reason, and the accuracy of the memory estimates."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.files import Subscription
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.matching import Matcher
from pathcast.pipeline.partition_strategy import (
    MEMO_BYTES,
    MEMO_BYTES_PER_STATE,
    MEMO_OVERHEAD,
    PartitionStrategy,
    VersionMemory,
    choose_strategy,
    measure_version,
    project_growth,
    worker_memory,
)
from pathcast.pipeline.versions import Version, compile_version
from pathcast.sandbox.processes import proc_field

MB = 1_000_000


def test_small_version_is_not_split() -> None:
    assert choose_strategy("auto", VersionMemory(856 * MB), 2_000 * MB) == PartitionStrategy(
        "documents",
        1,
        "it fits: an engine of all subscriptions needs at most 856 MB, a worker may use 2,000 MB",
    )


def test_large_version_is_split() -> None:
    assert choose_strategy(
        "auto", VersionMemory(2_192 * MB, is_bound=False), 1_240 * MB
    ) == PartitionStrategy(
        "subscriptions",
        3,
        "too much for one: an engine of all subscriptions needs about 2,192 MB, "
        "a worker may use 1,240 MB; "
        "each of 3 fragments needs at most 859 MB",
        budget=992 * MB,
    )


def test_requested_mode_is_used() -> None:
    assert choose_strategy("documents", VersionMemory(2_000 * MB), 1_000 * MB).name == "documents"
    strategy = choose_strategy("subscriptions", VersionMemory(300 * MB), 4_000 * MB)
    assert (strategy.name, strategy.fragments) == ("subscriptions", 8)
    assert strategy.reason.startswith("as asked: ")
    assert strategy.budget == 192 * MB + 108 * MB // 8
    assert choose_strategy("subscriptions", VersionMemory(20_192 * MB), 1_240 * MB).fragments == 25


@pytest.mark.parametrize("room", [0, 100 * MB, 241 * MB])
def test_worker_memory_too_small(room: int) -> None:
    with pytest.raises(PipelineError, match="a worker may use") as caught:
        choose_strategy("auto", VersionMemory(4_000 * MB), room)
    assert caught.value.kind == "memory"
    assert "192 MB" in str(caught.value)


@given(st.integers(0, 10**12), st.integers(0, 10**11))
def test_number_of_fragments_is_minimal(needed: int, room: int) -> None:
    try:
        strategy = choose_strategy("auto", VersionMemory(needed), room)
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


@pytest.mark.parametrize("power", [0.2, 0.4, 0.6])
def test_growth_is_projected_by_its_power(power: float) -> None:
    quarter, full = (round(MB * documents**power) for documents in (100, 400))
    assert project_growth(quarter, full, 400) == pytest.approx(MB * 10_000**power, rel=1e-3)


def test_growth_of_odd_samples() -> None:
    assert project_growth(5, 0, 100) == 0  # memory was freed
    assert project_growth(0, 10, 400) == 50  # by the square root
    assert project_growth(10, 10, 100_000) == 10


USING = """
import sys
from pathcast.pipeline.worker import load_version
from tests.pipeline.test_strategy import iter_documents, resident

before = resident()
loaded = load_version(sys.argv[1])
for document in iter_documents(int(sys.argv[2])):
    loaded.match([document])
print(resident() - before)
"""


def resident() -> int:
    return proc_field(Path("/proc/self/status"), "VmRSS") or 0


def iter_documents(count: int) -> Iterator[bytes]:
    documents = Documents(bundled_schema("news"), DocumentOptions(size=5_000), 3)
    return (documents[number] for number in range(count))


PATHS = SubscriptionOptions(wildcard=0.1, descendant=0.2, distinct=False)
VALUES = SubscriptionOptions(predicate=1.0, distinct=False)
TWIGS = SubscriptionOptions(branch=0.3, distinct=False)


@pytest.mark.parametrize(
    ("options", "count", "horizon"),
    [
        pytest.param(PATHS, 6_000, 1_200, id="paths"),
        pytest.param(VALUES, 6_000, 1_200, id="values"),
        pytest.param(TWIGS, 6_000, 1_200, id="twigs"),
        pytest.param(PATHS, 100_000, 10_000, id="100,000 paths", marks=pytest.mark.deep),
        pytest.param(VALUES, 10_000, 10_000, id="10,000 values", marks=pytest.mark.deep),
        pytest.param(TWIGS, 10_000, 10_000, id="10,000 twigs", marks=pytest.mark.deep),
    ],
)
def test_estimate_is_within_a_factor_of_two(
    tmp_path: Path,
    options: SubscriptionOptions,
    count: int,
    horizon: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compare with the memory of another process after many more documents than the sample."""
    monkeypatch.setattr("pathcast.pipeline.partition_strategy._HORIZON_DOCUMENTS", horizon)
    texts = subscriptions([bundled_schema("news")], options, 1, count)
    version = compile_version(
        (Subscription(number, text) for number, text in enumerate(texts)), tmp_path
    )
    memory = measure_version(version, list(iter_documents(200)))
    done = subprocess.run(
        [sys.executable, "-c", USING, str(version.path), str(horizon)],
        capture_output=True,
        check=True,
    )
    assert not memory.is_bound
    assert 0.5 <= memory.bytes / int(done.stdout) <= 2


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
    memory = measure_version(version)
    measured = memory.bytes - MEMO_OVERHEAD * (MEMO_BYTES + MEMO_BYTES_PER_STATE * states)
    assert memory.is_bound
    assert occupied > 10 * MB
    assert 0.9 * occupied <= measured <= 1.6 * occupied  # loading peaks higher


def test_expensive_subscriptions_can_be_measured(tmp_path: Path) -> None:
    version = compile_version([Subscription("a", "//*[//* = //*]")], tmp_path, allow_expensive=True)
    memory = measure_version(version, [b"<a/>"] * 100)
    assert memory.bytes > MEMO_BYTES
    assert memory.is_bound  # documents would start processes


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
