"""The cost of a delivery: a file for each, against segments.

Both ways stage and publish the same deliveries as a task and the driver do, without Spark, which
has no part in it. A document has about as many subscribers as in the other parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pathcast.bench.measure import Ratio, compare
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.report import ReportLine

__all__ = ["delivery_line", "outboxes"]

_MIN_RATIO: Final = 10.0
_SUBSCRIBERS: Final = 350
_ROUNDS: Final = 3


def outboxes(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_outboxes import OutboxDelivery

    bodies = bench.bodies()[: bench.sizes.delivered]
    bench.progress(f"{len(bodies) * _SUBSCRIBERS:,} deliveries as files and as segments")
    with TemporaryDirectory(prefix="pathcast-") as name:
        segments, files = (
            OutboxDelivery(Path(name, f"{as_files}"), bodies, _SUBSCRIBERS, as_files=as_files)
            for as_files in (False, True)
        )
        ratio = compare(segments, files, rounds=_ROUNDS)
    yield delivery_line(ratio, len(bodies) * _SUBSCRIBERS)


def delivery_line(ratio: Ratio, deliveries: int) -> ReportLine:
    files, segments = (seconds / deliveries * 1e6 for seconds in (ratio.theirs, ratio.ours))
    return ReportLine(
        "CPU per delivery, files / segments",
        ratio.figure,
        "x",
        target=_MIN_RATIO,
        spread=ratio.spread,
        note=f"{files:,.0f} us and {segments:.2g} us; {deliveries:,} deliveries",
    )
