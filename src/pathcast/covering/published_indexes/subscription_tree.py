"""The subscription tree of Li, Hou and Jacobsen (2008, section 4.1): patterns below patterns that cover them.

A pattern has one parent, though several may cover it; those that cover it and are not above it have a *super pointer* to it. Whoever covers a node covers all below it, and
whoever covers a pattern in the tree stands below others that do. So those that cover a pattern are found by going down only through such (case 3 of the paper), and what a
pattern covers is taken with all that hangs below it or is pointed to from there.

Adding (cases 1 to 3): go down the first child that covers the new pattern, until none does; there it becomes a child, and those of its new siblings that
it covers become its children; what its parent points to and it covers, it points to instead. Everyone else that covers it gets a pointer. Which nodes elsewhere
the new one covers is not looked for, as the paper proposes: it is found out when asked. Removing: its children and its pointers go to its parent, and who
pointed to it points to its children.

Two properties that the paper searches by are not used: a relative path can stand below an absolute one (`/*/*` covers `a/b`), and a parent need not be shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pathcast.covering.core.labels import LabelTable
from pathcast.covering.core.twigs import HomomorphismTest
from pathcast.covering.encode import EncodedTwig

__all__ = ["SubscriptionTree"]

_TOP = -1


@dataclass(slots=True, eq=False)
class _Node:
    twigs: Sequence[EncodedTwig]
    parent: int
    children: list[int] = field(default_factory=list)
    pointers: set[int] = field(
        default_factory=set
    )  # to nodes that it covers, outside of what is below it
    pointed: set[int] = field(default_factory=set)  # from these


class SubscriptionTree:
    """An index (see `indexes`) that asks pair by pair, and remembers in its shape what it learnt."""

    def __init__(self, labels: LabelTable) -> None:
        self._mapper = HomomorphismTest(labels)
        self._nodes: dict[int, _Node] = {_TOP: _Node((), _TOP)}
        self._flagged: set[int] = set()
        self.compared = 0

    def add(self, key: int, pattern: Sequence[EncodedTwig]) -> None:
        covering = self._covering(pattern)
        parent = _TOP
        above = {_TOP}
        while (below := self._first(self._nodes[parent].children, covering)) is not None:
            parent = below
            above.add(parent)
        node = self._nodes[key] = _Node(pattern, parent)
        siblings = self._nodes[parent].children
        node.children = [one for one in siblings if self._covers(pattern, self._nodes[one].twigs)]
        for one in node.children:
            siblings.remove(one)
            self._nodes[one].parent = key
        siblings.append(key)
        for one in sorted(self._nodes[parent].pointers):  # what the parent points to moves down
            if self._covers(pattern, self._nodes[one].twigs):
                self._unpoint(parent, one)
                self._point(key, one)
        for one in covering - above:
            if not covering.intersection(self._nodes[one].children):  # the lowest of them
                self._point(one, key)

    def remove(self, key: int) -> None:
        node = self._nodes.pop(key)
        self._flagged.discard(key)
        siblings = self._nodes[node.parent].children
        siblings.remove(key)
        siblings += node.children
        for one in node.children:
            self._nodes[one].parent = node.parent
        for one in node.pointed:
            self._nodes[one].pointers.discard(key)
            for child in node.children:
                self._point(one, child)
        for one in node.pointers:
            self._nodes[one].pointed.discard(key)
            if node.parent != _TOP:
                self._point(node.parent, one)

    def flag(self, key: int, wanted: bool) -> None:
        (self._flagged.add if wanted else self._flagged.discard)(key)

    def covered_by(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        found: set[int] = set()
        waiting = list(self._nodes[_TOP].children)
        while waiting:
            key = waiting.pop()
            if key in found:
                continue
            if self._covers(pattern, self._nodes[key].twigs):
                found.update(self._below(key, found))
            else:
                waiting += self._nodes[key].children
        return found & self._flagged if flagged else found

    def covering(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        found = self._covering(pattern)
        return found & self._flagged if flagged else found

    def shape(self) -> dict[int, list[int]]:
        """The children of every node that has some, or that stands at the top."""
        top = self._nodes[_TOP].children
        return {
            key: list(node.children)
            for key, node in self._nodes.items()
            if key != _TOP and (node.children or key in top)
        }

    def pointers(self) -> dict[int, set[int]]:
        """Whom every node points to that points to somebody."""
        return {key: set(node.pointers) for key, node in self._nodes.items() if node.pointers}

    def stats(self) -> dict[str, int]:
        pointers = sum(len(node.pointers) for node in self._nodes.values())
        return {"nodes": len(self._nodes) - 1, "pointers": pointers, "compared": self.compared}

    def _covering(self, pattern: Sequence[EncodedTwig]) -> set[int]:
        found: set[int] = set()
        waiting = list(self._nodes[_TOP].children)
        while waiting:
            key = waiting.pop()
            if self._covers(self._nodes[key].twigs, pattern):
                found.add(key)
                waiting += self._nodes[key].children
        return found

    def _below(self, key: int, known: set[int]) -> Iterator[int]:
        """A node and all that it is known to cover, but for what is known already."""
        seen = {key}
        waiting = [key]
        while waiting:
            one = waiting.pop()
            yield one
            node = self._nodes[one]
            for other in (*node.children, *node.pointers):
                if other not in seen and other not in known:
                    seen.add(other)
                    waiting.append(other)

    def _covers(self, wide: Sequence[EncodedTwig], narrow: Sequence[EncodedTwig]) -> bool:
        self.compared += 1
        return self._mapper.covers(wide, narrow)

    def _point(self, wide: int, narrow: int) -> None:
        self._nodes[wide].pointers.add(narrow)
        self._nodes[narrow].pointed.add(wide)

    def _unpoint(self, wide: int, narrow: int) -> None:
        self._nodes[wide].pointers.discard(narrow)
        self._nodes[narrow].pointed.discard(wide)

    @staticmethod
    def _first(keys: Iterable[int], among: set[int]) -> int | None:
        return next((key for key in keys if key in among), None)
