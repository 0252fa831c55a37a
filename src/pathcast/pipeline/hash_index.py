"""The index of hashes: which files may hold a document that a new one repeats.

The outcome of a batch records the times of its hashes: the oldest, the newest, and the newest of
all batches so far (`seen`). A run keeps the times of the batches within reach in memory. It reads
them once, from the newest record backwards, and stops at the first record whose `seen` is out of
reach: all earlier hashes are older than that. So neither the records nor the hashes of old batches
are read, however many there are.

Reach is bounded by twice the window before the newest time seen. A document that is at most one
window older than the newest one seen is compared with everything within its window. One that is
later still is compared only with documents within reach.

    time ---|----------- window -----------|----------- window -----------|---->
            bound: older hashes are not    documents with a complete      seen: the newest
            compared                       comparison begin here          time so far
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pathcast.pipeline.batch_log import BatchLog, BatchOutcome
from pathcast.pipeline.hash_times import HashTimes

__all__ = ["HashIndex"]

_REACH_IN_WINDOWS: Final = 2


@dataclass(frozen=True, slots=True)
class _HashFiles:
    """The hash files of a batch, or of compacted batches, and their times."""

    oldest: float
    newest: float
    names: tuple[str, ...]


class HashIndex:
    """The hash files within reach of new documents; read from the records on first use."""

    def __init__(self, store: BatchLog, window: float) -> None:
        self._store = store
        self.window = window
        self._entries: list[_HashFiles] | None = None
        self._seen: float | None = None

    def bound(self) -> float | None:
        """Return the time of the oldest hashes that are compared; None if there are none."""
        self._load()
        return None if self._seen is None else self._seen - _REACH_IN_WINDOWS * self.window

    def files(self, oldest: float, newest: float) -> list[str]:
        """Return the files that may hold what documents of these times repeat."""
        return [
            f"hashes/{name}"
            for entry in self._load()
            if entry.newest >= oldest - self.window and entry.oldest <= newest
            for name in entry.names
        ]

    def times(self, oldest: float | None, newest: float | None) -> HashTimes:
        """Return the times that the outcome of a batch with these hashes records."""
        self._load()
        seen = [time for time in (self._seen, newest) if time is not None]
        return HashTimes(oldest, newest, max(seen, default=None))

    def add(self, outcome: BatchOutcome) -> None:
        """Add a batch that is done, and drop those that are out of reach."""
        if self._entries is not None and outcome.hashes is not None:
            self._seen = outcome.hashes.seen
            self._entries = self._within_reach([*_entries(outcome), *self._entries])

    def _load(self) -> list[_HashFiles]:
        if self._entries is None:
            self._entries = []
            covered = None
            for batch in reversed(self._store.done_batches()):
                if covered is not None and batch >= covered:
                    continue
                outcome = self._store.done_outcome(batch)
                if outcome is None:
                    continue
                covered = batch if outcome.first is None else outcome.first
                if outcome.hashes is None:
                    continue
                if self._seen is None:
                    self._seen = outcome.hashes.seen
                if self._is_out_of_reach(outcome.hashes.seen):
                    break
                self._entries += self._within_reach(_entries(outcome))
        return self._entries

    def _within_reach(self, entries: Iterable[_HashFiles]) -> list[_HashFiles]:
        return [entry for entry in entries if not self._is_out_of_reach(entry.newest)]

    def _is_out_of_reach(self, newest: float | None) -> bool:
        return (
            newest is not None
            and self._seen is not None
            and newest < self._seen - _REACH_IN_WINDOWS * self.window
        )


def _entries(outcome: BatchOutcome) -> list[_HashFiles]:
    times = outcome.hashes
    if times is None or times.oldest is None or times.newest is None:
        return []
    return [_HashFiles(times.oldest, times.newest, outcome.files.get("hashes", ()))]
