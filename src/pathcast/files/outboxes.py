"""Reader of outboxes: the documents that `pathcast run` delivered to a subscriber.

    OUT/segments/batch=N/TASK.parquet     an index: subscriber, document, segment, offset, length
    OUT/segments/batch=N/_SEGMENT.bodies  bodies one after the other, each once
    OUT/outboxes/SUBSCRIBER/N#DOCUMENT    a file per delivery, with `--deliver files` or `links`

An index is sorted by subscriber. The statistics of its row groups find the rows of a subscriber
without reading the others. Names that begin with `_` are skipped by parquet readers, so
`OUT/segments` is also a table with the column `batch`.

Nothing here is ever rewritten, and a batch of segments appears in one step. Readers may take files
and batches away at any time. An id may come again in a later batch, so a delivery is identified by
its batch and its document. Segments need pyarrow: `pip install pathcast[parquet]`.

>>> parse_outbox_name("3#a%2F1.xml"), parse_outbox_name("1.xml")
((3, 'a/1.xml'), (None, '1.xml'))
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pathcast.errors import FormatError
from pathcast.files.file_names import file_name, id_of_file
from pathcast.files.parquet import pyarrow

__all__ = [
    "FILES_FOLDER",
    "SEGMENTS_FOLDER",
    "OutboxEntry",
    "bodies_name",
    "outbox_name",
    "parse_outbox_name",
    "read_outbox",
]

SEGMENTS_FOLDER: Final = "segments"
FILES_FOLDER: Final = "outboxes"
_BATCH_SEPARATOR: Final = "#"  # never in a file name for an id
_ROUTES_PATTERN: Final = "versions/*.routes.parquet"


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A document in the outbox of a subscriber."""

    batch: int | None
    """The batch that delivered it; None for a file of format 1, which counts as of batch 0."""
    document: str
    path: Path
    """The file that has the body, at `offset`."""
    offset: int
    length: int

    def read(self) -> bytes:
        """Return the document; FormatError if its file was taken away."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                body = file.read(self.length)
        except OSError as error:
            raise FormatError("file", f"{self.path}: {error.strerror or error}") from None
        if len(body) != self.length:
            raise FormatError("truncated", f"{self.path} ends within {self.document!r}")
        return body


def read_outbox(
    out: str | os.PathLike[str], subscriber: str, *, since: int = 0
) -> Iterator[OutboxEntry]:
    """Return the documents of a subscriber in the order of their batches, from batch `since` on.

    FormatError if the folder has no outboxes, or none for this subscriber.
    """
    folder = Path(out)
    if not (folder / SEGMENTS_FOLDER).is_dir() and not (folder / FILES_FOLDER).is_dir():
        raise FormatError(
            "outbox",
            f"{folder} has no outboxes",
            hint="OUT of `pathcast run` has them, with --deliver segments, files or links",
        )
    return _entries(folder, subscriber, since)


def outbox_name(batch: int, name: str) -> str:
    """Return the name of a delivery's file, given the file name of its document."""
    return f"{batch}{_BATCH_SEPARATOR}{name}"


def parse_outbox_name(name: str) -> tuple[int | None, str]:
    """Return the batch and the document of a delivery's file."""
    batch, separator, document = name.partition(_BATCH_SEPARATOR)
    return (int(batch), id_of_file(document)) if separator else (None, id_of_file(name))


def bodies_name(segment: str) -> str:
    """Return the file name of a segment's bodies."""
    return f"_{segment}.bodies"


def _entries(out: Path, subscriber: str, since: int) -> Iterator[OutboxEntry]:
    entries = heapq.merge(
        _file_entries(out / FILES_FOLDER / file_name(subscriber), since),
        _segment_entries(out / SEGMENTS_FOLDER, subscriber, since),
        key=lambda entry: entry.batch or 0,
    )
    is_empty = True
    for entry in entries:
        is_empty = False
        yield entry
    if is_empty and not _is_subscriber(out, subscriber):
        raise FormatError("outbox", f"{out} has no subscriber {subscriber!r}")


def _file_entries(outbox: Path, since: int) -> list[OutboxEntry]:
    """Return the entries of a folder with a file per document."""
    entries = []
    for name in _names(outbox):
        batch, document = parse_outbox_name(name)
        path = outbox / name
        try:
            if (batch or 0) >= since:
                entries.append(OutboxEntry(batch, document, path, 0, path.stat().st_size))
        except FileNotFoundError:
            continue
    return sorted(entries, key=lambda entry: (entry.batch or 0, entry.document))


def _segment_entries(segments: Path, subscriber: str, since: int) -> Iterator[OutboxEntry]:
    """Yield the entries of a subscriber in the indexes of all batches."""
    numbers = [name.removeprefix("batch=") for name in _names(segments)]
    for batch in sorted(int(number) for number in numbers if number.isdecimal()):
        if batch < since:
            continue
        folder = segments / f"batch={batch}"
        for index in sorted(folder.glob("*.parquet")):
            for row in _rows_of(index, subscriber, ["document", "segment", "offset", "length"]):
                path = folder / bodies_name(row["segment"])
                yield OutboxEntry(batch, row["document"], path, row["offset"], row["length"])


def _is_subscriber(out: Path, subscriber: str) -> bool:
    """Return whether a version of the run has a subscription of this subscriber."""
    routes = out.glob(_ROUTES_PATTERN)
    return any(_rows_of(file, subscriber, ["subscriber"]) for file in routes)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _rows_of(file: Path, subscriber: str, columns: list[str]) -> list[dict[str, Any]]:
    """Return the rows of a parquet file that have this subscriber; none if the file is gone."""
    arrow, parquet = pyarrow()
    filters = [("subscriber", "=", subscriber)]
    try:
        table = parquet.read_table(file, columns=columns, filters=filters, partitioning=None)
    except (FileNotFoundError, UnicodeEncodeError):  # gone; a name that is not UTF-8
        return []
    except (arrow.ArrowException, OSError) as error:
        raise FormatError("parquet", f"{file}: not readable as parquet: {error}") from None
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
