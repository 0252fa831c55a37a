"""The pipeline benchmark: its arithmetic, process accounting, and a tiny run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from pathcast.bench.options import BenchOptions
from pathcast.bench.pipeline import processes
from pathcast.bench.pipeline.batches import (
    BatchTurns,
    cpu_line,
    jobs_line,
    latency_line,
    own_cpu_line,
)
from pathcast.bench.pipeline.bench_process import Turn, run_turn, start_process
from pathcast.bench.pipeline.processes import Process, by_kind, process_tree, worker_peaks
from pathcast.bench.pipeline.report_lines import (
    Round,
    cost_line,
    doubling_line,
    memory_line,
    rate_line,
    share_line,
    sink_line,
)
from pathcast.bench.pipeline.sizes import FULL, QUICK
from pathcast.bench.pipeline.suite import SUITE
from pathcast.errors import PipelineError

TINY = replace(
    FULL,
    documents=24,
    subscriptions=300,
    subscribers=20,
    files=4,
    warm=1,
    rounds=2,
    sinks=1,
    batch_sizes=(1, 3),
    batch_subscriptions=100,
    batch_rounds=2,
    api_documents=10,
    planted_batches=3,
    few_old_files=2,
    many_old_files=20,
    idle_seconds=1,
    delivered=2,
    held=2_000,
    sent=12,
)


def step(wall: float, java: float, workers: float, matching: float) -> Turn:
    return Turn(wall, {"driver": 0.1, "java": java, "workers": workers}, ({"matching": matching},))


def rounds() -> list[Round]:
    """Return three rounds, whose median is the second."""
    matchers = Turn(2.0, {"driver": 3.8, "java": 0.0, "workers": 0.0}, ())
    return [
        Round(matchers, step(2.5 * by, java, 4.2, 4.0), step(1.25, 0.2, 2.1, 2.0), matchers)
        for by, java in ((1, 0.5), (2, 0.9), (0.8, 0.3))
    ]


def test_figures_are_medians_over_rounds() -> None:
    rate = rate_line(rounds(), FULL)
    assert (rate.figure, rate.spread, rate.passed) == (0.8, (0.4, 1.0), True)
    assert "8,000 documents/s, the matchers 10,000" in rate.note
    cost = cost_line(rounds(), FULL)
    assert cost.figure == pytest.approx(40.0)
    assert cost.spread == pytest.approx((30.0, 60.0))
    assert "java 25, workers 10" in cost.note
    doubling = doubling_line(rounds(), FULL)
    assert (doubling.figure, doubling.passed) == (1.0, True)
    assert doubling_line(rounds()[1:2], FULL).passed is False
    sink = sink_line("matches", [each.full for each in rounds()], FULL)
    assert sink.figure == pytest.approx(160.0)
    assert sink.target is None


def test_targets_are_for_full_sizes() -> None:
    assert share_line(382 * FULL.documents_per_turn, FULL).passed
    assert share_line(501 * FULL.documents_per_turn, FULL).passed is False
    assert memory_line(1000, 490, 8, FULL).passed
    assert memory_line(1000, 510, 8, FULL).passed is False
    quick = memory_line(1000, 510, 8, QUICK)
    assert quick.target is None
    assert "the target, 0.5, is for 1,000,000" in quick.note


def test_cpu_time_is_summed_by_kind() -> None:
    processes_of_run = [
        Process(1, 0, "python", 1.0),
        Process(2, 1, "java", 5.0),
        Process(3, 2, "python", 0.5),
        Process(4, 3, "python", 2.0),
        Process(5, 3, "python", 3.0),
    ]
    assert by_kind(processes_of_run) == {"driver": 1.0, "java": 5.0, "workers": 5.5}


def test_only_children_of_daemons_are_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = [Process(pid, pid - 1, "java" if pid == 2 else "python", 0.0) for pid in range(1, 6)]
    monkeypatch.setattr(processes, "peak_memory", {4: 4096}.get)
    assert worker_peaks(chain) == {4: 4096}


def test_batch_lines_compare_several_passes_with_one() -> None:
    def turn(wall: float, cpu: float, jobs: int) -> Turn:
        return Turn(wall, {"java": cpu}, ({"jobs": jobs, "matches": 700, "matching": 1.0},))

    turns = [BatchTurns(turn(0.2, 2, 1), turn(wall, 9, 8)) for wall in (0.4, 0.8, 1.0)]
    latency = latency_line(turns, 1)
    assert (latency.figure, latency.target, latency.passed) == (4.0, 3.0, True)
    assert jobs_line(turns).passed
    assert (cpu_line(turns, 1).figure, own_cpu_line(turns, 10).figure) == (4.5, 8.0)
    assert own_cpu_line(turns, 10).note.endswith("800,000 us; 70 matches a document")


def test_process_tree_contains_descendants() -> None:
    code = "import subprocess, sys; subprocess.run(['sleep', '60'])"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as child:
        try:
            while len(descendants := process_tree(child.pid)) < 2:
                assert child.poll() is None
            first, second = descendants
            assert (first.pid, second.parent) == (child.pid, child.pid)
            assert first.parent == os.getpid()
        finally:
            os.killpg(child.pid, 9)
    with pytest.raises(PipelineError, match="is not in"):
        process_tree(child.pid)


def test_failed_child_reports_its_output() -> None:
    with (
        pytest.raises(RuntimeError, match=r"ended: (.|\n)*No such file"),
        start_process("pathcast.bench.pipeline.matchers", "/nowhere", "/nothing") as child,
    ):
        run_turn([child], {"start": 0, "end": 1})


@pytest.mark.deep
@pytest.mark.parametrize(
    ("part", "lines"),
    [
        ("speed", 6),
        ("batches", 6),
        ("api", 3),
        ("history", 2),
        ("outboxes", 1),
        ("compaction", 1),
        ("memory", 2),
    ],
)
def test_tiny_run(part: str, lines: int) -> None:
    assert part in SUITE.parts
    started: list[str] = []
    report, inputs = SUITE.measure(BenchOptions(only=(part,), progress=started.append), TINY)
    assert len(report) == lines
    assert all(line.figure > 0 for line in report)
    assert started
    assert inputs
