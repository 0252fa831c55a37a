"""`pathcast generate feed`: weather or stock reports, as rows or as the messages that a style sheet makes of them.

A message's id is its number and its time: the moment of the report or, with `--arrivals`, the seconds from the start
at which that process lets it come. So ids sort as messages come, in every format.
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
    arriving,
    document_figures,
    document_format,
    document_table,
    write_out,
)
from pathcast.cli.generate_common import (
    JsonOption,
    OutOption,
    SeedOption,
    counted,
    part_of,
    reported,
    told,
)
from pathcast.cli.generate_feed_options import sheet_of, table_of
from pathcast.errors import FormatError
from pathcast.files import DOCUMENT_FORMATS
from pathcast.files.atomic_write import atomic_file

if TYPE_CHECKING:
    from pathcast.generators.feeds import Message
    from pathcast.generators.feeds.rows import FeedRow
    from pathcast.generators.statistics import DocumentStatistics

__all__ = ["generate_feed"]

_FORMATS = ("csv", *DOCUMENT_FORMATS)


def generate_feed(
    feed: Annotated[
        str,
        typer.Argument(
            metavar="FEED", help="weather, stock, or a .csv file of such rows to make messages of."
        ),
    ],
    day: Annotated[
        list[str] | None,
        typer.Option(
            "--day",
            metavar="KIND",
            help="Weather: calm, mixed, changeable or a variability from 0 to 1; one for each day. mixed.",
        ),
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="How many days; kinds of days take turns.")
    ] = None,
    period: Annotated[
        int | None,
        typer.Option("--period", metavar="SECONDS", help="Between reports; weather 30, stock 300."),
    ] = None,
    cities: Annotated[
        str | None,
        typer.Option("--cities", metavar="N|NAME,...", help="Weather: how many, or which; 3."),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Weather: all cities every time, not in turns.")
    ] = False,
    symbols: Annotated[
        int | None, typer.Option("--symbols", help="Stock: how many companies; 100.")
    ] = None,
    trades: Annotated[
        int | None, typer.Option("--trades", help="Stock: mean trades of a company a day; 200.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="DATE", help="The first day; 2011-08-03.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Of each day, such as 9:30.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Of each day, such as 16:00.")
    ] = None,
    seed: SeedOption = 1,
    out: OutOption = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="|".join(_FORMATS), help="Where the name of --out does not say it."
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            "--sheet", metavar="FILE", help="An XSLT sheet, or weather or stock; the feed's own."
        ),
    ] = None,
    timed: Annotated[
        bool, typer.Option("--timed", help="Messages tell their time, so that no two are alike.")
    ] = False,
    arrivals: Annotated[
        str | None,
        typer.Option(
            "--arrivals",
            metavar="PROCESS",
            help="Messages come by poisson:RATE, fixed:SECONDS or bursts:RATE,size=N; ids tell when.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Generate a weather or stock feed.

    To a .csv file or stdout go the rows; to a folder, a .jsonl or a .parquet file go the XML messages that a
    style sheet makes of them. Then statistics are shown, such as the share of repeated messages. The same seed
    gives the same bytes.

    Exit code: 0; 2 for a bad call or parameters that cannot be met.

    Example: `pathcast generate feed weather --day calm --period 30 -o calm.csv`

    Example: `pathcast generate feed stock --days 5 --arrivals poisson:0.85 -o messages.jsonl`
    """
    out = None if out == "-" else out
    as_rows = _as_rows(out, file_format)
    kind = "jsonl" if as_rows else document_format(out, file_format)
    if as_rows and (sheet or timed or arrivals):
        hint = "write a folder, .jsonl or .parquet (or give --format jsonl)"
        fail(
            f"--sheet, --timed and --arrivals are for messages, and these are rows\n  hint: {hint}"
        )
    given: dict[str, Any] = {
        "day": day,
        "cities": cities,
        "together": together or None,
        "symbols": symbols,
        "trades": trades,
        "days": days,
        "period": period,
        "start": start,
        "since": since,
        "until": until,
    }
    given = {name: value for name, value in given.items() if value is not None}
    with Output() as output, told(), _placed(feed):
        table, grouped = table_of(feed, given, seed)
        figures: dict[str, Any] = {"feed": feed, "seed": seed}
        watched = _Watched()
        if as_rows:
            with counted(watched.rows(table.rows), None, with_data=out is None) as rows:
                _write_rows(output, out, table.fields, rows)
            figures |= watched.figures()
            shown = watched.table()
        else:
            from pathcast.generators.feeds import messages
            from pathcast.generators.statistics import DocumentStatistics

            made = messages(table, sheet_of(sheet, feed), feed=feed, grouped=grouped, timed=timed)
            found = DocumentStatistics()
            with counted(made, None, with_data=out is None) as passing:
                write_out(output, out, kind, _named(passing, found, arrivals, seed))
            figures |= document_figures(found)
            shown = document_table(found, figures)
        reported(output, figures, shown, as_json=as_json, aside=out is None)


def _as_rows(out: str | None, given: str | None) -> bool:
    if given is not None and given not in _FORMATS:
        fail(f"--format: {given!r} is not one of {', '.join(_FORMATS)}")
    if given is not None or out is None:
        return given in (None, "csv")
    return out.lower().removesuffix(".gz").endswith(".csv")


@contextlib.contextmanager
def _placed(feed: str) -> Iterator[None]:
    """What is wrong with the rows of a file is said with its place."""
    try:
        yield
    except FormatError as error:
        if error.kind == "csv":
            fail(f"{feed}{'' if error.line is None else f':{error.line}'}: {error}")
        raise


def _named(
    messages: Iterable[Message], found: DocumentStatistics, arrivals: str | None, seed: int
) -> Iterator[tuple[str, bytes]]:
    from pathcast.generators.arrivals import parse_arrivals
    from pathcast.generators.feeds.rows import format_time

    times = arriving(None if arrivals is None else parse_arrivals(arrivals), seed)
    for number, message in enumerate(messages, 1):
        found.add(message.body)
        time = format_time(message.at) if times is None else next(times)
        yield f"{number:07}-{time}", message.body


class _Watched:
    """Counts rows that pass, and those whose values (but for the time) came before."""

    def __init__(self) -> None:
        from pathcast.generators.statistics import DistinctCounter

        self._distinct = DistinctCounter()
        self._first = self._last = ""
        self._different: int | None = None

    def rows(self, rows: Iterable[FeedRow]) -> Iterator[FeedRow]:
        for row in rows:
            time, *values = row.values
            self._first = self._first or time
            self._last = time
            self._distinct.add("\0".join(values).encode())
            yield row

    def figures(self) -> dict[str, Any]:
        count = len(self._distinct)
        return {
            "rows": count,
            "first": self._first,
            "last": self._last,
            "repeated": count - self._distinct.distinct,
        }

    def table(self) -> dict[str, str]:
        found = self.figures()
        again = f"{found['repeated']:,} ({part_of(found['repeated'], found['rows'])}), time aside"
        return {
            "rows": f"{found['rows']:,}",
            "times": f"{found['first']} to {found['last']}",
            "repeated": again,
        }


class _Lines:
    """What csv takes for a file: every write is a line of the output."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, line: str) -> None:
        self._output.text(line.removesuffix("\n"))


def _write_rows(
    output: Output, out: str | None, fields: tuple[str, ...], rows: Iterable[FeedRow]
) -> None:
    from pathcast.generators.feeds.rows import write_csv

    if out is None:
        write_csv(cast(TextIO, _Lines(output)), fields, rows)
        return
    with atomic_file(Path(out)) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        write_csv(text, fields, rows)
        text.detach()  # flushes; the stream is the draft's to close
