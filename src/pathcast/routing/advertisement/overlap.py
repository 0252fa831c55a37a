"""May a document within an advertisement match a pattern?

Li, Hou and Jacobsen (2008, sections 3.2 and 3.3) have a case for each sort of advertisement and of expression. One of them is wrong
(`AbsExprAndSimRecAdv`, figure 3), and so is its search by failure functions (a wildcard is no letter). Here all cases are one: the product of
automaton and pattern. `machine` tells how, and what is exact.

>>> from pathcast.xpath import parse
>>> from pathcast.routing.advertisement.notation import parse_advertisement
>>> advertised = parse_advertisement("/a(/b)+/c/d")
>>> [overlaps(advertised, parse(text)) for text in ("/a/b/b/c/d", "/a/c", "b//d", "//b[b][c]", "//c[b]")]
[True, False, True, True, False]
"""

from __future__ import annotations

from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.xpath import Pattern

__all__ = ["overlaps"]


def overlaps(advertisement: Advertisement, pattern: Pattern) -> bool:
    """Whether a document within the advertisement may match: exact for paths of `/ // *`, else never a wrong no."""
    return advertisement.is_anything or advertisement.nfa.possible(pattern.condition)
