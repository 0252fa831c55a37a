"""The speed of the pipeline's matching step, and Spark's own cost.

Both sides are warm: the application has run the step several times, and both matchers have matched
all documents, because a Spark worker eventually sees all of them. For the same reason the matchers
swap halves after every round.

A round is the two matchers, the step with all files, the step with half of them, and reading alone.
The same turns therefore show whether twice as many documents take twice as long. Sinks come last,
with a quarter of the files: they take long and have no target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from pathcast.bench.pipeline.bench_process import BenchProcess, Turn, run_turn, start_process
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.inputs import build_version
from pathcast.bench.pipeline.matchers import MATCHERS
from pathcast.bench.pipeline.report_lines import (
    SINKS,
    Round,
    cost_line,
    doubling_line,
    rate_line,
    share_line,
    sink_line,
)
from pathcast.bench.pipeline.spark import application, count, step
from pathcast.bench.report import ReportLine

__all__ = ["speed"]


def speed(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    bench.progress(f"making {sizes.documents:,} documents, {sizes.subscriptions:,} subscriptions")
    bodies = bench.bodies() * sizes.passes
    texts = bench.inputs.selective(sizes.subscriptions)
    with TemporaryDirectory(prefix="pathcast-") as name, ExitStack() as stack:
        folder = Path(name)
        files = write_documents(bodies, folder, sizes.files)
        version = build_version(texts, folder / "versions", sizes.subscribers)
        bench.progress("starting Spark and two matchers")
        spark = stack.enter_context(application(version, folder / "out", "documents"))
        arguments = (MATCHERS, str(version.path), *files)
        pair = _Pair(
            [stack.enter_context(start_process(*arguments)) for _ in range(2)], len(bodies)
        )
        yield share_line(_warm_up(bench, spark, pair, files), sizes)
        rounds = list(_rounds(bench, spark, pair, files))
        yield rate_line(rounds, sizes)
        yield doubling_line(rounds, sizes)
        yield cost_line(rounds, sizes)
        for sink in SINKS:
            yield sink_line(sink, list(_sink_turns(bench, spark, files, sink)), sizes)


class _Pair:
    """The two matchers, each with half of the documents; they swap halves after every turn."""

    def __init__(self, matchers: Sequence[BenchProcess], documents: int) -> None:
        self._matchers = matchers
        self._halves = [(0, documents // 2), (documents // 2, documents)]

    def run_turn(self) -> Turn:
        self._halves.reverse()
        requests = [{"start": start, "end": end} for start, end in self._halves]
        return run_turn(self._matchers, *requests)


def _warm_up(bench: PipelineContext, spark: BenchProcess, pair: _Pair, files: Sequence[str]) -> int:
    """Warm up both sides; return the number of matches, which must agree."""
    bench.progress("warming up")
    first, second = (
        sum(int(str(answer["matches"])) for answer in pair.run_turn().answers) for _ in range(2)
    )
    assert first == second == spark.ask(count(files))["matches"], "all must find the same"
    for number in range(bench.sizes.warm):  # small steps compile plans as well as loops
        file = [files[number % len(files)]]
        spark.ask(step("noop", file))
        spark.ask(step("read", file))
    spark.ask(step("noop", files))
    return first


def _rounds(
    bench: PipelineContext, spark: BenchProcess, pair: _Pair, files: Sequence[str]
) -> Iterator[Round]:
    half = files[: bench.sizes.files // 2]
    for number in range(bench.sizes.rounds):
        bench.progress(f"matching on Spark and without, round {number + 1} of {bench.sizes.rounds}")
        yield Round(
            pair.run_turn(),
            run_turn([spark], step("noop", files)),
            run_turn([spark], step("noop", half)),
            run_turn([spark], step("read", files)),
        )


def _sink_turns(
    bench: PipelineContext, spark: BenchProcess, files: Sequence[str], sink: str
) -> Iterator[Turn]:
    """Yield turns with a sink; the first one warms up and is not counted."""
    quarter = files[: bench.sizes.files // 4]
    for number in range(bench.sizes.sinks + 1):
        bench.progress(f"sink {sink}, round {number} of {bench.sizes.sinks}")
        turn = run_turn([spark], step(sink, quarter))
        if number:
            yield turn
