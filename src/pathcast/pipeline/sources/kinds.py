"""The kinds of document sources, and the kind that a path implies."""

from __future__ import annotations

from typing import Final, Literal, get_args

from pathcast.containers.kinds import file_kind

__all__ = ["KINDS", "SourceKind", "kind_of"]

SourceKind = Literal["files", "rows", "bodies", "parquet", "nats", "kafka"]
KINDS: Final[tuple[SourceKind, ...]] = get_args(SourceKind)


def kind_of(path: str) -> SourceKind:
    """Return the kind of source that a path implies.

    >>> kind_of("feed/"), kind_of("nats://localhost/FEED")
    ('files', 'nats')
    """
    if path.startswith(("nats://", "tls://")):
        return "nats"
    if path.startswith("kafka://"):
        return "kafka"
    return file_kind(path)
