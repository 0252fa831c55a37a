"""The files of a folder, listed again only where the folder changed.

Names that begin with `.` or `_` are skipped, folders included: Spark and others mark unfinished
files that way. Links are followed, except to a folder that contains them. A dangling link and
anything else that is no folder counts as a file: reading it gives a fault.

A `FolderScanner` remembers the times of every folder below its base. A scan takes one `stat` per
folder, and lists the folders whose times changed. File systems count time in steps of up to two
seconds, so a file can appear without a change of the time that was seen. Each listing is therefore
repeated once, `SETTLING_SECONDS` after its times were first seen. Only this process's clock is
used, so it may differ from that of a file server.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Final

from pathcast.errors import PipelineError
from pathcast.files.documents import is_hidden, leads_back

__all__ = ["SETTLING_SECONDS", "FileLocation", "FolderScanner", "ListedFile", "list_files"]

SETTLING_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A folder, or the only file of interest in one."""

    folder: str
    file: str | None = None

    @classmethod
    def find(cls, path: str) -> FileLocation:
        """Return the location of an existing path; PipelineError if there is none."""
        absolute = os.path.abspath(path)
        try:
            absolute.encode()
        except UnicodeEncodeError:
            raise PipelineError(
                "source",
                f"{path!a}: the name is not UTF-8, which Spark needs",
                hint="rename it, or read it through a link; names below it may be of any bytes",
            ) from None
        try:
            mode = os.stat(absolute).st_mode
        except OSError as error:
            raise _source_error(path, error) from None
        if stat.S_ISDIR(mode):
            return cls(absolute)
        return cls(*os.path.split(absolute))


@dataclass(frozen=True, slots=True, order=True)
class ListedFile:
    """A file as it was when it was listed; its path is relative to the folder."""

    path: str
    size: int
    mtime_ns: int


def list_files(location: FileLocation) -> list[ListedFile]:
    """Return all files, sorted by path."""
    return sorted(FolderScanner(location).scan(()))


@dataclass(slots=True)
class _FolderState:
    times: tuple[int, int]
    seen: float
    """When these times were seen first."""
    is_settled: bool
    subfolders: list[str]


class FolderScanner:
    """Finds new files below a folder; `clock` is monotonic."""

    def __init__(self, location: FileLocation, clock: Callable[[], float] = time.monotonic) -> None:
        self._location = location
        self._clock = clock
        self._states: dict[str, _FolderState] = {}
        self.listings = 0
        """How many folders were listed so far."""

    def scan(self, seen_paths: Container[str]) -> list[ListedFile]:
        """Return files that are not among `seen_paths`, from folders that changed."""
        if self._location.file is not None:
            path = self._location.file
            listed = None if path in seen_paths else self._stat_file(path, is_link=True)
            return [] if listed is None else [listed]
        files: list[ListedFile] = []
        states: dict[str, _FolderState] = {}  # folders that no longer exist are dropped
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                state = self._scan_folder(folder, seen_paths, files)
            except (FileNotFoundError, NotADirectoryError) as error:
                if not folder:
                    raise _source_error(self._location.folder, error) from None
                continue
            except OSError as error:
                raise _source_error(os.path.join(self._location.folder, folder), error) from None
            states[folder] = state
            pending += state.subfolders
        self._states = states
        return files

    def _scan_folder(
        self, folder: str, seen_paths: Container[str], files: list[ListedFile]
    ) -> _FolderState:
        """List a folder if necessary, and append its new files."""
        status = os.stat(os.path.join(self._location.folder, folder))  # before it is listed
        times, now = (status.st_mtime_ns, status.st_ctime_ns), self._clock()
        state = self._states.get(folder)
        if state is None or state.times != times:
            state = _FolderState(times, now, False, [])
        elif state.is_settled or now - state.seen < SETTLING_SECONDS:
            return state
        else:
            state = _FolderState(times, state.seen, True, [])
        self.listings += 1
        prefix = f"{folder}/" if folder else ""
        with os.scandir(os.path.join(self._location.folder, folder)) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                path = prefix + entry.name
                if _is_folder(entry):
                    if not entry.is_symlink() or not leads_back(entry.path):
                        state.subfolders.append(path)
                elif path not in seen_paths:
                    listed = self._stat_file(path, is_link=entry.is_symlink())
                    if listed is not None:
                        files.append(listed)
        return state

    def _stat_file(self, path: str, *, is_link: bool) -> ListedFile | None:
        """Return a file with its size and time; None if it disappeared since it was listed."""
        try:
            status = os.stat(os.path.join(self._location.folder, path))
        except FileNotFoundError:
            return ListedFile(path, 0, 0) if is_link else None
        except OSError:
            return ListedFile(path, 0, 0)  # reading it gives the reason
        return ListedFile(path, status.st_size, status.st_mtime_ns)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, for example
        return False


def _source_error(path: str, error: OSError) -> PipelineError:
    return PipelineError("source", f"{path}: {error.strerror or error}")
