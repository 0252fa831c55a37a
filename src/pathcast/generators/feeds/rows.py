"""Rows of a feed, and the CSV files that hold them.

A row is the report of a station or a market at one moment: texts in the order of the feed's fields,
the first of which is `time`. `at` is that moment in seconds since 1970 in local time. So rows of
several feeds can be sorted, and the pause between two messages is a subtraction.

Files are UTF-8 with a header, minimal quoting and line feeds: the same bytes everywhere. The reader
skips a byte order mark, which spreadsheets write. The writer refuses a text that could not be read
back: one with half of a surrogate pair, or one of more than 131,072 characters, the limit of
Python's reader. Reading and writing are streams: a year of rows needs the memory of one.

>>> import io
>>> out = io.StringIO()
>>> row = FeedRow(epoch_seconds(date(2011, 8, 3), 30), ("2011-08-03T00:00:30", "Ottawa"))
>>> write_csv(out, ("time", "city"), [row])
1
>>> read_csv(io.StringIO(out.getvalue())).fields
('time', 'city')
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal, TextIO

from pathcast.errors import FormatError, WorkloadError

__all__ = [
    "DAY_SECONDS",
    "FeedRow",
    "FeedTable",
    "epoch_seconds",
    "format_time",
    "parse_time_of_day",
    "read_csv",
    "write_csv",
]

DAY_SECONDS = 86_400
_MAX_FIELD_LENGTH = 131_072  # characters: the default limit of `csv`, global to the process
_EPOCH = date(1970, 1, 1).toordinal()
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FeedRow:
    """One row; `values` are in the order of the feed's fields."""

    at: int
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeedTable:
    """Rows with their field names; the rows can be iterated once."""

    fields: tuple[str, ...]
    rows: Iterable[FeedRow]


def epoch_seconds(day: date, second: int) -> int:
    """Return the seconds since 1970 of a second of a day."""
    return (day.toordinal() - _EPOCH) * DAY_SECONDS + second


def format_time(at: int) -> str:
    """Format seconds since 1970 as the time field.

    >>> format_time(epoch_seconds(date(2011, 8, 3), 34_200))
    '2011-08-03T09:30:00'
    """
    days, second = divmod(at, DAY_SECONDS)
    day = date.fromordinal(_EPOCH + days).isoformat()
    return f"{day}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def parse_time_of_day(text: str) -> int:
    """Return the second of a time of day: 9:30 is 34200, and 24:00 the end of the day."""
    match = _TIME_OF_DAY.fullmatch(text.strip())
    if match:
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        second = hours * 3600 + minutes * 60 + seconds
        if minutes < 60 and seconds < 60 and second <= DAY_SECONDS:
            return second
    raise WorkloadError("time", f"{text!r} is no time of day", hint="write 9:30 or 16:00:00")


def write_csv(
    target: str | os.PathLike[str] | TextIO, fields: Iterable[str], rows: Iterable[FeedRow]
) -> int:
    """Write a header and the rows; return the number of rows."""
    count = 0
    with contextlib.ExitStack() as stack:
        if isinstance(target, str | os.PathLike):
            target = stack.enter_context(_open(target, "w"))
        plain = csv.writer(target, lineterminator="\n")
        # With this line terminator, Python 3.11 fails to quote a carriage return.
        quoted = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_ALL)
        header = tuple(fields)
        (quoted if "\r" in _check_line(header) else plain).writerow(header)
        for row in rows:
            (quoted if "\r" in _check_line(row.values) else plain).writerow(row.values)
            count += 1
    return count


def _check_line(values: Sequence[str]) -> str:
    """Return the joined texts of a line; raises FormatError if they could not be read back."""
    text = "".join(values)
    if len(text) > _MAX_FIELD_LENGTH and max(map(len, values)) > _MAX_FIELD_LENGTH:
        raise FormatError("csv", f"a text has more than {_MAX_FIELD_LENGTH} characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FormatError("csv", f"{text[error.start]!r} cannot be written as UTF-8") from None
    return text


def read_csv(source: str | os.PathLike[str] | TextIO) -> FeedTable:
    """Return the table in a file, whose first line must name its fields, `time` among them.

    Errors in the header are raised at once, errors in a row when it is reached.
    """
    if isinstance(source, str | os.PathLike):
        return _read_table(_lines(source))
    return _read_table(iter(source))


def _lines(path: str | os.PathLike[str]) -> Iterator[str]:
    with _open(path, "r") as stream:
        try:
            yield from stream
        except UnicodeDecodeError:
            raise FormatError("csv", f"{os.fspath(path)} is not UTF-8") from None


def _open(path: str | os.PathLike[str], mode: Literal["r", "w"]) -> TextIO:
    try:
        encoding = "utf-8-sig" if mode == "r" else "utf-8"
        return Path(path).open(mode, encoding=encoding, newline="")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError("file", f"{os.fspath(path)}: {reason}") from None


def _read_table(lines: Iterator[str]) -> FeedTable:
    reader = csv.reader(lines, strict=True)
    try:
        fields = tuple(next(reader, ()))
    except csv.Error as error:
        raise FormatError("csv", str(error), line=1) from None
    message = None
    if not fields:
        message = "there is no header"
    elif "time" not in fields:
        message = "the header has no field time"
    elif len(set(fields)) != len(fields):
        message = "the header has a field twice"
    if message:
        raise FormatError(
            "csv", message, line=1, hint="the first line names the fields, time first"
        )
    return FeedTable(fields, _rows(reader, lambda: reader.line_num, fields))


def _rows(
    reader: Iterator[list[str]], line: Callable[[], int], fields: tuple[str, ...]
) -> Iterator[FeedRow]:
    time_index = fields.index("time")
    try:
        for values in reader:
            if not values:
                continue
            if len(values) != len(fields):
                message = f"{len(values)} values for {len(fields)} fields"
                raise FormatError("csv", message, line=line())
            yield FeedRow(_parse_time(values[time_index], line()), tuple(values))
    except csv.Error as error:
        raise FormatError("csv", str(error), line=line()) from None


def _parse_time(text: str, line: int) -> int:
    match = _TIME.fullmatch(text)
    if match:
        day, hours, minutes, seconds = match.groups()
        with contextlib.suppress(ValueError):  # 30 February
            second = int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)
            return epoch_seconds(date.fromisoformat(day), second)
    message = f"{text!r} is no time"
    raise FormatError("csv", message, line=line, hint="write it as 2011-08-03T09:30:00")
