"""`Subscription` values -> subscription files: what is written is read back as the same values.

| format | ids | namespaces, subscribers | an XPath with a tab or a line end |
|---|---|---|---|
| `.txt` | the lines' numbers: integers that grow (gaps become empty lines) | refused | refused |
| `.tsv` | read back as text: an integer 7 becomes "7" | refused | refused |
| `.jsonl` | kept, integer or text | kept | kept |
| parquet | kept; all integers or all texts | kept | kept |

What a format cannot hold is refused with a `FormatError` instead of being lost. A file is all or nothing
(`draft.py`), and so is the error: what the system refuses is a `FormatError` too. The bytes depend on the
subscriptions alone. Subscriptions are written as they come: a million need no memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from pathcast.errors import FormatError
from pathcast.files import lines, parquet_writer
from pathcast.files.atomic_write import atomic_file
from pathcast.files.subscription import FORMATS, Format, Subscription, checked, format_of

__all__ = ["write_subscriptions"]


def write_subscriptions(
    path: str | os.PathLike[str],
    subscriptions: Iterable[Subscription],
    *,
    file_format: Format | None = None,
) -> int:
    """Write the file in the format that its name (or `file_format`) says; how many were written."""
    kind = file_format or format_of(path)
    if kind is None:
        hint = "name it one of ." + ", .".join(FORMATS) + " (and perhaps .gz), or give the format"
        raise FormatError("format", f"the format of {os.fspath(path)!r} is not known", hint=hint)
    sound = (
        checked(one.id, one.xpath, one.namespaces, one.subscriber, one.line)
        for one in subscriptions
    )
    with atomic_file(Path(path)) as stream:
        if kind == "parquet":
            return parquet_writer.write_rows(stream, sound)
        return _write_lines(stream, kind, sound)


def _write_lines(
    stream: BinaryIO, kind: lines.LineFormat, subscriptions: Iterable[Subscription]
) -> int:
    written = count = 0
    for one in subscriptions:
        text = lines.line_of(kind, one, written)
        stream.write(text.encode())
        written += text.count("\n")
        count += 1
    return count
