"""Reading and writing of snapshots: files, or binary streams."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from pathcast.errors import FormatError
from pathcast.files.atomic_write import atomic_file
from pathcast.matching.snapshot.container import read_sections, write_sections
from pathcast.matching.snapshot.model import Snapshot
from pathcast.matching.snapshot.sections import pack, unpack

__all__ = ["SnapshotFile", "read", "write"]

SnapshotFile = str | os.PathLike[str] | BinaryIO
"""A path, or a binary stream; one to read must be seekable."""


def write(snapshot: Snapshot, file: SnapshotFile) -> None:
    """Write a snapshot; a file is replaced atomically.

    Raise FormatError if the snapshot is invalid or the file cannot be written.
    """
    sections = pack(snapshot)
    unpack(sections)  # an invalid snapshot raises here, before anything is written
    if not isinstance(file, str | os.PathLike):
        write_sections(sections, file)
        return
    target = Path(file)
    if target.name.lower().endswith(".gz"):
        hint = "choose a name that does not end with .gz"
        raise FormatError("file", f"{target}: subscriptions are not packed", hint=hint)
    with atomic_file(target) as stream:
        write_sections(sections, stream)


def read(file: SnapshotFile) -> Snapshot:
    """Return the snapshot in a file; raise FormatError if it is missing, damaged or invalid."""
    return unpack(_read_file(file) if isinstance(file, str | os.PathLike) else read_sections(file))


def _read_file(path: str | os.PathLike[str]) -> list[memoryview]:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before open: a FIFO would block
            hint = "name the file that Matcher.save wrote"
            raise FormatError(
                "file", f"cannot read {os.fspath(path)}: it is not a regular file", hint=hint
            )
        with open(path, "rb") as stream:
            return read_sections(stream)
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise FormatError("file", f"cannot read {os.fspath(path)}: {reason}") from None
