"""Index of linear paths: search for those that a path covers and those that cover it.

A path that covers another has no name that the other lacks. For every name, a bit vector holds the
paths with that name; a few operations on these vectors leave a few candidates, which the shift-and
automaton tests. Among 10,000 paths a search takes some microseconds for each name, and about one
for each candidate.

>>> index = LinearPathIndex()
>>> for steps in (("/a", "/b"), ("/a", "/c"), ("/x", "/*")):
...     index.add(steps)
>>> index.covered_by(("/a", "/*")), index.covering(("/x", "/b"))
([('/a', '/b'), ('/a', '/c')], [('/x', '/*')])
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.covering.merging.linear import ShiftAndNfa, Steps, single_nfa, step_name

__all__ = ["LinearPathIndex"]


class LinearPathIndex:
    """A set of paths. Results are ordered by id: by insertion, as long as no path is discarded."""

    __slots__ = ("_all", "_by_name", "_free_ids", "_ids", "_nfas", "_paths")

    def __init__(self) -> None:
        self._paths: list[Steps] = []
        self._nfas: list[ShiftAndNfa] = []
        self._ids: dict[Steps, int] = {}
        self._free_ids: list[int] = []
        self._by_name: dict[str, int] = {}  # name -> bits of the paths with it
        self._all = 0  # bits of all paths

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Steps]:
        return iter(self._ids)

    def __contains__(self, steps: Steps) -> bool:
        return steps in self._ids

    def add(self, steps: Steps) -> None:
        """Add a path that is not present."""
        nfa = single_nfa(steps)
        if self._free_ids:
            id = self._free_ids.pop()
            self._paths[id], self._nfas[id] = steps, nfa
        else:
            id = len(self._paths)
            self._paths.append(steps)
            self._nfas.append(nfa)
        self._ids[steps] = id
        self._all |= 1 << id
        for name in _names(steps):
            self._by_name[name] = self._by_name.get(name, 0) | 1 << id

    def discard(self, steps: Steps) -> None:
        """Remove a path if it is present."""
        id = self._ids.pop(steps, None)
        if id is None:
            return
        self._free_ids.append(id)
        self._all ^= 1 << id
        for name in _names(steps):
            self._by_name[name] ^= 1 << id
            if not self._by_name[name]:
                del self._by_name[name]

    def covered_by(self, steps: Steps) -> list[Steps]:
        """Return the paths that this one covers, including itself if present."""
        candidates = self._all
        for name in _names(steps):
            candidates &= self._by_name.get(name, 0)
        nfa = single_nfa(steps)
        paths = (self._paths[id] for id in _set_bits(candidates))
        return [path for path in paths if nfa.accepts(path)]

    def covering(self, steps: Steps) -> list[Steps]:
        """Return the paths that cover this one, including itself if present."""
        own_names = _names(steps)
        with_other_names = 0
        for name, bits in self._by_name.items():
            if name not in own_names:
                with_other_names |= bits
        candidates = _set_bits(self._all & ~with_other_names)
        return [self._paths[id] for id in candidates if self._nfas[id].accepts(steps)]


def _names(steps: Steps) -> set[str]:
    return {step_name(step) for step in steps} - {"*"}


def _set_bits(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
