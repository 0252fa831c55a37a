"""`pathcast generate feed`: weather or stock reports, as rows or as XML messages.

A style sheet turns rows into messages. A message's id is its number and its time: that of the
report or, with `--arrivals`, the seconds from the start at which the message arrives. Thus ids sort
in the order of arrival, in every format.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

from pathcast.cli.console import Output, fail
from pathcast.cli.document_output import (
    arrival_times,
    choose_document_format,
    document_figures,
    document_table,
    write_output,
)
from pathcast.cli.generate_common import (
    GenerateOptions,
    fail_on_error,
    percentage,
    show_progress,
)
from pathcast.cli.generate_feed_options import FeedOptions, MessageOptions
from pathcast.cli.option_groups import with_option_groups
from pathcast.errors import FormatError
from pathcast.files import DOCUMENT_FORMATS, DocumentFormat
from pathcast.files.atomic_write import atomic_file

if TYPE_CHECKING:
    from pathcast.generators.feeds import Message
    from pathcast.generators.feeds.rows import FeedRow, FeedTable
    from pathcast.generators.statistics import DocumentStatistics

__all__ = ["generate_feed"]

_FORMATS = ("csv", *DOCUMENT_FORMATS)
Statistics = tuple[dict[str, Any], dict[str, str]]  # JSON values, and the rows of a table


@with_option_groups
def generate_feed(
    feed: Annotated[
        str,
        typer.Argument(
            metavar="FEED", help="weather, stock, or a .csv file of such rows to make messages of."
        ),
    ],
    *,
    feed_options: FeedOptions,
    message_options: MessageOptions,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(_FORMATS),
            help="The format of --out; default: by its suffix.",
        ),
    ] = None,
    common: GenerateOptions,
) -> None:
    """Generate a weather or stock feed.

    A .csv file or stdout gets the rows; a folder, a .jsonl or a .parquet file gets the XML messages
    that a style sheet makes of them. Statistics follow, such as the share of repeated messages.

    Exit code: 0; 2 for a bad call or parameters that cannot be satisfied.

    Example: `pathcast generate feed weather --day calm --period 30 -o calm.csv`

    Example: `pathcast generate feed stock --days 5 --arrivals poisson:0.85 -o messages.jsonl`
    """
    as_rows = _is_csv(common.path, file_format)
    document_format = None if as_rows else choose_document_format(common.path, file_format)
    if as_rows and message_options.has_values():
        hint = "write a folder, .jsonl or .parquet (or give --format jsonl)"
        fail(
            f"--sheet, --timed and --arrivals are for messages, and these are rows\n  hint: {hint}"
        )
    with Output() as output, fail_on_error(), _report_csv_line(feed):
        table, grouped = feed_options.load_table(feed, common.seed)
        if document_format is None:
            figures, summary = _write_rows(output, common.path, table)
        else:
            from pathcast.generators.feeds import messages

            stylesheet = message_options.load_stylesheet(feed)
            timed = message_options.timed
            feed_messages = messages(table, stylesheet, feed=feed, grouped=grouped, timed=timed)
            figures, summary = _write_messages(
                output, common, document_format, feed_messages, message_options.arrivals
            )
        common.report(output, {"feed": feed, "seed": common.seed} | figures, summary)


def _is_csv(path: str | None, option: str | None) -> bool:
    if option is not None and option not in _FORMATS:
        fail(f"--format: {option!r} is not one of {', '.join(_FORMATS)}")
    if option is not None or path is None:
        return option in (None, "csv")
    return path.lower().removesuffix(".gz").endswith(".csv")


@contextlib.contextmanager
def _report_csv_line(feed: str) -> Iterator[None]:
    """Report an error in a file of rows with the file and the line, and end the command."""
    try:
        yield
    except FormatError as error:
        if error.kind == "csv":
            fail(f"{feed}{'' if error.line is None else f':{error.line}'}: {error}")
        raise


def _write_messages(
    output: Output,
    common: GenerateOptions,
    document_format: DocumentFormat,
    messages: Iterable[Message],
    arrivals: str | None,
) -> Statistics:
    from pathcast.generators.statistics import DocumentStatistics

    statistics = DocumentStatistics()
    with show_progress(messages, None, with_data=common.path is None) as counted_messages:
        documents = _add_ids(counted_messages, statistics, arrivals, common.seed)
        write_output(output, common.path, document_format, documents)
    figures = document_figures(statistics)
    return figures, document_table(statistics, figures)


def _add_ids(
    messages: Iterable[Message], statistics: DocumentStatistics, arrivals: str | None, seed: int
) -> Iterator[tuple[str, bytes]]:
    """Yield the body of each message with its id."""
    from pathcast.generators.arrivals import parse_arrivals
    from pathcast.generators.feeds.rows import format_time

    times = arrival_times(None if arrivals is None else parse_arrivals(arrivals), seed)
    for number, message in enumerate(messages, 1):
        statistics.add(message.body)
        time = format_time(message.at) if times is None else next(times)
        yield f"{number:07}-{time}", message.body


def _write_rows(output: Output, path: str | None, table: FeedTable) -> Statistics:
    from pathcast.generators.feeds.rows import write_csv

    statistics = _RowStatistics()
    with show_progress(statistics.count(table.rows), None, with_data=path is None) as rows:
        if path is None:
            write_csv(cast(TextIO, _LineWriter(output)), table.fields, rows)
        else:
            with atomic_file(Path(path)) as stream:
                text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
                write_csv(text, table.fields, rows)
                text.detach()  # flushes; `atomic_file` closes the stream
    return statistics.figures(), statistics.table()


class _RowStatistics:
    """Counts rows, and rows that repeat the values (except the time) of an earlier row."""

    def __init__(self) -> None:
        from pathcast.generators.statistics import DistinctCounter

        self._counter = DistinctCounter()
        self._first_time = self._last_time = ""

    def count(self, rows: Iterable[FeedRow]) -> Iterator[FeedRow]:
        """Yield the rows, and count them."""
        for row in rows:
            time, *values = row.values
            self._first_time = self._first_time or time
            self._last_time = time
            self._counter.add("\0".join(values).encode())
            yield row

    def figures(self) -> dict[str, Any]:
        count = len(self._counter)
        return {
            "rows": count,
            "first": self._first_time,
            "last": self._last_time,
            "repeated": count - self._counter.distinct,
        }

    def table(self) -> dict[str, str]:
        figures = self.figures()
        count, repeated = figures["rows"], figures["repeated"]
        return {
            "rows": f"{count:,}",
            "times": f"{figures['first']} to {figures['last']}",
            "repeated": f"{repeated:,} ({percentage(repeated, count)}), ignoring the time",
        }


class _LineWriter:
    """A file for `csv` that writes to the output of the command, a line per call."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, line: str) -> None:
        self._output.text(line.removesuffix("\n"))
