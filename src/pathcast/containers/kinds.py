"""The kinds of files and folders of documents, and the kind that a name implies."""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["FileKind", "file_kind"]

FileKind = Literal["files", "rows", "bodies", "parquet"]
_KIND_BY_SUFFIX: Final[dict[str, FileKind]] = {
    "parquet": "parquet",
    "csv": "rows",
    "json": "rows",
    "jsonl": "bodies",
    "ndjson": "bodies",
}


def file_kind(path: str) -> FileKind:
    """Return the kind of documents that the name of a file or folder implies.

    >>> [file_kind(path) for path in ("feed/", "table.parquet", "stock.CSV.gz", "all.jsonl")]
    ['files', 'parquet', 'rows', 'bodies']
    """
    name = path.lower().rstrip("/").removesuffix(".gz")
    return _KIND_BY_SUFFIX.get(name.rpartition(".")[2], "files")
