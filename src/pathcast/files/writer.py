"""Writer of subscription files that read back as the same values.

| format | ids | namespaces, subscribers | an XPath with a tab or a line end |
|---|---|---|---|
| `.txt` | line numbers: increasing integers (gaps become blank lines) | refused | refused |
| `.tsv` | read back as text: an integer 7 becomes "7" | refused | refused |
| `.jsonl` | kept, integer or text | kept | kept |
| parquet | kept; all integers or all texts | kept | kept |

A value that a format cannot represent is refused with a `FormatError`. Files are written atomically
(`atomic_write`), and errors of the system are a `FormatError` too. The output is a function of the
subscriptions alone. Subscriptions are written one at a time, in constant memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from pathcast.errors import FormatError
from pathcast.files import lines, parquet_writer
from pathcast.files.atomic_write import atomic_file
from pathcast.files.subscription import FORMATS, Format, Subscription, format_of, validate

__all__ = ["write_subscriptions"]


def write_subscriptions(
    path: str | os.PathLike[str],
    subscriptions: Iterable[Subscription],
    *,
    file_format: Format | None = None,
) -> int:
    """Write a file in the format of its name, or in `file_format`; return the number of rows."""
    kind = file_format or format_of(path)
    if kind is None:
        hint = "name it one of ." + ", .".join(FORMATS) + " (and perhaps .gz), or give the format"
        raise FormatError("format", f"the format of {os.fspath(path)!r} is not known", hint=hint)
    valid = (
        validate(row.id, row.xpath, row.namespaces, row.subscriber, row.line)
        for row in subscriptions
    )
    with atomic_file(Path(path)) as stream:
        if kind == "parquet":
            return parquet_writer.write_rows(stream, valid)
        return _write_lines(stream, kind, valid)


def _write_lines(
    stream: BinaryIO, kind: lines.LineFormat, subscriptions: Iterable[Subscription]
) -> int:
    written = count = 0
    for subscription in subscriptions:
        text = lines.line_of(kind, subscription, written)
        stream.write(text.encode())
        written += text.count("\n")
        count += 1
    return count
