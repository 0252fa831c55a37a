"""TwigScan: trees of labels whose nodes must all be found in a document.

A twig's node stands for a node of the document, an edge for child or (`descendant`) for descendant. Attributes are children here, so `a//@x` is an
`a` with an @x somewhere below. What is asked of a node besides its name hangs below it as leaves (see `labels`). While a twig is being made it
is a `TwigNode` with branches, a value that can be compared and brought together with others; then it is laid out as a `Twig`.

`reading` makes them of patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pathcast.covering.labels import Label

__all__ = ["Twig", "TwigNode"]


@dataclass(frozen=True)
class TwigNode:
    """A node with all that hangs below it; `descendant` says how it hangs itself."""

    label: Label
    descendant: bool = False
    branches: frozenset[TwigNode] = frozenset()

    @cached_property
    def _hash(self) -> int:
        return hash((self.label, self.descendant, self.branches))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class Twig:
    """A tree laid out in preorder: node 0 is where it starts. `below` are sets of nodes, as bits."""

    labels: tuple[Label, ...]
    descendant: tuple[bool, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, top: TwigNode) -> Twig:
        labels: list[Label] = []
        descendant: list[bool] = []
        parents: list[int] = []
        waiting = [(top, -1)]
        while waiting:
            branch, parent = waiting.pop()
            waiting += [(one, len(labels)) for one in sorted(branch.branches, key=_order)]
            labels.append(branch.label)
            descendant.append(branch.descendant)
            parents.append(parent)
        return cls(tuple(labels), tuple(descendant), tuple(parents))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(node)
        return tuple(tuple(one) for one in found)

    @cached_property
    def kids(self) -> tuple[int, ...]:
        """For each node the children that hang on it as children, as bits."""
        found = [0] * len(self)
        for node, parent in enumerate(self.parents):
            if parent >= 0 and not self.descendant[node]:
                found[parent] |= 1 << node
        return tuple(found)

    @cached_property
    def below(self) -> tuple[int, ...]:
        """For each node all nodes below it, as bits."""
        found = [0] * len(self)
        for node in range(len(self) - 1, 0, -1):
            found[self.parents[node]] |= found[node] | 1 << node
        return tuple(found)


def _order(branch: TwigNode) -> tuple[bool, str]:
    return branch.descendant, repr(branch.label)
