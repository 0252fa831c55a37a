"""What a wide pattern denies, put into a narrow one: the documents of that are likely to speak graft_negations the wide one.

`//a` has one model, `<a/>`, and `//a[not(b)]` matches it. `//a[b]` has one that `//a` matches and the other does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pathcast.covering.alternatives import NotExpandable, expand_alternatives
from pathcast.covering.labels import ConditionLabel, LabelKind, NameLabel, subsumes
from pathcast.covering.twig import Twig, TwigNode
from pathcast.xpath.tree import Not

__all__ = ["graft_negations"]

_Grafts = dict[int, frozenset[TwigNode]]


def graft_negations(narrow: Twig, wide: Sequence[Twig]) -> Iterator[Twig]:
    """The narrow twig with all that is denied where a wide one would look for it, then with each of that alone."""
    grafts = [graft for one in wide for graft in _grafts(narrow, one)]
    if len(grafts) > 1:
        every: _Grafts = {}
        for graft in grafts:
            for node, branches in graft.items():
                every[node] = every.get(node, frozenset()) | branches
        yield Twig.of(_grown(narrow, 0, every))
    for graft in grafts:
        yield Twig.of(_grown(narrow, 0, graft))


def _grafts(narrow: Twig, wide: Twig) -> Iterator[_Grafts]:
    for node, label in enumerate(wide.labels):
        if not isinstance(label, ConditionLabel) or not isinstance(label.condition, Not):
            continue
        owner = wide.labels[wide.parents[node]]
        assert isinstance(owner, NameLabel)
        places = [at for at, one in enumerate(narrow.labels) if subsumes(owner, one)]
        try:
            alternatives = expand_alternatives(label.condition.part, owner)
        except NotExpandable:
            continue
        for top in alternatives:
            branches = top.branches
            if (
                owner.kind is LabelKind.ROOT
            ):  # there is one element below the document: look further down
                places = [
                    at for at in narrow.children[0] if isinstance(narrow.labels[at], NameLabel)
                ]
                branches = frozenset(one for one in branches if one.descendant)
            yield dict.fromkeys(places, branches)


def _grown(twig: Twig, node: int, grafts: Mapping[int, frozenset[TwigNode]]) -> TwigNode:
    below = frozenset(_grown(twig, child, grafts) for child in twig.children[node])
    return TwigNode(twig.labels[node], twig.descendant[node], below | grafts.get(node, frozenset()))
