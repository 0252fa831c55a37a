"""Inference of advertisements from sample documents, for publishers without a DTD.

Inference records three relations of the samples: which elements are roots, which are children of
which, and which are leaves. They form a local automaton, which generalises: an element that
occurred below another may occur below it everywhere. So a few samples suffice, and elements that
never occurred are not allowed.

A document outside the advertisement widens it by the document's own relations and nothing else.
Widening by documents one at a time and inferring from all of them at once have the same result.

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
from pathcast.routing.advertisement.labels import ElementLabel, split_clark_name

__all__ = ["infer", "widen"]


def infer(documents: Iterable[bytes | Document]) -> Advertisement:
    """Return the advertisement of some samples; raise DocumentError.

    Without samples the advertisement allows no document.
    """
    builder = _LocalAutomatonBuilder(Advertisement((), (), 0, 0))
    for document in documents:
        builder.add(document)
    return builder.advertisement()


def widen(advertisement: Advertisement, document: bytes | Document) -> Advertisement:
    """Return an advertisement that also allows a document; raise DocumentError.

    Return the same object if the advertisement allows the document already.
    """
    if advertisement.allows(document):
        return advertisement
    builder = _LocalAutomatonBuilder(advertisement)
    builder.add(document)
    return builder.advertisement()


class _LocalAutomatonBuilder:
    """An automaton to which documents add states and edges; each name has one state."""

    def __init__(self, start: Advertisement) -> None:
        self.labels = list(start.labels)
        self.below = list(start.below)
        self.roots = start.roots
        self.leaves = start.leaves
        self._states: dict[str, int] = {}

    def add(self, document: bytes | Document) -> None:
        states = []
        for parent, name, leaf in elements(document):
            state = self._state_of(name)
            states.append(state)
            if parent < 0:
                self.roots |= 1 << state
            else:
                self.below[states[parent]] |= 1 << state
            if leaf:
                self.leaves |= 1 << state

    def _state_of(self, name: str) -> int:
        """Return the first state with this name in its label, or a new state.

        Wildcards of the start automaton do not count as a name.
        """
        state = self._states.get(name)
        if state is None:
            space, local = split_clark_name(name)
            candidates = (
                number
                for number, label in enumerate(self.labels)
                if label.local == local and label.has(space, local)
            )
            state = next(candidates, len(self.labels))
            if state == len(self.labels):
                self.labels.append(ElementLabel(local, frozenset({space})))
                self.below.append(0)
            self._states[name] = state
        return state

    def advertisement(self) -> Advertisement:
        return Advertisement.build(self.labels, self.below, self.roots, self.leaves)
