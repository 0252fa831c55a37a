"""Twigs: tree patterns over labels, the form in which containment is decided.

A document matches a twig if every node of the twig can be mapped to a document node with its label,
such that every edge holds. An edge is a child edge or (`descendant`) a descendant edge. Attributes
are nodes too, so `a//@x` is a node `a` with a node `@x` below it on a descendant edge. All other
requirements on a node (values, positions, negations) are leaves below it, see `labels`.

A twig is built as a `TwigNode`, an immutable tree that can be compared and unified with others,
and then laid out in preorder as a `Twig`. `to_twigs` converts patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from pathcast.covering.labels import Label, label_order

__all__ = ["Twig", "TwigNode"]


@dataclass(frozen=True)
class TwigNode:
    """A node with its subtree; `descendant` is the kind of the edge above it."""

    label: Label
    descendant: bool = False
    children: frozenset[TwigNode] = frozenset()

    @cached_property
    def _hash(self) -> int:
        return hash((self.label, self.descendant, self.children))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def digest(self) -> bytes:
        """The hash of the tree, equal in every process. Requires that of the children."""
        state = blake2b(f"{self.descendant}{label_order(self.label)}".encode(), digest_size=16)
        for child in sorted(child.digest for child in self.children):
            state.update(child)
        return state.digest()


@dataclass(frozen=True)
class Twig:
    """A twig in preorder, as parallel arrays; node 0 is the root."""

    labels: tuple[Label, ...]
    descendant: tuple[bool, ...]  # the kind of the edge above each node
    parents: tuple[int, ...]  # -1 for the root

    @classmethod
    def of(cls, top: TwigNode) -> Twig:
        """Lay out a tree; siblings are ordered by edge, label and subtree."""
        nodes = [top]
        for node in nodes:  # grows meanwhile
            nodes += node.children
        for node in reversed(nodes):  # children first, so that no digest recurses
            node.digest  # noqa: B018
        labels: list[Label] = []
        descendant: list[bool] = []
        parents: list[int] = []
        waiting = [(top, -1)]
        while waiting:
            node, parent = waiting.pop()
            waiting += [(child, len(labels)) for child in sorted(node.children, key=_order)]
            labels.append(node.label)
            descendant.append(node.descendant)
            parents.append(parent)
        return cls(tuple(labels), tuple(descendant), tuple(parents))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, over either kind of edge."""
        children: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(node)
        return tuple(map(tuple, children))

    @property
    def height(self) -> int:
        """The number of levels."""
        levels: list[int] = []
        for parent in self.parents:
            levels.append(levels[parent] + 1 if parent >= 0 else 1)
        return max(levels)

    @cached_property
    def child_bits(self) -> tuple[int, ...]:
        """For each node the set of its children on child edges, as bits."""
        bits = [0] * len(self)
        for node, parent in enumerate(self.parents):
            if parent >= 0 and not self.descendant[node]:
                bits[parent] |= 1 << node
        return tuple(bits)

    @cached_property
    def descendant_bits(self) -> tuple[int, ...]:
        """For each node the set of all nodes below it, as bits."""
        bits = [0] * len(self)
        for node in range(len(self) - 1, 0, -1):
            bits[self.parents[node]] |= bits[node] | 1 << node
        return tuple(bits)


def _order(node: TwigNode) -> tuple[bool, str, bytes]:
    return node.descendant, label_order(node.label), node.digest
