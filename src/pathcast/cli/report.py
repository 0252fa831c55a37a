"""`pathcast report`: the statistics of a run, as tables and as a page to look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathcast.cli.console import Output, fail
from pathcast.cli.durations import seconds_of
from pathcast.cli.run import require_spark, settings_of
from pathcast.cli.run_output import Watcher
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.session import SparkSession

__all__ = ["report", "write_statistics"]


def report(
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
            "--decay", help="What a document weighs, against one that is a window younger."
        ),
    ] = 0.9,
    top: Annotated[
        int, typer.Option("--top", help="How many subscriptions are compared with each other.")
    ] = 100,
    master: Annotated[str, typer.Option("--master", help="Any Spark master.")] = "local[*,4]",
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark's; may be repeated."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Compute the statistics of a run: selectivity, overlap, rates, structures; and write a report.

    The tables go to OUT/statistics; docs/reference/statistics.md tells what is in them.

    Exit code: 0; 2 for a bad call, or a folder that is no run's.

    Example: `pathcast report results --window 10m --html report.html`
    """
    length = None if window is None else seconds_of(window, "--window")
    settings = settings_of(conf)
    require_spark()
    from pathcast.pipeline.session import session_for
    from pathcast.pipeline.statistics import StatisticsSettings

    with Output() as output, Watcher() as watcher:
        try:
            asked = StatisticsSettings(by=by, window=length, decay=decay, top=top)
            watcher.doing("starting Spark")
            with session_for(master, settings=settings) as session:
                watcher.doing("computing statistics")
                place, summary = write_statistics(session, out, page, asked)
        except PathcastError as error:
            watcher.close()
            fail(str(error))
        if as_json:
            output.json({**summary, "report": str(place)})
        else:
            output.text(_table(summary))
            output.text(f"{'report':<15} {place}")


def write_statistics(
    session: SparkSession, out: str, page: Path | None = None, settings: object = None
) -> tuple[Path, dict[str, object]]:
    """Compute and save; where the page is, and the figures."""
    from pathcast.pipeline.report import write_report
    from pathcast.pipeline.statistics import StatisticsSettings, compute
    from pathcast.pipeline.statistics.summary import dump_summary
    from pathcast.pipeline.storage import local_path

    asked = settings if isinstance(settings, StatisticsSettings) else StatisticsSettings()
    place = local_path(out) / "report.html" if page is None else page
    found = compute(session, out, settings=asked)
    write_report(session, out, place)
    return place, json.loads(dump_summary(found.summary))


_SHOWN = (
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
        f"{name:<15} {summary[name]:,}" for name in _SHOWN if isinstance(summary.get(name), int)
    )
