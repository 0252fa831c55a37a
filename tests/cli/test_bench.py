from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from pathcast.bench import registry
from pathcast.bench.options import BenchOptions
from pathcast.bench.registry import SUITES
from pathcast.bench.report import ReportLine
from pathcast.bench.suite import AnySuite, Suite
from pathcast.errors import WorkloadError
from tests.cli.running import run

Context = tuple[float, BenchOptions]
Part = Callable[[Context], Iterable[ReportLine]]


def toy_suite(*, parts: Mapping[str, Part], any_schema: bool = False) -> AnySuite:
    return Suite(
        summary="a toy",
        quick=0.5,
        full=0.1,
        context=lambda figure, options: (figure, options),
        inputs=lambda _: {"toys": "00"},
        parts=parts,
        any_schema=any_schema,
    )


def figure_part(context: Context) -> Iterator[ReportLine]:
    figure, options = context
    options.progress("the only measurement")
    yield ReportLine("toy", figure, "x", target=0.25)


def options_part(context: Context) -> Iterator[ReportLine]:
    """Report the schema and the parts that the options name."""
    _, options = context
    schema = "its own" if options.schema is None else options.schema.name
    yield ReportLine(f"{schema}: {' '.join(options.only) or 'all'}", 1.0, "x")


def failing_part(context: Context) -> Iterator[ReportLine]:
    if "none" in context[1].only:
        raise WorkloadError("exhausted", "there are no trains")
    yield from ()


@pytest.fixture(autouse=True)
def _with_toy_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    train = {"engine": options_part, "wagon": lambda _: iter(()), "none": failing_part}
    toys = {
        "toy": toy_suite(parts={"figure": figure_part}),
        "train": toy_suite(parts=train, any_schema=True),
    }
    monkeypatch.setattr(registry, "SUITES", {**SUITES, **toys})


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


def test_exit_code_is_1_if_a_target_is_missed() -> None:
    met, missed = run("bench", "toy", "--quick"), run("bench", "toy")
    assert (met.code, missed.code) == (0, 1)
    assert "pass" in met.stdout
    assert "MISS" in missed.stdout
    assert met.stdout.startswith("benchmark toy (quick")
    assert missed.stdout.startswith("benchmark toy\n")


def test_figure_appears_when_it_is_complete() -> None:
    def failing(_: Context) -> Iterator[ReportLine]:
        yield ReportLine("a figure", 0.5, "x", target=0.25)
        yield ReportLine("another", 3, "ms")
        raise WorkloadError("exhausted", "nothing is left")

    registry.SUITES["falls"] = toy_suite(parts={"all": failing})  # type: ignore[index]
    result = run("bench", "falls")
    assert (result.code, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert lines[:2] == ["a figure: 0.5 x (>= 0.25 x: pass)", "another: 3 ms"]
    assert "nothing is left" in lines[2]


def test_report_is_written_as_json_and_to_a_file(tmp_path: Path) -> None:
    result = run("bench", "toy", "--json", "--out", tmp_path / "report.json")
    (row,) = result.rows
    assert (result.code, row["passed"], row["quick"]) == (1, False, False)
    assert json.loads((tmp_path / "report.json").read_text()) == row
    result = run("bench", "toy", "--out", tmp_path / "none" / "report.json")
    assert result.code == 2
    assert "No such file" in result.stderr


def test_unknown_benchmark_is_rejected() -> None:
    result = run("bench", "toys")
    assert (result.code, result.stdout) == (2, "")
    assert "there are covering, filter, overlay, pipeline, workload, toy, train" in result.stderr


def test_part_and_schema_are_selected(tmp_path: Path) -> None:
    def label(*arguments: str | Path) -> object:
        (row,) = run("bench", "train", "--json", *arguments).rows
        return row["lines"][0]["what"]

    (tmp_path / "toys.dtd").write_text("<!ELEMENT toy EMPTY>")
    assert label() == "its own: all"
    assert label("--only", "wagon", "--only", "engine") == "its own: wagon engine"
    assert label("--dtd", "book") == "book: all"
    assert label("--dtd", tmp_path / "toys.dtd", "--only", "engine") == "toys.dtd: engine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("toy", "--dtd", "news"), "schemas of its own"),
        (("toy", "--only", "engine"), "there are figure"),
        (("train", "--only", "rail"), "there are engine, wagon"),
        (("train", "--dtd", "missing.dtd"), "missing.dtd"),
        (("train", "--only", "none"), "there are no trains"),
        (
            ("filter", "--only", "none"),
            "there are fixed, linear, hops, mixed, selective, keywords,",
        ),
    ],
)
def test_unsupported_options_are_rejected(arguments: tuple[str, ...], message: str) -> None:
    result = run("bench", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr
