"""Subscription tree: patterns below patterns that cover them (Li 2008, section 4.1).

A pattern has one parent, though several patterns may cover it. A pattern that covers another
without being its ancestor has a *super pointer* to it. A pattern that covers a node covers all
nodes below it, and the ancestors of a covering pattern are covering too. So `covering` descends
through covering nodes only (case 3 of the paper), and `covered_by` takes a covered node with all
nodes below it and behind its super pointers.

*Add* (cases 1 to 3): descend to the first child that covers the new pattern, until there is none.
The pattern becomes a child there. Those of its siblings that it covers become its children, and
pointers of its parent to patterns that it covers become its own. All other patterns that cover it
get a pointer. As the paper proposes, nodes elsewhere that the new pattern covers are not searched
for; queries find them.

*Remove*: the parent inherits the children and the pointers; nodes that pointed to the removed one
point to its children.

Two properties that the paper uses to prune its search do not hold and are not used: a relative
path can be below an absolute one (`/*/*` covers `a/b`), and a parent need not be shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pathcast.covering.core.labels import LabelTable
from pathcast.covering.core.twigs import HomomorphismTest
from pathcast.covering.encode import EncodedTwig

__all__ = ["SubscriptionTree"]

_TOP = -1  # the key of the virtual root


@dataclass(slots=True, eq=False)
class _SubscriptionNode:
    twigs: Sequence[EncodedTwig]
    parent: int
    children: list[int] = field(default_factory=list)
    pointers: set[int] = field(default_factory=set)  # super pointers from here
    pointed_by: set[int] = field(default_factory=set)  # nodes with a super pointer to here


class SubscriptionTree:
    """A `CoveringIndex` that compares pairs of patterns and records the results as a tree."""

    def __init__(self, labels: LabelTable) -> None:
        self._homomorphism = HomomorphismTest(labels)
        self._nodes: dict[int, _SubscriptionNode] = {_TOP: _SubscriptionNode((), _TOP)}
        self._flagged: set[int] = set()
        self.compared = 0

    def add(self, key: int, pattern: Sequence[EncodedTwig]) -> None:
        covering = self.covering(pattern)
        parent = _TOP
        ancestors = {_TOP}
        while (child := self._first(self._nodes[parent].children, covering)) is not None:
            parent = child
            ancestors.add(parent)
        node = self._nodes[key] = _SubscriptionNode(pattern, parent)
        siblings = self._nodes[parent].children
        node.children = [
            sibling for sibling in siblings if self._covers(pattern, self._nodes[sibling].twigs)
        ]
        for child in node.children:
            siblings.remove(child)
            self._nodes[child].parent = key
        siblings.append(key)
        for target in sorted(self._nodes[parent].pointers):
            if self._covers(pattern, self._nodes[target].twigs):
                self._unpoint(parent, target)
                self._point(key, target)
        for wide in covering - ancestors:
            if not covering.intersection(self._nodes[wide].children):  # the lowest ones
                self._point(wide, key)

    def remove(self, key: int) -> None:
        node = self._nodes.pop(key)
        self._flagged.discard(key)
        siblings = self._nodes[node.parent].children
        siblings.remove(key)
        siblings += node.children
        for child in node.children:
            self._nodes[child].parent = node.parent
        for wide in node.pointed_by:
            self._nodes[wide].pointers.discard(key)
            for child in node.children:
                self._point(wide, child)
        for target in node.pointers:
            self._nodes[target].pointed_by.discard(key)
            if node.parent != _TOP:
                self._point(node.parent, target)

    def flag(self, key: int, wanted: bool) -> None:
        (self._flagged.add if wanted else self._flagged.discard)(key)

    def covered_by(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        keys: set[int] = set()
        waiting = list(self._nodes[_TOP].children)
        while waiting:
            key = waiting.pop()
            if key in keys:
                continue
            if self._covers(pattern, self._nodes[key].twigs):
                keys.update(self._closure(key, keys))
            else:
                waiting += self._nodes[key].children
        return keys & self._flagged if flagged else keys

    def covering(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        keys: set[int] = set()
        waiting = list(self._nodes[_TOP].children)
        while waiting:
            key = waiting.pop()
            if self._covers(self._nodes[key].twigs, pattern):
                keys.add(key)
                waiting += self._nodes[key].children
        return keys & self._flagged if flagged else keys

    def shape(self) -> dict[int, list[int]]:
        """Return the children of every node that has some or is at the top."""
        top = self._nodes[_TOP].children
        return {
            key: list(node.children)
            for key, node in self._nodes.items()
            if key != _TOP and (node.children or key in top)
        }

    def pointers(self) -> dict[int, set[int]]:
        """Return the super pointers of every node that has some."""
        return {key: set(node.pointers) for key, node in self._nodes.items() if node.pointers}

    def stats(self) -> dict[str, int]:
        pointers = sum(len(node.pointers) for node in self._nodes.values())
        return {"nodes": len(self._nodes) - 1, "pointers": pointers, "compared": self.compared}

    def _closure(self, key: int, visited: set[int]) -> Iterator[int]:
        """Yield a node and all nodes below it or behind super pointers, except visited ones."""
        seen = {key}
        waiting = [key]
        while waiting:
            current = waiting.pop()
            yield current
            node = self._nodes[current]
            for other in (*node.children, *node.pointers):
                if other not in seen and other not in visited:
                    seen.add(other)
                    waiting.append(other)

    def _covers(self, wide: Sequence[EncodedTwig], narrow: Sequence[EncodedTwig]) -> bool:
        self.compared += 1
        return self._homomorphism.covers(wide, narrow)

    def _point(self, wide: int, narrow: int) -> None:
        self._nodes[wide].pointers.add(narrow)
        self._nodes[narrow].pointed_by.add(wide)

    def _unpoint(self, wide: int, narrow: int) -> None:
        self._nodes[wide].pointers.discard(narrow)
        self._nodes[narrow].pointed_by.discard(wide)

    @staticmethod
    def _first(keys: Iterable[int], among: set[int]) -> int | None:
        return next((key for key in keys if key in among), None)
