"""How fast the pipeline's step of matching is, and what Spark itself costs.

Both sides are warm: the application has taken the step several times, and both matchers have matched all documents, since a worker
of Spark has sooner or later seen them all too. For the same reason they swap their halves after every round.

A round is the two matchers, the step with all files, the step with half of them, and reading alone. That twice as many documents
take twice as long is thus known from the same turns. Sinks come last, with a quarter of the files: they take long, and have no target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from pathcast.bench.pipeline.bench import Bench
from pathcast.bench.pipeline.child import Child, Turn, started, turn
from pathcast.bench.pipeline.inputs import version_of
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
from pathcast.bench.report import Line

__all__ = ["speed"]


def speed(bench: Bench) -> Iterator[Line]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    bench.tell(f"making {sizes.documents:,} documents, {sizes.subscriptions:,} subscriptions")
    bodies = bench.bodies() * sizes.passes
    texts = bench.inputs.selective(sizes.subscriptions)
    with TemporaryDirectory(prefix="pathcast-") as name, ExitStack() as stack:
        folder = Path(name)
        files = write_documents(bodies, folder, sizes.files)
        version = version_of(texts, folder / "versions", sizes.subscribers)
        bench.tell("starting Spark and two matchers")
        spark = stack.enter_context(application(version, folder / "out", "documents"))
        arguments = (MATCHERS, str(version.path), *files)
        pair = _Pair([stack.enter_context(started(*arguments)) for _ in range(2)], len(bodies))
        yield share_line(_checked(bench, spark, pair, files), sizes)
        rounds = list(_rounds(bench, spark, pair, files))
        yield rate_line(rounds, sizes)
        yield doubling_line(rounds, sizes)
        yield cost_line(rounds, sizes)
        for sink in SINKS:
            yield sink_line(sink, list(_sunk(bench, spark, files, sink)), sizes)


class _Pair:
    """The two matchers, each with a half of the documents; they swap after every turn."""

    def __init__(self, matchers: Sequence[Child], documents: int) -> None:
        self._matchers = matchers
        self._halves = [(0, documents // 2), (documents // 2, documents)]

    def turn(self) -> Turn:
        self._halves.reverse()
        orders = [{"start": start, "end": end} for start, end in self._halves]
        return turn(self._matchers, *orders)


def _checked(bench: Bench, spark: Child, pair: _Pair, files: Sequence[str]) -> int:
    """Warm both up; how many matches there are, which both must find."""
    bench.tell("warming up")
    found, again = (
        sum(int(str(answer["matches"])) for answer in pair.turn().answers) for _ in range(2)
    )
    assert found == again == spark.ask(count(files))["matches"], "all are to find the same"
    for number in range(bench.sizes.warm):  # small steps: plans are to be compiled as well as loops
        few = [files[number % len(files)]]
        spark.ask(step("noop", few))
        spark.ask(step("read", few))
    spark.ask(step("noop", files))
    return found


def _rounds(bench: Bench, spark: Child, pair: _Pair, files: Sequence[str]) -> Iterator[Round]:
    half = files[: bench.sizes.files // 2]
    for number in range(bench.sizes.rounds):
        bench.tell(f"matching on Spark and without, round {number + 1} of {bench.sizes.rounds}")
        yield Round(
            pair.turn(),
            turn([spark], step("noop", files)),
            turn([spark], step("noop", half)),
            turn([spark], step("read", files)),
        )


def _sunk(bench: Bench, spark: Child, files: Sequence[str], sink: str) -> Iterator[Turn]:
    """Turns with a sink; the first is not counted."""
    few = files[: bench.sizes.files // 4]
    for number in range(bench.sizes.sinks + 1):
        bench.tell(f"sink {sink}, round {number} of {bench.sizes.sinks}")
        found = turn([spark], step(sink, few))
        if number:
            yield found
