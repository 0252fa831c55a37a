"""The statistics of a run as one page: figures, plots and tables in a file that needs nothing else.

    saved statistics -> content: what is shown, a few hundred values -> plots: SVG -> page: HTML

The page has no scripts and refers to nothing outside itself, and tells the browser to hold it to that. Ids, sources and messages
come from anyone: every text is escaped, cut, and shown without what cannot be printed.
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
    """Write the report of the statistics saved in `out`; PipelineError if there are none, no matplotlib, or no such place."""
    require_matplotlib()  # before work that would be lost
    content = read_content(session, read_statistics(session, out))
    page = render_page(content, out)
    try:
        with atomic_file(path) as file:
            file.write(page.encode())
    except FormatError as error:
        raise PipelineError("report", error.message, hint=error.hint) from None
    return path
