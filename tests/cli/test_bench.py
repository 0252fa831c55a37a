from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathcast.bench import registry
from pathcast.bench.options import Wish
from pathcast.bench.registry import BENCHMARKS, Benchmark
from pathcast.bench.report import Findings, Line
from pathcast.errors import WorkloadError
from tests.cli.running import run


def toy(wish: Wish) -> Findings:
    wish.tell("the only thing")
    line = Line("toy", 0.5 if wish.quick else 0.1, "x", target=0.25)
    return wish.gather({"toy": lambda _: [line]}, None), {"toys": "00"}


def train(wish: Wish) -> Findings:
    """Says what it was asked for."""
    if "none" in wish.only:
        raise WorkloadError("exhausted", "there are no trains")
    schema = "its own" if wish.schema is None else wish.schema.name
    return [Line(f"{schema}: {' '.join(wish.only) or 'all'}", 1.0, "x")], {}


@pytest.fixture(autouse=True)
def _with_a_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toys = {
        "toy": Benchmark("a toy", toy),
        "train": Benchmark("a train", train, parts=("engine", "wagon", "none"), any_schema=True),
    }
    monkeypatch.setattr(registry, "BENCHMARKS", {**BENCHMARKS, **toys})


def test_benchmarks_are_listed() -> None:
    result = run("bench")
    assert (result.code, result.stderr) == (0, "")
    assert [line.split()[0] for line in result.stdout.splitlines()] == [
        "covering",
        "filter",
        "overlay",
        "pipeline",
        "workload",
        "toy",
        "train",
    ]
    (row,) = run("bench", "--json").rows
    assert row["toy"] == "a toy"


def test_a_target_that_is_met_or_missed() -> None:
    met, missed = run("bench", "toy", "--quick"), run("bench", "toy")
    assert (met.code, missed.code) == (0, 1)
    assert "pass" in met.stdout
    assert "MISS" in missed.stdout
    assert met.stdout.startswith("benchmark toy (quick")
    assert missed.stdout.startswith("benchmark toy\n")


def test_a_figure_is_told_when_it_is_there() -> None:
    def falls_over(wish: Wish) -> Findings:
        def lines(_: None) -> Iterator[Line]:
            yield Line("a figure", 0.5, "x", target=0.25)
            yield Line("another", 3, "ms")
            raise WorkloadError("exhausted", "nothing is left")

        return wish.gather({"all": lines}, None), {}

    registry.BENCHMARKS["falls"] = Benchmark("falls over", falls_over)  # type: ignore[index]  # a copy of ours
    result = run("bench", "falls")
    assert (result.code, result.stdout) == (2, "")
    told = result.stderr.splitlines()
    assert told[:2] == ["a figure: 0.5 x (>= 0.25 x: pass)", "another: 3 ms"]
    assert "nothing is left" in told[2]


def test_the_report_as_json_and_in_a_file(tmp_path: Path) -> None:
    result = run("bench", "toy", "--json", "--out", tmp_path / "report.json")
    (row,) = result.rows
    assert (result.code, row["passed"], row["quick"]) == (1, False, False)
    assert json.loads((tmp_path / "report.json").read_text()) == row
    result = run("bench", "toy", "--out", tmp_path / "none" / "report.json")
    assert result.code == 2
    assert "No such file" in result.stderr


def test_a_benchmark_that_there_is_not() -> None:
    result = run("bench", "toys")
    assert (result.code, result.stdout) == (2, "")
    assert "there are covering, filter, overlay, pipeline, workload, toy, train" in result.stderr


def test_a_part_and_a_schema_may_be_chosen(tmp_path: Path) -> None:
    def what(*arguments: str | Path) -> object:
        (row,) = run("bench", "train", "--json", *arguments).rows
        return row["lines"][0]["what"]

    (tmp_path / "toys.dtd").write_text("<!ELEMENT toy EMPTY>")
    assert what() == "its own: all"
    assert what("--only", "wagon", "--only", "engine") == "its own: wagon engine"
    assert what("--dtd", "book") == "book: all"
    assert what("--dtd", tmp_path / "toys.dtd", "--only", "wagon") == "toys.dtd: wagon"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("toy", "--dtd", "news"), "schemas of its own"),
        (("toy", "--only", "engine"), "it has none"),
        (("train", "--only", "rail"), "there are engine, wagon"),
        (("train", "--dtd", "missing.dtd"), "missing.dtd"),
        (("train", "--only", "none"), "there are no trains"),
        (("filter", "--only", "none"), "there are linear, hops, mixed, cold, loop, churn, load,"),
    ],
)
def test_what_cannot_be_chosen(arguments: tuple[str, ...], said: str) -> None:
    result = run("bench", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert said in result.stderr
