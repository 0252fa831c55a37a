"""The benchmark of covering runs, on tiny inputs, and says what it measured."""

from __future__ import annotations

from pathcast.bench.covering.inputs import Sizes
from pathcast.bench.covering.searching import QUERIES
from pathcast.bench.covering.suite import PARTS, measured
from pathcast.bench.options import Wish

TINY = Sizes(
    patterns=(60,), searches=5, tree=(20, 60), changes=10, table=60, merged=(40,), rounds=1
)


def test_all_parts() -> None:
    told: list[str] = []
    lines, inputs = measured(TINY, Wish(tell=told.append))
    names = [line.what for line in lines]
    assert "XSearch, covered, 60 / asking each" in names
    assert [f"regions / XSearch, {name}, 60" for name in QUERIES] == [
        name for name in names if name.startswith("regions / XSearch")
    ]
    assert "add and remove, 60" in names
    assert len([name for name in names if name.startswith("merged / covered")]) == 4
    assert len([name for name in names if name.endswith("container first / containee first")]) == 8
    assert "li2008-a: roots that exact containment hides, of 60" in names
    assert all(line.figure >= 0 for line in lines)
    assert len(inputs) == 4
    assert told


def test_a_part_alone() -> None:
    lines, _ = measured(TINY, Wish(only=("sizes",)))
    assert [line.what for line in lines] == [
        "tree nodes / pattern nodes, 20",
        "tree nodes / pattern nodes, 60",
    ]
    assert "sizes" in PARTS
