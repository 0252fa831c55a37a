"""The fragments that a worker keeps: as many as fit into its budget, least recently used first.

Loading a fragment costs far more than matching a document against it, and Spark gives the
partitions of successive batches to any worker. So a worker keeps fragments beyond a batch.

The cache measures what it holds as the growth of the process since the cache was empty. Before a
fragment is loaded, and whenever one is used, others are freed until the budget holds. A fragment
also grows while it matches, by its memo; the cache expects the next use to add as much as the last.
The fragment in use stays, whatever it needs. Where the memory of the process cannot be measured,
one fragment is kept.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Final, Generic, TypeVar

import pyarrow as pa

from pathcast.sandbox.processes import proc_field

__all__ = ["FragmentCache", "free_memory", "resident_memory"]

_Fragment = TypeVar("_Fragment")

_STATUS: Final = Path("/proc/self/status")
_TYPICAL_GROWTH: Final = 8.0  # bytes of memory per byte of file, before any load was measured


class FragmentCache(Generic[_Fragment]):
    """Loaded fragments by key; `memory` returns the bytes of the process, or None.

    `return_memory` is called after a fragment was freed.
    """

    def __init__(self, memory: Callable[[], int | None], return_memory: Callable[[], None]) -> None:
        self._memory = memory
        self._return_memory = return_memory
        self._fragments: dict[Hashable, _Fragment] = {}
        self._empty_bytes = 0
        self._last_bytes = 0
        """The memory when the last fragment was handed out."""
        self._growth = _TYPICAL_GROWTH

    def __len__(self) -> int:
        return len(self._fragments)

    def get(
        self,
        key: Hashable,
        budget: int,
        file_bytes: Callable[[], int],
        load: Callable[[], _Fragment],
    ) -> _Fragment:
        """Return a fragment, loaded if necessary; all together should use at most `budget` bytes.

        `file_bytes` is the size of its file, from which its memory is estimated.
        """
        if self._fragments:
            budget -= max(0, (self._memory() or 0) - self._last_bytes)
        fragment = self._fragments.pop(key, None)
        if fragment is None:
            fragment = self._load(budget, file_bytes(), load)
            self._fragments[key] = fragment
        else:
            self._fragments[key] = fragment  # the most recent one
            self._free(budget, keep=1)
        self._last_bytes = self._memory() or 0
        return fragment

    def _load(self, budget: int, file_bytes: int, load: Callable[[], _Fragment]) -> _Fragment:
        self._free(budget - int(file_bytes * self._growth))
        before = self._memory() or 0
        if not self._fragments:
            self._empty_bytes = before
            return load()  # the first load also loads modules, and measures nothing
        fragment = load()
        self._growth = max(1.0, ((self._memory() or 0) - before) / max(1, file_bytes))
        return fragment

    def clear(self) -> None:
        """Free all fragments."""
        if self._fragments:
            self._fragments.clear()
            self._return_memory()

    def _free(self, budget: int, keep: int = 0) -> None:
        """Free fragments from the oldest on, until the others use at most `budget`."""
        while len(self._fragments) > keep:
            resident = self._memory()
            if resident is not None and resident - self._empty_bytes <= budget:
                return
            del self._fragments[next(iter(self._fragments))]
            self._return_memory()


def resident_memory() -> int | None:
    """Return the bytes of this process in memory; None where the system does not say."""
    return proc_field(_STATUS, "VmRSS")


def free_memory() -> None:
    """Return unused memory to the system, as far as possible."""
    gc.collect()  # a matcher and its automata form reference cycles
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
