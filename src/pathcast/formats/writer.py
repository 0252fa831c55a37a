"""`Subscription` values -> subscription files: what is written is read back as the same values.

| format | ids | namespaces, subscribers | an XPath with a tab or a line end |
|---|---|---|---|
| `.txt` | the lines' numbers: integers that grow (gaps become empty lines) | refused | refused |
| `.tsv` | read back as text: an integer 7 becomes "7" | refused | refused |
| `.jsonl` | kept, integer or text | kept | kept |
| parquet | kept; all integers or all texts | kept | kept |

What a format cannot hold is refused with a `FormatError` instead of being lost. A file is written beside
its place and moved there when it is complete, so that an error never leaves half a file, nor harms the
one that was there before (an `OSError` comes out as it is). The bytes depend on the subscriptions alone (a gzip header without a date).
"""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pathcast.errors import FormatError
from pathcast.formats import lines, parquet
from pathcast.formats.subscription import FORMATS, Format, Subscription, checked, format_of

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
    with _replacing(Path(path)) as stream:
        if kind == "parquet":
            return parquet.write(stream, sound)
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


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes become the file's when the block ends well, and vanish if it does not."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as raw:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield raw
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
