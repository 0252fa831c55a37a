"""Homomorphisms between twigs: sound proofs of containment.

A homomorphism maps the nodes of a wide twig to nodes of a narrow one: the root to the root, a node
to a node whose label it subsumes, a child edge to a child edge, a descendant edge to any downward
path. If there is one, the wide twig covers the narrow one. The test takes time |wide| x |narrow|,
bottom-up: for every wide node it computes the set of narrow nodes that its subtree maps to.

The wildcard rule
-----------------

Homomorphisms are incomplete: `/a/*` covers `/a//b`, and `/a/*//*/d` covers `/a//b/c/d`, but
neither maps. The gap on linear paths comes from *bare* wildcards, those without predicates and
with at most one child. In a run of bare wildcards and the step behind it, only two facts have a
meaning: the number of steps, and whether some edge is a descendant edge.

- *Between two names*, the position of the `//` in a run does not matter: `/a/*//b`, `/a//*/b` and
  `/a//*//b` are equivalent.
- *At the end of a path*, a `//` does not matter at all: `/a/*` and `/a//*` both ask for an element
  below `a`.

`relax_wildcards` makes every edge of such a run a descendant edge where the rule allows it. With
the wide side relaxed, homomorphisms decide containment of linear paths exactly (Miklau and Suciu
2004 call such paths adorned; decision 0010 has the proof). Of twigs, only the wide side may be
relaxed: `/a/*[.//b][.//c]` maps to `/a/*//b/c` over a child edge that relaxing
the latter would lose. Indexes compare all twigs in one form, so they relax trailing wildcards only
(`relax_trailing_wildcards`), which loses no homomorphism on either side.

The compiled test (`core.twigs`), the paths of `merging.linear` and the covering rate of
`tests.generators.covering_rate` apply the same rule to their own representations.
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.budget import WorkBudget
from pathcast.covering.alternatives import NotExpandable, expand_alternatives
from pathcast.covering.labels import Label, LabelKind, NameLabel, ValueLabel, subsumes
from pathcast.covering.twig import Twig
from pathcast.xpath.tree import Condition

__all__ = [
    "Implications",
    "has_homomorphism",
    "relax_trailing_wildcards",
    "relax_wildcards",
]

_STEPS_PER_TWIG_NODE = 20  # to expand and lay it out
_STAR = NameLabel(LabelKind.ELEMENT)
_ANY = NameLabel(LabelKind.NODE)


def has_homomorphism(wide: Twig, narrow: Twig, implications: Implications) -> bool:
    """Return whether there is a homomorphism from the wide twig to the narrow one.

    Raises BudgetExceeded.
    """
    images = [0] * len(wide)  # for each wide node the narrow nodes that its subtree maps to
    child_bits, descendant_bits = narrow.child_bits, narrow.descendant_bits
    for node in range(len(wide) - 1, -1, -1):
        candidates = _subsumed_nodes(wide.labels[node], narrow, implications)
        if not node:
            candidates &= 1
        for child in wide.children[node]:
            reach = descendant_bits if wide.descendant[child] else child_bits
            child_images = images[child]
            kept = 0
            while candidates:
                lowest = candidates & -candidates
                candidates ^= lowest
                if reach[lowest.bit_length() - 1] & child_images:
                    kept |= lowest
            candidates = kept
        if not candidates:
            return False
        images[node] = candidates
    return True


def _subsumed_nodes(label: Label, narrow: Twig, implications: Implications) -> int:
    bits = 0
    for node, other in enumerate(narrow.labels):
        implications.budget.spend(_comparison_steps(label, other))
        if subsumes(label, other, implications.holds):
            bits |= 1 << node
    return bits


def _comparison_steps(label: Label, other: Label) -> int:
    """Return the steps to compare two labels, without the conditions inside them."""
    if isinstance(label, ValueLabel) and isinstance(other, ValueLabel):
        return 2 * len(label.literals) * len(other.literals)
    return 1


class Implications:
    """Decides for one question which conditions imply which, each pair once.

    Conditions are nested, and the alternatives of one repeat those inside it: without the memo, the
    work would be exponential in the nesting.
    """

    def __init__(self, budget: WorkBudget) -> None:
        self.budget = budget
        self._answers: dict[tuple[Condition, Condition], bool] = {}

    def holds(self, premise: Condition, conclusion: Condition) -> bool:
        """Return True only if the premise implies the conclusion at every node.

        Raises BudgetExceeded.
        """
        key = (premise, conclusion)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._decide(premise, conclusion)
        return answer

    def _decide(self, premise: Condition, conclusion: Condition) -> bool:
        try:
            narrow, wide = (
                [Twig.of(top) for top in expand_alternatives(condition, self.budget, _ANY)]
                for condition in (premise, conclusion)
            )
        except NotExpandable:
            return False
        self.budget.spend(_STEPS_PER_TWIG_NODE * sum(len(twig) for twig in (*narrow, *wide)))
        relaxed = [relax_wildcards(twig) for twig in wide]
        return all(any(has_homomorphism(top, twig, self) for top in relaxed) for twig in narrow)


def relax_wildcards(twig: Twig) -> Twig:
    """Return an equivalent twig with the most descendant edges, by the wildcard rule."""
    return _relax(twig, between=True)


def relax_trailing_wildcards(twig: Twig) -> Twig:
    """Return an equivalent twig with descendant edges down to its trailing wildcards."""
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
            between and any(twig.descendant[member] for member in run)
        ):
            for member in run:
                descendant[member] = True
    return replace(twig, descendant=tuple(descendant))


def _is_bare_wildcard(twig: Twig, node: int) -> bool:
    """Return whether a node is `*` without predicates and with at most one child."""
    if twig.labels[node] != _STAR or len(twig.children[node]) > 1:
        return False
    return all(isinstance(twig.labels[child], NameLabel) for child in twig.children[node])
