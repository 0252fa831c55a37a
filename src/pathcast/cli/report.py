"""`pathcast report`: the statistics of a run, as tables and as an HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathcast.cli.console import Output, fail
from pathcast.cli.durations import parse_duration
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import SparkOptions
from pathcast.cli.run import require_spark
from pathcast.cli.run_output import RunDisplay
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.session import SparkSession

__all__ = ["report", "write_statistics"]


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

    The tables go to OUT/statistics; docs/reference/statistics.md describes them.

    Exit code: 0; 2 for a bad call, or a folder without a run.

    Example: `pathcast report results --window 10m --html report.html`
    """
    length = None if window is None else parse_duration(window, "--window")
    settings = spark.settings()
    require_spark()
    from pathcast.pipeline.session import session_for
    from pathcast.pipeline.statistics import StatisticsSettings

    with Output() as output, RunDisplay() as display:
        try:
            statistics = StatisticsSettings(by=by, window=length, decay=decay, top=top)
            display.show_step("starting Spark")
            with session_for(spark.master, settings=settings) as session:
                display.show_step("computing statistics")
                path, summary = write_statistics(session, out, page, statistics)
        except PathcastError as error:
            display.close()
            fail(str(error))
        if as_json:
            output.json({**summary, "report": str(path)})
        else:
            output.text(_table(summary))
            output.text(f"{'report':<15} {path}")


def write_statistics(
    session: SparkSession, out: str, page: Path | None = None, settings: object = None
) -> tuple[Path, dict[str, object]]:
    """Compute and save the statistics; return the path of the page and the summary."""
    from pathcast.pipeline.report import write_report
    from pathcast.pipeline.statistics import StatisticsSettings, compute
    from pathcast.pipeline.statistics.summary import dump_summary
    from pathcast.pipeline.storage import local_path

    chosen = settings if isinstance(settings, StatisticsSettings) else StatisticsSettings()
    path = local_path(out) / "report.html" if page is None else page
    statistics = compute(session, out, settings=chosen)
    write_report(session, out, path)
    return path, json.loads(dump_summary(statistics.summary))


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
