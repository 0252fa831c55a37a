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

from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.inputs import build_version
from pathcast.bench.pipeline.processes import worker_peaks
from pathcast.bench.pipeline.report_lines import memory_line
from pathcast.bench.pipeline.spark import application, count
from pathcast.bench.report import ReportLine

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["memory"]

_PASSES = 2
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
