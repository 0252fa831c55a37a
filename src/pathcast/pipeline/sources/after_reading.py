"""What becomes of a file after the batch that read it: it stays, or is deleted, or is moved.

A file is taken away only after the record that its batch is done. If the run is killed meanwhile,
Spark repeats the batch, which is done and only takes its remaining files away. A file that changed
since it was listed stays: its new content was not read, or not all of it.

A moved file keeps its path below the folder. It replaces nothing: if the name is taken, it gets the
first free number from 2 on.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.listing import ListedFile

__all__ = ["AfterReading", "take_away"]

_KEEP: Final = "keep"
_DELETE: Final = "delete"
_MOVE: Final = "move:"


@dataclass(frozen=True, slots=True)
class AfterReading:
    """Files stay unless they are deleted, or moved to a folder."""

    is_deleted: bool = False
    folder: str | None = None

    @classmethod
    def parse(cls, text: str) -> AfterReading:
        """Parse `keep`, `delete` or `move:FOLDER`, or raise ValueError.

        >>> AfterReading.parse("move:read")
        AfterReading(is_deleted=False, folder='read')
        """
        folder = text.removeprefix(_MOVE)
        if text not in (_KEEP, _DELETE) and (folder == text or not folder):
            raise ValueError(f"{text!r} is neither keep, delete nor move:FOLDER")
        return cls(text == _DELETE, None if folder == text else folder)

    @property
    def keeps(self) -> bool:
        return not self.is_deleted and self.folder is None


def take_away(action: AfterReading, folder: str, files: Iterable[ListedFile]) -> None:
    """Delete or move files below a folder; those that are gone or changed are left alone."""
    for file in files:
        path = Path(folder, file.path)
        try:
            if not _is_unchanged(path, file):
                continue
            if action.folder is None:
                path.unlink(missing_ok=True)
            else:
                _move(path, Path(action.folder, file.path))
        except OSError as error:
            raise PipelineError(
                "source",
                f"{path} was read, and cannot be taken away: {error.strerror or error}",
                hint="its batch is done; give the run the right to write there, or use keep",
            ) from None


def _is_unchanged(path: Path, file: ListedFile) -> bool:
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    return (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns)


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if _is_copy(path, target):  # a run was killed before it removed the original
        path.unlink()
        return
    target = _free_name(target)
    try:
        path.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = target.with_name(f".{target.name}")
        shutil.copy2(path, draft)
        with draft.open("rb") as copy:
            os.fsync(copy.fileno())
        draft.rename(target)
        path.unlink()


def _is_copy(path: Path, target: Path) -> bool:
    try:
        original, copy = path.stat(), target.stat()
    except FileNotFoundError:
        return False
    return original.st_dev != copy.st_dev and (original.st_size, original.st_mtime_ns) == (
        copy.st_size,
        copy.st_mtime_ns,
    )


def _free_name(target: Path) -> Path:
    candidate, number = target, 1
    while candidate.exists():
        number += 1
        candidate = target.with_name(f"{target.name}#{number}")
    return candidate
