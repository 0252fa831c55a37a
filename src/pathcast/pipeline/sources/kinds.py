"""The kinds of document sources, and the kind that a path implies."""

from __future__ import annotations

from typing import Final, Literal, get_args

__all__ = ["KINDS", "SourceKind", "kind_of"]

SourceKind = Literal["files", "rows", "bodies", "parquet", "nats", "kafka"]
KINDS: Final[tuple[SourceKind, ...]] = get_args(SourceKind)
_KIND_BY_SUFFIX: Final[dict[str, SourceKind]] = {
    "parquet": "parquet",
    "csv": "rows",
    "json": "rows",
    "jsonl": "bodies",
    "ndjson": "bodies",
}


def kind_of(path: str) -> SourceKind:
    """Return the kind of source that a path implies.

    >>> kind_of("feed/"), kind_of("table.parquet"), kind_of("stock.CSV.gz"), kind_of("all.jsonl")
    ('files', 'parquet', 'rows', 'bodies')
    """
    if path.startswith(("nats://", "tls://")):
        return "nats"
    if path.startswith("kafka://"):
        return "kafka"
    name = path.lower().rstrip("/").removesuffix(".gz")
    return _KIND_BY_SUFFIX.get(name.rpartition(".")[2], "files")
