"""Overlap of an advertisement and a pattern: may a document of the advertisement match?

Li, Hou and Jacobsen (2008, sections 3.2 and 3.3) give one algorithm for each class of advertisement
and of expression. `AbsExprAndSimRecAdv` (figure 3) is wrong as printed, and so is the search by
failure functions, because matching with wildcards is not transitive. Here one algorithm serves all
classes: the product of automaton and pattern (see `nfa`).

>>> from pathcast.xpath import parse
>>> from pathcast.routing.advertisement.notation import parse_advertisement
>>> advertisement = parse_advertisement("/a(/b)+/c/d")
>>> texts = ("/a/b/b/c/d", "/a/c", "b//d", "//b[b][c]", "//c[b]")
>>> [overlaps(advertisement, parse(text)) for text in texts]
[True, False, True, True, False]
"""

from __future__ import annotations

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.xpath import Pattern

__all__ = ["decide_overlap", "overlaps"]


def overlaps(
    advertisement: Advertisement, pattern: Pattern, *, budget: WorkBudget | None = None
) -> bool:
    """Return whether a document of the advertisement may match the pattern.

    The answer is exact for paths of `/ // *`. For other patterns, False is always correct and True
    is a necessary condition. An answer beyond the budget is True.
    """
    return decide_overlap(advertisement, pattern, budget=budget) is not False


def decide_overlap(
    advertisement: Advertisement, pattern: Pattern, *, budget: WorkBudget | None = None
) -> bool | None:
    """Return the answer of `overlaps`, or None if it takes more steps than the budget has."""
    if advertisement.is_anything:
        return True
    try:
        return advertisement.nfa.possible(
            pattern.tree_pattern, WorkBudget() if budget is None else budget
        )
    except BudgetExceeded:
        return None
