"""`pathcast report`: the statistics of a run, as tables and as an HTML page."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathcast.cli.console import Output, fail
from pathcast.cli.durations import parse_duration
from pathcast.cli.interruptible import run_interruptibly
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import SparkOptions
from pathcast.cli.run import require_spark
from pathcast.cli.run_output import RunDisplay
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.report.content import ReportContent
    from pathcast.pipeline.session import SparkSession
    from pathcast.pipeline.statistics import StatisticsSettings

__all__ = [
    "BusySubscription",
    "WrittenReport",
    "busiest_lines",
    "report",
    "write_statistics",
]


@with_option_groups
def report(
    spark: SparkOptions,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The folder that `pathcast run` wrote its results to."),
    ],
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="The page; OUT/report.html by default."),
    ] = None,
    by: Annotated[
        Literal["auto", "time", "batch"],
        typer.Option("--by", help="Windows of the documents' time, or of batches."),
    ] = "auto",
    window: Annotated[
        str | None,
        typer.Option(
            "--window", help="The length of a window: a time such as 10m, or a number of batches."
        ),
    ] = None,
    decay: Annotated[
        float,
        typer.Option(
            "--decay", help="The weight of a document relative to one that is a window younger."
        ),
    ] = 0.9,
    top: Annotated[
        int, typer.Option("--top", help="How many subscriptions are compared pairwise.")
    ] = 100,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Compute the statistics of a run: selectivity, overlap, rates, structures; and write a report.

    The tables go to OUT/statistics; docs/reference/statistics.md describes them. A small run on a
    local disk is computed without Spark; --master, --conf and --ui then have no effect.

    Exit code: 0; 2 for a bad call, or a folder without a run.

    Example: `pathcast report results --window 10m --html report.html`
    """
    length = None if window is None else parse_duration(window, "--window")
    settings = spark.settings()
    require_spark()
    from pathcast.pipeline.session import session_for
    from pathcast.pipeline.statistics import StatisticsSettings, is_small_run

    with Output() as output, RunDisplay() as display:
        try:
            statistics = StatisticsSettings(by=by, window=length, decay=decay, top=top)

            def work(stopping: threading.Event) -> WrittenReport:
                def on_step(complete: int, total: int) -> None:
                    if stopping.is_set():
                        raise KeyboardInterrupt
                    display.show_progress(complete, total)

                if is_small_run(out, settings):
                    display.show_step("computing statistics")
                    return write_statistics(None, out, page, statistics, on_step)
                display.show_step("starting Spark")
                with session_for(spark.master, settings=settings) as session:
                    display.show_ui(session)
                    display.show_step("computing statistics")
                    on_step(0, 0)
                    return write_statistics(session, out, page, statistics, on_step)

            written = run_interruptibly(work, on_stop=display.close)
        except PathcastError as error:
            display.close()
            fail(str(error))
        if as_json:
            busiest = [asdict(row) for row in written.busiest]
            output.json({**written.summary, "busiest": busiest, "report": str(written.path)})
        else:
            output.text(_table(written.summary))
            for line in busiest_lines(written.busiest):
                output.text(line)
            output.text(f"{'report':<15} {written.path}")


def write_statistics(
    session: SparkSession | None,
    out: str,
    page: Path | None = None,
    settings: StatisticsSettings | None = None,
    on_step: Callable[[int, int], None] = lambda _complete, _total: None,
) -> WrittenReport:
    """Compute and save the statistics and the page; call `on_step` as tables are complete.

    Without a session, `out` is the folder of a small run.
    """
    from pathcast.pipeline.report import load_content, write_page
    from pathcast.pipeline.statistics import (
        TABLES,
        StatisticsSettings,
        compute,
        compute_in_memory,
    )
    from pathcast.pipeline.statistics.summary import dump_summary
    from pathcast.pipeline.storage import local_path

    path = local_path(out) / "report.html" if page is None else page
    settings = settings or StatisticsSettings()
    steps = count(1)
    total = len(TABLES) + 2

    def on_table(_name: str) -> None:
        on_step(next(steps), total)

    if session is None:
        summary = compute_in_memory(out, settings=settings, on_table=on_table)
    else:
        summary = compute(session, out, settings=settings, on_table=on_table).summary
    content = load_content(session, out)
    on_step(next(steps), total)
    write_page(content, out, path)
    return WrittenReport(path, json.loads(dump_summary(summary)), _busiest(content))


def _busiest(content: ReportContent) -> list[BusySubscription]:
    """Return the subscriptions with the most documents, of those that differ."""
    overlap = content.overlap
    rows = zip(overlap.subscriptions, overlap.xpaths, overlap.documents, strict=True)
    return [BusySubscription(*row) for row in rows][:_MAX_BUSY]


@dataclass(frozen=True, slots=True)
class BusySubscription:
    """A subscription with its number of documents."""

    id: str
    xpath: str | None
    documents: int


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The page, the summary of the statistics, and the subscriptions that match most."""

    path: Path
    summary: dict[str, object]
    busiest: list[BusySubscription]


def busiest_lines(busiest: list[BusySubscription]) -> list[str]:
    """Return a table of subscriptions: documents, expression, id."""
    width = max((len(f"{row.documents:,}") for row in busiest), default=0)
    return [
        f"{'busiest' if number == 0 else '':<15} {row.documents:>{width},}  {row.xpath or '-'}"
        f"  ({row.id})"
        for number, row in enumerate(busiest)
    ]


_MAX_BUSY = 5
_SUMMARY_ROWS = (
    "documents",
    "matched",
    "refused",
    "matches",
    "deliveries",
    "subscriptions",
    "silent",
    "structures",
)


def _table(summary: dict[str, object]) -> str:
    return "\n".join(
        f"{name:<15} {summary[name]:,}"
        for name in _SUMMARY_ROWS
        if isinstance(summary.get(name), int)
    )
