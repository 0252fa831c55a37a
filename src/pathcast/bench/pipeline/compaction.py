"""Reading the results of many batches, as they were written and compacted.

A planted result folder has one small file per table and batch. A copy of it is compacted. Spark
reads the table `matches` of both in turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from pathcast.bench.pipeline.bench_process import run_turn
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.inputs import build_version
from pathcast.bench.pipeline.sizes import FULL
from pathcast.bench.pipeline.spark import application, count_table
from pathcast.bench.report import ReportLine, fingerprint

__all__ = ["compaction", "compaction_line"]

_MIN_RATIO: Final = 10.0


def compaction(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_results import plant_results
    from pathcast.pipeline.compaction import CompactionSettings, compact

    sizes = bench.sizes
    with TemporaryDirectory(prefix="pathcast-") as name:
        folder = Path(name)
        bench.progress(f"planting {sizes.planted_batches:,} batches")
        plant_results(folder / "before", sizes.planted_batches)
        copytree(folder / "before", folder / "after")
        bench.progress("compacting")
        compact(folder / "after", CompactionSettings())
        files = sorted((folder / "before" / "matches").iterdir())
        bench.inputs.fingerprints[f"{sizes.planted_batches:,} planted batches"] = fingerprint(
            file.read_bytes() for file in files
        )
        version = build_version(["//item"], folder / "versions")
        with application(version, folder / "out", "documents") as spark:
            walls = []
            for number in range(sizes.sinks + 1):
                bench.progress(f"reading both, round {number} of {sizes.sinks}")
                turns = [
                    run_turn([spark], count_table(folder / side / "matches"))
                    for side in ("before", "after")
                ]
                counts = [turn.answers[0]["rows"] for turn in turns]
                assert counts == [sizes.planted_batches] * 2, "both must have all rows"
                if number:  # the first round warms up
                    walls.append((turns[0].wall, turns[1].wall))
    yield compaction_line(walls, sizes.planted_batches)


def compaction_line(walls: list[tuple[float, float]], batches: int) -> ReportLine:
    ratios = [before / after for before, after in walls]
    before, after = (median(column) for column in zip(*walls, strict=True))
    return ReportLine(
        f"reading matches of {batches:,} batches, before / after compaction",
        median(ratios),
        "x",
        target=_MIN_RATIO if batches >= FULL.planted_batches else None,
        spread=(min(ratios), max(ratios)),
        note=f"{before:.2f} s and {after:.2f} s",
    )
