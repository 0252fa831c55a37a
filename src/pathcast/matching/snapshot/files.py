"""Reading and writing of snapshot files."""

from __future__ import annotations

import os
from pathlib import Path

from pathcast.errors import FormatError
from pathcast.matching.snapshot.container import read_sections, write_sections
from pathcast.matching.snapshot.model import Snapshot
from pathcast.matching.snapshot.sections import pack, unpack

__all__ = ["read", "write"]


def write(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Write a snapshot atomically.

    Raise FormatError if the snapshot is invalid or the file cannot be written.
    """
    target = Path(path)
    if target.name.lower().endswith(".gz"):
        hint = "choose a name that does not end with .gz"
        raise FormatError("file", f"{target}: subscriptions are not packed", hint=hint)
    sections = pack(snapshot)
    unpack(sections)  # an invalid snapshot raises here, before a file is written
    write_sections(sections, target)


def read(path: str | os.PathLike[str]) -> Snapshot:
    """Return the snapshot in a file; raise FormatError if it is missing, damaged or invalid."""
    return unpack(read_sections(path))
