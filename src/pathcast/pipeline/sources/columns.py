"""The columns of a source, read from its first files without Spark.

A misspelt column would refuse every row. So the columns that a run names are looked up before it
starts: in the header of CSV, in the first `_MAX_RECORDS` objects of JSON, in the schema of parquet.
A column counts as present if any of the first `_MAX_FILES` files has it. Without a readable row
there is nothing to check: a stream may begin with an empty folder.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.containers.rows import SUFFIXES, read_records
from pathcast.errors import PipelineError

__all__ = ["first_files", "parquet_types", "record_columns", "require_columns"]

_MAX_FILES: Final = 10
_MAX_RECORDS: Final = 100
_MAX_LISTED_COLUMNS: Final = 20
_MAX_BYTES: Final = 4 << 20  # of a file


def require_columns(place: str, columns: Iterable[str], names: Iterable[str]) -> None:
    """Raise PipelineError if `columns` lacks one of the names."""
    present = list(dict.fromkeys(columns))
    for name in names:
        if name not in present:
            listed = ", ".join(f"{column:.60}" for column in present[:_MAX_LISTED_COLUMNS])
            more = "" if len(present) <= _MAX_LISTED_COLUMNS else " and others"
            raise PipelineError(
                "source",
                f"{place} has no column {name:.60}",
                hint=f"its columns are {listed}{more}" if present else "it has no columns",
            )


def first_files(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the path itself if it is a file, else some files below it with these suffixes."""
    if path.is_file():
        return [path]
    return list(islice(_files_below(path, suffixes), _MAX_FILES))


def _files_below(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        for name in sorted(files):
            if name.lower().endswith(suffixes) and not _is_hidden(name):
                yield Path(root, name)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def record_columns(path: Path) -> dict[str, None]:
    """Return the columns of the first records below a path; none without a readable record."""
    columns: dict[str, None] = {}
    for file in first_files(path, tuple(f".{suffix}" for suffix in SUFFIXES)):
        if not file.name.lower().endswith(tuple(f".{suffix}" for suffix in SUFFIXES)):
            continue
        try:
            with file.open("rb") as stream:
                start = io.BytesIO(stream.read(_MAX_BYTES))
            records = read_records(file.name, start, _MAX_BYTES)
            for record in islice(records, _MAX_RECORDS):
                if isinstance(record.content, dict):
                    columns |= dict.fromkeys(record.content)
        except (OSError, EOFError, zlib.error):
            continue  # the rest of this file cannot be read; the run reports that as a row
    return columns


def parquet_types(path: Path) -> dict[str, pa.DataType]:
    """Return the columns of a table and their types; none without a readable file.

    Folders such as `day=3` are columns too, of unknown type.
    """
    types: dict[str, pa.DataType] = {}
    for file in first_files(path, ("",)):
        try:
            schema = pq.read_schema(file)
        except (OSError, pa.ArrowException):
            continue
        types |= {field.name: field.type for field in schema}
        folders = file.relative_to(path).parts[:-1] if path.is_dir() else ()
        types |= {part.partition("=")[0]: pa.null() for part in folders if "=" in part}
    return types
