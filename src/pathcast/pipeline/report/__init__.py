"""The statistics of a run as one self-contained HTML page: figures, plots and tables.

    saved statistics -> content: a few hundred values -> plots: SVG -> page: HTML

    content   the values to show, read from the saved tables
    drawing   matplotlib figures as SVG that takes the page's colours
    plots     one function per plot
    page      the HTML document
    style     its style sheet
    texts     number and time formats

The page has no scripts and no external references, and its content security policy enforces that.
Ids, sources and messages are untrusted: every text is escaped, truncated and stripped of
unprintable characters.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from pathcast.errors import FormatError, PipelineError
from pathcast.files.atomic_write import atomic_file
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.report.content import ReportContent, read_content
from pathcast.pipeline.report.page import render_page
from pathcast.pipeline.report.plots import require_matplotlib
from pathcast.pipeline.statistics.in_memory import open_local_run
from pathcast.pipeline.statistics.saved import read_summary
from pathcast.pipeline.statistics.tables import open_run_storage
from pathcast.pipeline.storage import Storage

__all__ = ["load_content", "write_page", "write_report"]


_MAX_BATCHES: Final = 1_000  # the newest, whose times are shown


def write_report(session: SparkSession | None, out: str, path: Path) -> Path:
    """Write the report of the statistics saved in `out`.

    Without a session, `out` is a local folder. Raise PipelineError if there are no statistics, no
    matplotlib, or `path` cannot be written.
    """
    write_page(load_content(session, out), out, path)
    return path


def load_content(session: SparkSession | None, out: str) -> ReportContent:
    """Return what the report of the statistics in `out` shows; PipelineError if there are none."""
    require_matplotlib()  # fail before the expensive work
    with tempfile.TemporaryDirectory(prefix="pathcast-report-") as copies:
        if session is None:
            storage: Storage = open_local_run(out)
        else:
            storage = open_run_storage(session, out, Path(copies))
        outcomes = BatchLog(storage).last_outcomes(_MAX_BATCHES)
        return read_content(storage, read_summary(storage, out), outcomes)


def write_page(content: ReportContent, out: str, path: Path) -> None:
    """Write the page; PipelineError if that is impossible."""
    page = render_page(content, out)
    try:
        with atomic_file(path) as file:
            file.write(page.encode())
    except FormatError as error:
        raise PipelineError("report", error.message, hint=error.hint) from None
