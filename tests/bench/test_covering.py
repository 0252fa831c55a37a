"""The covering benchmark runs on tiny inputs and labels its lines."""

from __future__ import annotations

from pathcast.bench.covering.context import CoveringSizes
from pathcast.bench.covering.search import QUERIES
from pathcast.bench.covering.suite import SUITE
from pathcast.bench.options import BenchOptions

TINY = CoveringSizes(
    patterns=(60,), searches=5, tree=(20, 60), changes=10, table=60, merged=(40,), rounds=1
)


def test_all_parts() -> None:
    started: list[str] = []
    lines, inputs = SUITE.measure(BenchOptions(progress=started.append), TINY)
    names = [line.label for line in lines]
    assert "XSearch, covered, 60 / linear scan" in names
    assert [f"regions / XSearch, {name}, 60" for name in QUERIES] == [
        name for name in names if name.startswith("regions / XSearch")
    ]
    assert "add and remove, 60" in names
    assert len([name for name in names if name.startswith("merged / covered")]) == 4
    assert len([name for name in names if name.endswith("container first / containee first")]) == 8
    assert "li2008-a: roots that exact containment hides, of 60" in names
    assert all(line.figure >= 0 for line in lines)
    assert len(inputs) == 4
    assert started


def test_a_part_alone() -> None:
    lines, _ = SUITE.measure(BenchOptions(only=("sizes",)), TINY)
    assert [line.label for line in lines] == [
        "tree nodes / pattern nodes, 20",
        "tree nodes / pattern nodes, 60",
    ]
    assert "sizes" in SUITE.parts
