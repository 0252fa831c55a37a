"""The micro-batches of a stream over a folder, as ranges of positions in its journal.

A batch takes the next files of the journal, at most a number of files and, if asked for, at most a
number of bytes, but at least one file. The folder is scanned only when the journal has fewer files
left than a batch may take. New files are appended in the order of their times.

A scan that finds no change is followed by a pause of `_PAUSE_FACTOR` times its duration, so an idle
stream over very many folders takes at most a tenth of a core.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.journal import Journal
from pathcast.pipeline.sources.listing import FolderScanner

__all__ = ["BatchLimits", "FolderPlanner"]

_PAUSE_FACTOR: Final = 9


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most that a micro-batch takes: files or messages, and bytes of files."""

    documents: int = 1_000
    bytes: int | None = None


class FolderPlanner:
    """Plans the batches of one stream; only one exists per journal."""

    def __init__(
        self,
        scanner: FolderScanner,
        journal: Journal,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._scanner = scanner
        self._journal = journal
        self._clock = clock
        self._start = journal.start()
        self._end: int | None = None
        self._next_scan = 0.0

    def first_position(self) -> int:
        """Return where a new stream begins."""
        return self._start.position

    def fix_end(self) -> None:
        """Let the stream end at the last file that is present now."""
        self._next_scan = 0.0
        self._scan()
        self._end = len(self._journal)

    def last_position(self) -> int:
        """Return the end of the files seen so far."""
        return len(self._journal)

    def batch_end(self, start: int, max_files: int | None, max_bytes: int | None) -> int:
        """Return the end of the batch that begins at `start`, which is `start` without files."""
        if start > len(self._journal):
            raise PipelineError(
                "checkpoint",
                f"the stream has read {start:,} files, and its journal has {len(self._journal):,}",
                hint="the journal was changed: restore it, or begin with a new folder",
            )
        if start == self._start.position and self._start.first_end is not None:
            return self._start.first_end
        if self._end is None and (max_files is None or len(self._journal) - start < max_files):
            self._scan()
        end = len(self._journal) if self._end is None else max(self._end, start)
        if max_files is not None:
            end = min(end, start + max(max_files, 1))
        if max_bytes is not None and end > start:
            sizes = accumulate(file.size for file in self._journal.files(start, end))
            end = start + max(1, sum(size <= max_bytes for size in sizes))
        return end

    def _scan(self) -> None:
        """Append new files to the journal."""
        begin = self._clock()
        if begin < self._next_scan:
            return
        listings = self._scanner.listings
        files = self._scanner.scan(self._journal.paths)
        self._journal.append(sorted(files, key=lambda file: (file.mtime_ns, file.path)))
        if listings == self._scanner.listings:
            end = self._clock()
            self._next_scan = end + _PAUSE_FACTOR * (end - begin)
