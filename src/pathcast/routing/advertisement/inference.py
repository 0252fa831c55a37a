"""Advertisements of publishers without a DTD: from what they have sent so far.

Of sample documents three things are kept: which elements are roots, which stand below which, and which are leaves. The paths
that these allow are the advertisement, a local automaton: it generalises (whatever has stood below an element may stand below it anywhere),
so that a handful of samples is soon enough, and it says nothing of what nobody has seen.

A document that falls outside makes it wider by what is new in it, and nothing else. Whether widening comes one by one or all
samples at once, the outcome is the same.

>>> seen = infer([b"<a><b/></a>"])
>>> seen.allows(b"<a><b/><b/></a>"), seen.allows(b"<a><b><b/></b></a>")
(True, False)
>>> print(widen(seen, b"<a><b><b/></b></a>").text)
/ a
a: b
b.: b
"""

from __future__ import annotations

from collections.abc import Iterable

from pathcast.documents import Document
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.elements import elements
from pathcast.routing.advertisement.labels import ElementLabel, split

__all__ = ["infer", "widen"]


def infer(documents: Iterable[bytes | Document]) -> Advertisement:
    """What the documents let expect; raises DocumentError. Without documents, nothing is allowed."""
    growing = _Growing(Advertisement((), (), 0, 0))
    for document in documents:
        growing.take(document)
    return growing.advertisement()


def widen(advertisement: Advertisement, document: bytes | Document) -> Advertisement:
    """One that allows this document too; the same object if it does already. Raises DocumentError."""
    if advertisement.allows(document):
        return advertisement
    growing = _Growing(advertisement)
    growing.take(document)
    return growing.advertisement()


class _Growing:
    """An automaton to which states and ways are added; each name has one state that is its own."""

    def __init__(self, start: Advertisement) -> None:
        self.labels = list(start.labels)
        self.below = list(start.below)
        self.roots = start.roots
        self.leaves = start.leaves
        self._states: dict[str, int] = {}

    def take(self, document: bytes | Document) -> None:
        states = []
        for parent, name, leaf in elements(document):
            state = self._state(name)
            states.append(state)
            if parent < 0:
                self.roots |= 1 << state
            else:
                self.below[states[parent]] |= 1 << state
            if leaf:
                self.leaves |= 1 << state

    def _state(self, name: str) -> int:
        """The state of a name: one that is there if it has a name and not a wildcard, else a new one."""
        found = self._states.get(name)
        if found is None:
            space, local = split(name)
            there = (
                state
                for state, label in enumerate(self.labels)
                if label.local == local and label.has(space, local)
            )
            found = next(there, len(self.labels))
            if found == len(self.labels):
                self.labels.append(ElementLabel(local, frozenset({space})))
                self.below.append(0)
            self._states[name] = found
        return found

    def advertisement(self) -> Advertisement:
        return Advertisement.build(self.labels, self.below, self.roots, self.leaves)
