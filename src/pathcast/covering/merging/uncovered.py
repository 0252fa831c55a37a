"""The uncovered paths of a set: the entries of a table without mergers.

>>> paths = UncoveredPaths()
>>> paths.add(("/a", "/b")), paths.add(("/a", "/*")), paths.remove(("/a", "/*"))
(([], [('/a', '/b')]), ([('/a', '/b')], [('/a', '/*')]), ([('/a', '/*')], [('/a', '/b')]))
"""

from __future__ import annotations

from typing import TypeAlias

from pathcast.covering.merging.index import LinearPathIndex
from pathcast.covering.merging.linear import Steps

__all__ = ["UncoveredPaths"]

_RootChange: TypeAlias = tuple[list[Steps], list[Steps]]  # removed and added roots


class UncoveredPaths:
    """Distinct linear paths: `roots` are those that no other covers."""

    __slots__ = ("_hidden", "roots")

    def __init__(self) -> None:
        self.roots = LinearPathIndex()
        self._hidden = LinearPathIndex()

    def add(self, steps: Steps) -> _RootChange:
        """Add a path that is not present; return the removed and the added roots."""
        if self.roots.covering(steps):
            self._hidden.add(steps)
            return [], []
        removed = self.roots.covered_by(steps)
        for root in removed:
            self.roots.discard(root)
            self._hidden.add(root)
        self.roots.add(steps)
        return removed, [steps]

    def remove(self, steps: Steps) -> _RootChange:
        """Remove a path that is present; return the removed and the added roots."""
        if steps not in self.roots:
            self._hidden.discard(steps)
            return [], []
        self.roots.discard(steps)
        added: list[Steps] = []
        for path in self._hidden.covered_by(steps):
            self._hidden.discard(path)
            added += self.add(path)[1]
        return [steps], [path for path in added if path in self.roots]

    def covered_by(self, steps: Steps) -> list[Steps]:
        """Return all paths that one covers, roots first."""
        return self.roots.covered_by(steps) + self._hidden.covered_by(steps)
