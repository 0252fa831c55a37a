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

from pathlib import Path

from pyspark.sql import SparkSession

from pathcast.errors import FormatError, PipelineError
from pathcast.files.atomic_write import atomic_file
from pathcast.pipeline.report.content import read_content
from pathcast.pipeline.report.page import render_page
from pathcast.pipeline.report.plots import require_matplotlib
from pathcast.pipeline.statistics import read_statistics

__all__ = ["write_report"]


def write_report(session: SparkSession, out: str, path: Path) -> Path:
    """Write the report of the statistics saved in `out`.

    Raise PipelineError if there are no statistics, no matplotlib, or `path` cannot be written.
    """
    require_matplotlib()  # fail before the expensive work
    content = read_content(session, read_statistics(session, out))
    page = render_page(content, out)
    try:
        with atomic_file(path) as file:
            file.write(page.encode())
    except FormatError as error:
        raise PipelineError("report", error.message, hint=error.hint) from None
    return path
