"""Candidates for witnesses against a wide pattern with negations.

The canonical model of `//a` is `<a/>`, which `//a[not(b)]` matches too. Grafting the negated part
onto the narrow twig gives `//a[b]`, whose model `<a><b/></a>` is a witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pathcast.budget import WorkBudget
from pathcast.covering.alternatives import NotExpandable, expand_alternatives
from pathcast.covering.labels import ConditionLabel, LabelKind, NameLabel, subsumes
from pathcast.covering.twig import Twig, TwigNode
from pathcast.xpath.tree import Not

__all__ = ["graft_negations"]

_Grafts = dict[int, frozenset[TwigNode]]  # node of the narrow twig -> subtrees to add


def graft_negations(narrow: Twig, wide: Sequence[Twig], budget: WorkBudget) -> Iterator[Twig]:
    """Yield the narrow twig with all parts that the wide twigs negate, then with each alone."""
    grafts = [graft for twig in wide for graft in _grafts(narrow, twig, budget)]
    if len(grafts) > 1:
        union: _Grafts = {}
        for graft in grafts:
            for node, subtrees in graft.items():
                union[node] = union.get(node, frozenset()) | subtrees
        yield Twig.of(_graft(narrow, 0, union))
    for graft in grafts:
        budget.spend(len(narrow))
        yield Twig.of(_graft(narrow, 0, graft))


def _grafts(narrow: Twig, wide: Twig, budget: WorkBudget) -> Iterator[_Grafts]:
    for node, label in enumerate(wide.labels):
        if not isinstance(label, ConditionLabel) or not isinstance(label.condition, Not):
            continue
        owner = wide.labels[wide.parents[node]]
        assert isinstance(owner, NameLabel)
        budget.spend(len(narrow))
        places = [at for at, other in enumerate(narrow.labels) if subsumes(owner, other)]
        try:
            alternatives = expand_alternatives(label.condition.part, budget, owner)
        except NotExpandable:
            continue
        for top in alternatives:
            subtrees = top.children
            if owner.kind is LabelKind.ROOT:
                # The document node has one child element: graft descendants below that one.
                places = [
                    at for at in narrow.children[0] if isinstance(narrow.labels[at], NameLabel)
                ]
                subtrees = frozenset(subtree for subtree in subtrees if subtree.descendant)
            yield dict.fromkeys(places, subtrees)


def _graft(twig: Twig, node: int, grafts: Mapping[int, frozenset[TwigNode]]) -> TwigNode:
    children = frozenset(_graft(twig, child, grafts) for child in twig.children[node])
    grafted = children | grafts.get(node, frozenset())
    return TwigNode(twig.labels[node], twig.descendant[node], grafted)
