"""Mappings between twigs: if the nodes of one can be laid on nodes of another, every document of the other is one of the first.

A node goes to a node whose label it subsumes, a child edge to a child edge, a descendant edge to any way down. That is sound for all twigs, and
decided in time |a| x |b| from the leaves up: for every node of `a` the set of nodes of `b` that it may lie on, as bits.

It does not find all: `/a/*/*` has no mapping into `/a//b/c`, which it covers. Of those that are missed, `relax_wildcards` recovers what has to do with
lone wildcards: between two nodes of a path it does not matter which of the edges are descendant edges if one of them is, nor
does it at the end of a path. With that, mappings decide paths of `/ // *` exactly (Miklau and Suciu's "adorned" paths; the
argument is in docs/decisions/0010-what-covers-what.md).
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.covering.alternatives import NotExpandable, expand_alternatives
from pathcast.covering.labels import Label, LabelKind, NameLabel, subsumes
from pathcast.covering.twig import Twig
from pathcast.xpath.tree import Condition

__all__ = ["has_homomorphism", "implies", "relax_trailing_wildcards", "relax_wildcards"]

_STAR = NameLabel(LabelKind.ELEMENT)
_ANY = NameLabel(LabelKind.NODE)


def has_homomorphism(wide: Twig, narrow: Twig) -> bool:
    """Whether the wide twig can be laid on the narrow one, start on start."""
    found = [0] * len(wide)  # the nodes of `narrow` that each node of `wide` may lie on
    kids, below = narrow.kids, narrow.below
    for node in range(len(wide) - 1, -1, -1):
        places = _places(wide.labels[node], narrow)
        if not node:
            places &= 1
        for child in wide.children[node]:
            reach = below if wide.descendant[child] else kids
            there = found[child]
            kept = 0
            while places:
                lowest = places & -places
                places ^= lowest
                if reach[lowest.bit_length() - 1] & there:
                    kept |= lowest
            places = kept
        if not places:
            return False
        found[node] = places
    return True


def _places(label: Label, narrow: Twig) -> int:
    places = 0
    for node, other in enumerate(narrow.labels):
        if subsumes(label, other, implies):
            places |= 1 << node
    return places


def implies(one: Condition, other: Condition) -> bool:
    """Whether a condition implies another at whatever node intersect are asked; never wrongly yes."""
    try:
        narrow, wide = (expand_alternatives(condition, _ANY) for condition in (one, other))
    except NotExpandable:
        return False
    wider = [relax_wildcards(Twig.of(top)) for top in wide]
    return all(any(has_homomorphism(top, Twig.of(bottom)) for top in wider) for bottom in narrow)


def relax_wildcards(twig: Twig) -> Twig:
    """The same twig with every edge a descendant edge that may as well be one."""
    return _relax(twig, between=True)


def relax_trailing_wildcards(twig: Twig) -> Twig:
    """The same twig with descendant edges down to the wildcards at its ends: the rest is left as it is, which no other twig minds."""
    return _relax(twig, between=False)


def _relax(twig: Twig, between: bool) -> Twig:
    if _STAR not in twig.labels:
        return twig
    descendant = list(twig.descendant)
    for node in range(1, len(twig)):
        if not _is_bare_wildcard(twig, node) or _is_bare_wildcard(twig, twig.parents[node]):
            continue
        run = [node]
        while _is_bare_wildcard(twig, run[-1]) and twig.children[run[-1]]:
            run += twig.children[run[-1]]
        if _is_bare_wildcard(twig, run[-1]) or (
            between and any(twig.descendant[one] for one in run)
        ):
            for one in run:
                descendant[one] = True
    return replace(twig, descendant=tuple(descendant))


def _is_bare_wildcard(twig: Twig, node: int) -> bool:
    """Whether a node asks for an element and no more, and at most one thing is asked below it."""
    if twig.labels[node] != _STAR or len(twig.children[node]) > 1:
        return False
    return all(isinstance(twig.labels[child], NameLabel) for child in twig.children[node])
