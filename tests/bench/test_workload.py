from __future__ import annotations

from pathcast.bench.options import BenchOptions
from pathcast.bench.report import fingerprint
from pathcast.bench.workload import SUITE, WorkloadSizes, count_distinct
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents

TINY = WorkloadSizes(subscriptions=200, distinct=300, documents=3, period=7200, rounds=1)


def test_every_line_is_measured_and_inputs_are_recorded() -> None:
    started: list[str] = []
    lines, inputs = SUITE.measure(BenchOptions(progress=started.append), TINY)
    assert [line.label for line in lines] == started
    assert [line.target for line in lines] == [0.2, None, None, 1000, 0.25, *[None] * 4]
    assert all(line.figure > 0 for line in lines)
    assert "the target is for 100,000" in lines[0].note
    assert "the target is for 1,000,000" in lines[3].note
    assert lines[3].figure < 500  # megabytes: hardly more than the modules
    assert len(set(inputs.values())) == len(inputs) == 8
    bodies = documents(bundled_schema("bib"), DocumentOptions(size=7_000), 1, TINY.documents)
    assert inputs["bib documents"] == fingerprint(bodies)


def test_distinct_subscriptions_are_counted() -> None:
    assert count_distinct("li2008-a", 50, 1) == 50
    assert count_distinct("semcast2004", 5000, 1) == 70
