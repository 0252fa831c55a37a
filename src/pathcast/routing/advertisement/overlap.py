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

from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.xpath import Pattern

__all__ = ["overlaps"]


def overlaps(advertisement: Advertisement, pattern: Pattern) -> bool:
    """Return whether a document of the advertisement may match the pattern.

    The answer is exact for paths of `/ // *`. For other patterns, False is always correct and True
    is a necessary condition.
    """
    return advertisement.is_anything or advertisement.nfa.possible(pattern.tree_pattern)
