"""The cost of a batch: staged in one pass, against several passes with Spark's own writers.

Both ways run the same batch in turns in one application: plan, tables, publication, outcome. The
first lines have few subscriptions and small batches, as a stream has; the last have many
subscriptions and many matches. The CPU time of matching is that which the workers of the one-pass
job measured; both ways match with the same engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from pathcast.bench.pipeline.bench_process import BenchProcess, Turn, run_turn, start_process
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.inputs import build_version
from pathcast.bench.pipeline.matchers import MATCHERS
from pathcast.bench.pipeline.spark import application, batch
from pathcast.bench.report import ReportLine

__all__ = [
    "BatchTurns",
    "batches",
    "cpu_line",
    "jobs_line",
    "latency_line",
    "own_cpu_line",
]

_MICRO: Final = 1e6
_MIN_LATENCY_RATIO: Final = {1: 3.0, 100: 3.0, 1_000: 2.5}
_MIN_CPU_RATIO: Final = 4.0
_MIN_OWN_CPU_RATIO: Final = 6.0
_MIN_RATE: Final = 0.5
_WARM_BATCHES: Final = 5


class BatchTurns(NamedTuple):
    """The same batch in both ways."""

    one_pass: Turn
    several_passes: Turn


def batches(bench: PipelineContext) -> Iterator[ReportLine]:
    yield from _small_batches(bench)
    yield from _large_batches(bench)


def _small_batches(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    texts = bench.inputs.selective(sizes.batch_subscriptions)
    with TemporaryDirectory(prefix="pathcast-") as name:
        folder = Path(name)
        version = build_version(texts, folder / "versions", sizes.subscribers)
        bench.progress("starting Spark")
        with application(version, folder / "out", "documents") as spark:
            for documents in sizes.batch_sizes:
                tables = folder / f"{documents}"
                tables.mkdir()
                bodies = bench.bodies()[:documents]
                files = write_documents(bodies, tables, 1 if documents < 100 else 2)
                bench.progress(f"batches of {documents:,} documents")
                turns = list(_alternate(spark, files, sizes.batch_rounds))
                if documents == sizes.batch_sizes[0]:
                    yield jobs_line(turns)
                    yield cpu_line(turns, documents)
                yield latency_line(turns, documents)


def _large_batches(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    bodies = bench.bodies() * sizes.passes
    texts = bench.inputs.selective(sizes.subscriptions)
    with TemporaryDirectory(prefix="pathcast-") as name, ExitStack() as stack:
        folder = Path(name)
        files = write_documents(bodies, folder, sizes.files)
        version = build_version(texts, folder / "versions", sizes.subscribers)
        bench.progress("starting Spark and two matchers")
        spark = stack.enter_context(application(version, folder / "out", "documents"))
        arguments = (MATCHERS, str(version.path), *files)
        matchers = [stack.enter_context(start_process(*arguments)) for _ in range(2)]
        halves = [
            {"start": 0, "end": len(bodies) // 2},
            {"start": len(bodies) // 2, "end": len(bodies)},
        ]
        run_turn(matchers, *halves)
        quarter = files[: max(1, sizes.files // 4)]
        bench.progress(f"batches of {sizes.documents_per_turn // 4:,} documents")
        turns = list(_alternate(spark, quarter, sizes.sinks, warm=2))
        yield own_cpu_line(turns, sizes.documents_per_turn // 4)
        bench.progress(f"batches of {sizes.documents_per_turn:,} documents")
        rates = []
        for _ in range(sizes.sinks):
            ours = run_turn([spark], batch(files, "one pass"))
            theirs = run_turn(matchers, *halves)
            rates.append((ours.wall, theirs.wall))
        yield _rate_line(rates, sizes.documents_per_turn)


def _alternate(
    spark: BenchProcess, files: Sequence[str], rounds: int, warm: int = _WARM_BATCHES
) -> Iterator[BatchTurns]:
    """Yield rounds after some that are not counted; both ways must count the same."""
    for number in range(warm + rounds):
        turns = BatchTurns(
            run_turn([spark], batch(files, "one pass")),
            run_turn([spark], batch(files, "several passes")),
        )
        counts = [(turn.answers[0]["matches"], turn.answers[0]["deliveries"]) for turn in turns]
        assert counts[0] == counts[1], "both ways must find the same"
        if number >= warm:
            yield turns


def jobs_line(turns: Sequence[BatchTurns]) -> ReportLine:
    jobs, before = (
        max(int(str(turn.answers[0]["jobs"])) for turn in way) for way in zip(*turns, strict=True)
    )
    return ReportLine(
        "Spark jobs of a batch, tables only",
        jobs,
        "",
        target=1.5,
        at_least=False,
        note=f"{before} in several passes",
    )


def latency_line(turns: Sequence[BatchTurns], documents: int) -> ReportLine:
    """Report the time of a batch in several passes, against one pass, by the wall clock."""
    return _ratio_line(
        f"latency of a batch of {documents:,}, several passes / one",
        [(each.several_passes.wall, each.one_pass.wall) for each in turns],
        _MIN_LATENCY_RATIO.get(documents),
        lambda seconds: f"{seconds:.3f} s",
    )


def cpu_line(turns: Sequence[BatchTurns], documents: int) -> ReportLine:
    return _ratio_line(
        f"CPU of a batch of {documents:,}, several passes / one",
        [(each.several_passes.cpu, each.one_pass.cpu) for each in turns],
        _MIN_CPU_RATIO,
        lambda seconds: f"{seconds:.3f} s",
    )


def own_cpu_line(turns: Sequence[BatchTurns], documents: int) -> ReportLine:
    """Report the CPU time of a document beyond matching, all tables."""
    pairs = []
    for each in turns:
        matching = float(str(each.one_pass.answers[0]["matching"]))
        pairs.append(
            (
                (each.several_passes.cpu - matching) / documents,
                (each.one_pass.cpu - matching) / documents,
            )
        )
    matches = int(str(turns[0].one_pass.answers[0]["matches"])) / documents
    return _ratio_line(
        "CPU beyond matching of a document, several passes / one",
        pairs,
        _MIN_OWN_CPU_RATIO,
        lambda seconds: f"{seconds * _MICRO:,.0f} us",
        f"{matches:,.0f} matches a document",
    )


def _ratio_line(
    label: str,
    pairs: Sequence[tuple[float, float]],
    target: float | None,
    show: Callable[[float], str],
    note: str = "",
) -> ReportLine:
    """Report the median of the ratios of (several passes, one pass)."""
    ratios = [before / after if after > 0 else inf for before, after in pairs]
    before, after = (median(column) for column in zip(*pairs, strict=True))
    figures = f"{show(after)}, in several passes {show(before)}"
    return ReportLine(
        label,
        median(ratios),
        "x",
        target=target,
        spread=(min(ratios), max(ratios)),
        note=f"{figures}; {note}" if note else figures,
    )


def _rate_line(walls: Sequence[tuple[float, float]], documents: int) -> ReportLine:
    ratios = [theirs / ours for ours, theirs in walls]
    ours, theirs = (documents / median(column) for column in zip(*walls, strict=True))
    return ReportLine(
        "documents/s of a batch with all tables / two matchers",
        median(ratios),
        "x",
        target=_MIN_RATE,
        spread=(min(ratios), max(ratios)),
        note=f"{ours:,.0f} documents/s, the matchers {theirs:,.0f}; {documents:,} documents",
    )
