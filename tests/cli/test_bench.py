from __future__ import annotations

import json
from pathlib import Path

import pytest

from pathcast.bench import registry
from pathcast.bench.registry import BENCHMARKS, Benchmark
from pathcast.bench.report import Findings, Line, Tell
from tests.cli.running import run


def toy(quick: bool, tell: Tell) -> Findings:
    tell("the only thing")
    return [Line("toy", 0.5 if quick else 0.1, "x", target=0.25)], {"toys": "00"}


@pytest.fixture(autouse=True)
def _with_a_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BENCHMARKS", {**BENCHMARKS, "toy": Benchmark("a toy", toy)})


def test_benchmarks_are_listed() -> None:
    result = run("bench")
    assert (result.code, result.stderr) == (0, "")
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["workload", "toy"]
    (row,) = run("bench", "--json").rows
    assert row["toy"] == "a toy"


def test_a_target_that_is_met_or_missed() -> None:
    met, missed = run("bench", "toy", "--quick"), run("bench", "toy")
    assert (met.code, missed.code) == (0, 1)
    assert "pass" in met.stdout
    assert "MISS" in missed.stdout
    assert met.stdout.startswith("benchmark toy (quick")
    assert missed.stdout.startswith("benchmark toy\n")


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
    assert "there are workload, toy" in result.stderr
