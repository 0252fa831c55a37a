"""The journal of a stream over a folder: the files that the stream saw, in order, each once.

A journal is a folder of segments. A segment is a file of JSON lines, `[path, size, mtime_ns]`, and
its name is the position of its first line. Appending returns when the lines are durable, so an
offset of the stream is a position in the journal: a batch that is repeated reads the same files,
and a name that was appended before a crash is read after it.

Small appends rewrite the last segment until it has `SMALL_SEGMENT` lines; others start segments of
at most `LARGE_SEGMENT`. So the cost of an append does not grow with the number of files before it,
and a thousand batches of one file are one segment. The paths of all files are in memory once;
their sizes and times are read from the segments.

One process at a time may write. The planner of a killed driver may live a moment longer, so the
next one waits for its lock.
"""

from __future__ import annotations

import fcntl
import json
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.listing import ListedFile
from pathcast.pipeline.storage import LocalStorage

__all__ = ["LARGE_SEGMENT", "SMALL_SEGMENT", "Journal", "JournalReader", "JournalStart"]

SMALL_SEGMENT: Final = 1_000
LARGE_SEGMENT: Final = 10_000
_LOCK_SECONDS: Final = 60.0
_LOCK_POLL_SECONDS: Final = 0.05
_SUFFIX: Final = ".jsonl"
_START_RECORD: Final = "start.json"


@dataclass(frozen=True, slots=True)
class JournalStart:
    """Where a stream begins: behind files that an earlier stream processed."""

    batch: int = 0
    """The number of the stream's first batch."""
    position: int = 0
    first_end: int | None = None
    """The end of the first batch, if it was planned before."""


class JournalReader:
    """A journal that another process may write."""

    def __init__(self, root: Path) -> None:
        self._storage = LocalStorage(root)

    def start(self) -> JournalStart:
        content = self._storage.read(_START_RECORD)
        return JournalStart() if content is None else JournalStart(**json.loads(content))

    def has_start(self) -> bool:
        """Return whether the stream begins behind an earlier one."""
        return self._storage.read(_START_RECORD) is not None

    def files(self, start: int, end: int) -> list[ListedFile]:
        """Return the files at the positions from `start` to `end`."""
        files: list[ListedFile] = []
        positions = self._segment_positions()
        for position in positions[max(bisect_right(positions, start) - 1, 0) :]:
            if position >= end:
                break
            segment = self._read_segment(position)
            files += segment[max(start - position, 0) : end - position]
        if len(files) != end - start:
            raise PipelineError(
                "checkpoint",
                f"{self._storage.root} has {len(files):,} of the files {start:,} to {end:,}",
                hint="the journal was changed: restore it, or begin with a new folder",
            )
        return files

    def _segment_positions(self) -> list[int]:
        return [
            int(name.removesuffix(_SUFFIX))
            for name in self._storage.names("")
            if name.endswith(_SUFFIX) and not name.startswith(".")
        ]

    def _read_segment(self, position: int) -> list[ListedFile]:
        name = _segment_name(position)
        lines = (self._storage.read(name) or b"").splitlines()
        try:
            return [ListedFile(*json.loads(line)) for line in lines]
        except (ValueError, TypeError):
            raise PipelineError("checkpoint", f"{self._storage.root / name} is damaged") from None


class Journal(JournalReader):
    """A journal that this process writes; `paths` are those of all its files."""

    def __init__(self, root: Path, lock_seconds: float = _LOCK_SECONDS) -> None:
        root.mkdir(parents=True, exist_ok=True)
        super().__init__(root)
        self._lock = _lock(root / ".lock", lock_seconds)
        self.paths: set[str] = set()
        self._length = 0
        self._last_segment: tuple[int, list[ListedFile]] = (0, [])
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        for position in self._segment_positions():
            if position != self._length:
                raise PipelineError(
                    "checkpoint",
                    f"a segment before {self._storage.root / _segment_name(position)} is missing",
                )
            self._include(position, self._read_segment(position))

    def __len__(self) -> int:
        return self._length

    def append(self, files: Sequence[ListedFile]) -> None:
        """Add files that are not in `paths`, durably."""
        position, segment = self._last_segment
        if segment and files and len(segment) + len(files) <= SMALL_SEGMENT:
            self._write_segment(position, [*segment, *files])
            return
        for start in range(0, len(files), LARGE_SEGMENT):
            self._write_segment(self._length, list(files[start : start + LARGE_SEGMENT]))

    def begin(self, start: JournalStart) -> None:
        """Record where the stream of this journal begins, durably."""
        self._storage.write(_START_RECORD, json.dumps(asdict(start)).encode() + b"\n")

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def _write_segment(self, position: int, segment: list[ListedFile]) -> None:
        lines = (json.dumps([file.path, file.size, file.mtime_ns]) + "\n" for file in segment)
        self._storage.write(_segment_name(position), "".join(lines).encode())
        self._include(position, segment)

    def _include(self, position: int, segment: list[ListedFile]) -> None:
        self.paths.update(file.path for file in segment[self._length - position :])
        self._length = position + len(segment)
        self._last_segment = (position, segment)


def _segment_name(position: int) -> str:
    return f"{position:012}{_SUFFIX}"


def _lock(file: Path, seconds: float) -> IO[bytes]:
    """Lock a file until it is closed; PipelineError if another process has it for too long."""
    deadline = time.monotonic() + seconds
    handle = file.open("ab")
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except OSError:
            if time.monotonic() >= deadline:
                handle.close()
                raise PipelineError(
                    "output",
                    f"another stream writes {file.parent}",
                    hint="end it first, or choose another folder",
                ) from None
            time.sleep(_LOCK_POLL_SECONDS)
