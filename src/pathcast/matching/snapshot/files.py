"""The door: a snapshot is written to a file, and read from one."""

from __future__ import annotations

import os
from pathlib import Path

from pathcast.errors import FormatError
from pathcast.matching.snapshot.container import read_sections, write_sections
from pathcast.matching.snapshot.model import Snapshot
from pathcast.matching.snapshot.sections import packed, unpacked

__all__ = ["read", "write"]


def write(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Write a snapshot, all or nothing; FormatError if it would not be read again, or cannot be written."""
    place = Path(path)
    if place.name.lower().endswith(".gz"):
        hint = "choose a name that does not end with .gz"
        raise FormatError("file", f"{place}: subscriptions are not packed", hint=hint)
    sections = packed(snapshot)
    unpacked(sections)
    write_sections(sections, place)


def read(path: str | os.PathLike[str]) -> Snapshot:
    """The snapshot of a file; FormatError if there is none, or anything is wrong with it."""
    return unpacked(read_sections(path))
