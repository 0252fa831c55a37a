"""Peak memory of the largest worker, with all subscriptions in every worker and partitioned.

Each strategy has an application of its own, which matches the same few documents twice. The figure
compares the peak resident size of the largest Python worker, modules included. Both must find the
same number of matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, NamedTuple

from pathcast.bench.pipeline.bench_process import run_turn
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.inputs import build_version
from pathcast.bench.pipeline.processes import worker_peaks
from pathcast.bench.pipeline.report_lines import memory_line
from pathcast.bench.pipeline.spark import application, batch, count
from pathcast.bench.report import ReportLine

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["fragment_cpu_line", "memory"]

_PASSES = 2
_WARM_BATCHES = 8
_MAX_CPU_RATIO = 3.0
_FILES = 4


class _WorkerUsage(NamedTuple):
    peak: int  # bytes, of the largest worker
    matches: object
    fragments: int


def memory(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    bench.progress(f"making {sizes.held:,} subscriptions")
    bodies = bench.bodies()[: sizes.sent]
    with TemporaryDirectory(prefix="pathcast-") as name:
        folder = Path(name)
        files = write_documents(bodies, folder, _FILES)
        version = build_version(bench.inputs.linear(sizes.held), folder / "versions")
        bench.progress(f"{sizes.held:,} subscriptions in every worker")
        all_in_each = _measure(version, folder, files, "documents")
        bench.progress(f"{sizes.held:,} subscriptions, partitioned")
        spread = _measure(version, folder, files, "subscriptions")
        assert all_in_each.matches == spread.matches, "both must find the same"
        yield memory_line(all_in_each.peak, spread.peak, spread.fragments, sizes)
        (folder / "small").mkdir()
        file = write_documents(bodies[:1], folder / "small", 1)
        bench.progress("batches of one document, both ways in turns")
        yield fragment_cpu_line(list(_small_batches(version, folder, file, sizes.sinks + 4)))


def _small_batches(
    version: Version, folder: Path, file: Sequence[str], rounds: int
) -> Iterator[tuple[float, float]]:
    """Yield the workers' CPU seconds of a batch: with fragments, and with all subscriptions."""
    with (
        application(version, folder / "spread", "subscriptions") as spread,
        application(version, folder / "whole", "documents") as complete,
    ):
        for number in range(_WARM_BATCHES + rounds):
            turns = [run_turn([side], batch(file, "one pass")) for side in (spread, complete)]
            if number >= _WARM_BATCHES:
                yield turns[0].seconds["workers"], turns[1].seconds["workers"]


def fragment_cpu_line(seconds: Sequence[tuple[float, float]]) -> ReportLine:
    """Report the workers' CPU time of a small batch with fragments, against none.

    CPU time is counted in steps of 10 ms, so sums are compared.
    """
    spread, complete = (sum(column) / len(seconds) for column in zip(*seconds, strict=True))
    return ReportLine(
        "worker CPU of a batch of one document, fragments / all in each",
        spread / max(complete, 1e-3),
        "x",
        target=_MAX_CPU_RATIO,
        at_least=False,
        note=f"{spread:.3f} s and {complete:.3f} s",
    )


def _measure(
    version: Version,
    folder: Path,
    files: Sequence[str],
    partition: Literal["documents", "subscriptions"],
) -> _WorkerUsage:
    with application(version, folder / "out", partition) as spark:
        peaks: dict[int, int] = {}
        answer = {}
        for _ in range(_PASSES):
            answer = dict(spark.ask(count(files)))
            peaks |= worker_peaks(spark.processes())  # available while the worker runs
    return _WorkerUsage(max(peaks.values()), answer["matches"], int(str(answer["fragments"])))
