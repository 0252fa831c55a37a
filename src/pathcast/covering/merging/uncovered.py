"""The subscriptions that no other covers: what a table without mergers holds.

>>> patterns = Uncovered()
>>> patterns.add(("/a", "/b")), patterns.add(("/a", "/*")), patterns.remove(("/a", "/*"))
(([], [('/a', '/b')]), ([('/a', '/b')], [('/a', '/*')]), ([('/a', '/*')], [('/a', '/b')]))
"""

from __future__ import annotations

from typing import TypeAlias

from pathcast.covering.merging.index import Index
from pathcast.covering.merging.linear import Steps

__all__ = ["Uncovered"]

_GoneAndCome: TypeAlias = tuple[list[Steps], list[Steps]]


class Uncovered:
    """Different linear patterns, those on `top` kept apart from those below."""

    __slots__ = ("_below", "top")

    def __init__(self) -> None:
        self.top = Index()
        self._below = Index()

    def add(self, steps: Steps) -> _GoneAndCome:
        """Take a pattern that is not here: which are no longer on top, and which are now."""
        if self.top.covering(steps):
            self._below.add(steps)
            return [], []
        gone = self.top.covered(steps)
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
        for one in self._below.covered(steps):
            self._below.discard(one)
            come += self.add(one)[1]
        return [steps], [one for one in come if one in self.top]

    def covered(self, steps: Steps) -> list[Steps]:
        """The patterns, on top or below, that one covers."""
        return self.top.covered(steps) + self._below.covered(steps)
