"""The cost of `pathcast.spark`, against the same matching written by hand.

    python -m pathcast.bench.pipeline.api CONFIG

All ways run in turns in one application, on the same table and with the same subscriptions. The
figure is CPU time of all processes of the application.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from pathcast.bench.pipeline.bench_process import (
    Answer,
    BenchProcess,
    Turn,
    redirect_output,
    run_turn,
    serve,
    start_process,
)
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.inputs import build_version
from pathcast.bench.pipeline.spark import MASTER
from pathcast.bench.report import ReportLine

__all__ = ["api", "api_line"]

_MODULE: Final = "pathcast.bench.pipeline.api"  # __name__ is "__main__" in the child
_BASELINE: Final = "by-hand"
_WAYS: Final = ("match", "matcher", "table function")
_MAX_RATIO: Final = 1.15
_WARM_TURNS: Final = 5


def api(bench: PipelineContext) -> Iterator[ReportLine]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    texts = bench.inputs.selective(sizes.batch_subscriptions)
    with TemporaryDirectory(prefix="pathcast-") as name:
        folder = Path(name)
        bodies = (bench.bodies() * sizes.passes)[: sizes.api_documents]
        files = write_documents(bodies, folder, 2)
        version = build_version(texts, folder / "versions")
        (folder / "texts.json").write_text(json.dumps(texts))
        bench.progress("starting Spark")
        with start_process(_MODULE, str(folder / "texts.json"), str(version.path)) as spark:
            counts = {way: spark.ask(_request(way, files, count=True)) for way in _all_ways()}
            assert len({str(answer) for answer in counts.values()}) == 1, "all must find the same"
            bench.progress("every way in turns")
            turns = _alternate(spark, files, sizes.rounds)
        for way in _WAYS:
            yield api_line(way, turns[way], turns[_BASELINE], len(bodies))


def _all_ways() -> tuple[str, ...]:
    return (_BASELINE, *_WAYS)


def _request(way: str, files: Sequence[str], *, count: bool = False) -> Answer:
    return {"step": way, "files": [*files], "count": count}


def _alternate(spark: BenchProcess, files: Sequence[str], rounds: int) -> dict[str, list[Turn]]:
    turns: dict[str, list[Turn]] = {way: [] for way in _all_ways()}
    for number in range(_WARM_TURNS + rounds):
        for way in _all_ways():
            turn = run_turn([spark], _request(way, files))
            if number >= _WARM_TURNS:
                turns[way].append(turn)
    return turns


def api_line(
    way: str, turns: Sequence[Turn], baseline: Sequence[Turn], documents: int
) -> ReportLine:
    ratios = [ours.cpu / theirs.cpu for ours, theirs in zip(turns, baseline, strict=True)]
    ours, theirs = (
        median(turn.cpu for turn in side) / documents * 1e6 for side in (turns, baseline)
    )
    return ReportLine(
        f"pathcast.spark, {way} / mapInArrow by hand",
        median(ratios),
        "x",
        target=_MAX_RATIO,
        at_least=False,
        spread=(min(ratios), max(ratios)),
        note=f"{ours:,.0f} us of CPU a document, by hand {theirs:,.0f}",
    )


def _child(texts: str, snapshot: str) -> None:
    from pathcast.spark.bench_steps import ApiApplication

    with redirect_output() as answers:
        rows = {
            str(number): text for number, text in enumerate(json.loads(Path(texts).read_text()))
        }
        application = ApiApplication(rows, snapshot, MASTER)

        def handle(request: Answer) -> Answer:
            step, files = str(request["step"]), request["files"]
            assert isinstance(files, list)
            if request["count"]:
                return {"matches": application.count(step, files)}
            application.run_step(step, files)
            return {}

        try:
            serve(answers, handle)
        finally:
            application.stop()


if __name__ == "__main__":
    _child(*sys.argv[1:])
