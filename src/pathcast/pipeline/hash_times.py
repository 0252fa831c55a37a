"""The times of the hashes of a batch, as its outcome records them (see `hash_index`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["HashTimes", "merge_times"]


@dataclass(frozen=True, slots=True)
class HashTimes:
    """Times in seconds since 1970; None if there are no hashes."""

    oldest: float | None
    newest: float | None
    seen: float | None
    """The newest time of this batch and all earlier ones."""


def merge_times(times: Iterable[HashTimes | None]) -> HashTimes | None:
    """Return the times of several batches together."""
    present = [entry for entry in times if entry is not None]
    if not present:
        return None
    oldest = [entry.oldest for entry in present if entry.oldest is not None]
    newest = [entry.newest for entry in present if entry.newest is not None]
    seen = [entry.seen for entry in present if entry.seen is not None]
    return HashTimes(min(oldest, default=None), max(newest, default=None), max(seen, default=None))
