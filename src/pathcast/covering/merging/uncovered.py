"""The subscriptions that no other covers: what a table without mergers holds.

>>> patterns = UncoveredPaths()
>>> patterns.add(("/a", "/b")), patterns.add(("/a", "/*")), patterns.remove(("/a", "/*"))
(([], [('/a', '/b')]), ([('/a', '/b')], [('/a', '/*')]), ([('/a', '/*')], [('/a', '/b')]))
"""

from __future__ import annotations

from typing import TypeAlias

from pathcast.covering.merging.index import LinearPathIndex
from pathcast.covering.merging.linear import Steps

__all__ = ["UncoveredPaths"]

_GoneAndCome: TypeAlias = tuple[list[Steps], list[Steps]]


class UncoveredPaths:
    """Different linear patterns, those on `top` kept apart from those below."""

    __slots__ = ("_below", "top")

    def __init__(self) -> None:
        self.top = LinearPathIndex()
        self._below = LinearPathIndex()

    def add(self, steps: Steps) -> _GoneAndCome:
        """Take a pattern that is not here: which are no longer on top, and which are now."""
        if self.top.covering(steps):
            self._below.add(steps)
            return [], []
        gone = self.top.covered_by(steps)
        for one in gone:
            self.top.discard(one)
            self._below.add(one)
        self.top.add(steps)
        return gone, [steps]

    def remove(self, steps: Steps) -> _GoneAndCome:
        """Let a pattern go that is here."""
        if steps not in self.top:
            self._below.discard(steps)
            return [], []
        self.top.discard(steps)
        come: list[Steps] = []
        for one in self._below.covered_by(steps):
            self._below.discard(one)
            come += self.add(one)[1]
        return [steps], [one for one in come if one in self.top]

    def covered_by(self, steps: Steps) -> list[Steps]:
        """The patterns, on top or below, that one covers."""
        return self.top.covered_by(steps) + self._below.covered_by(steps)
