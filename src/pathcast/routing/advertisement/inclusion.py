"""Does one advertisement allow all that another allows?

An advertisement that is covered need not be flooded. The narrow automaton is walked together with the set of states in which the wide
one may be after the same names: if the narrow one may end where none of those may, there is a path, and so a document, that only the
narrow one allows. Labels are no single names, so each step is taken for every sort of name that the wide one tells apart, "any
other" among them. The answer is exact.

For automata as DTDs and samples give them there are no more pairs than states. Others may have very many; after `_PAIRS` the answer
is no, which costs a message too many and nothing else.

>>> from pathcast.routing.advertisement.notation import parse_advertisement
>>> wide, narrow = parse_advertisement("/a(/b)+/*"), parse_advertisement("/a/b/b/c")
>>> covers(wide, narrow), covers(narrow, wide)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits, image
from pathcast.routing.advertisement.labels import ElementLabel
from pathcast.routing.advertisement.nfa import AdvertisementNfa

__all__ = ["covers"]

_PAIRS = 200_000
_OTHER = "\x00"  # neither a name nor a namespace has it


def covers(a: Advertisement, b: Advertisement) -> bool:
    """Whether everything that b allows, a allows too."""
    if a.is_anything or a == b:
        return True
    wide = a.nfa
    sorts = [frozenset(_sorts(label, wide)) for label in b.labels]
    seen: set[tuple[int, int]] = set()
    waiting = [(b.roots, a.roots)]  # states that may come next, in both
    while waiting:
        here, there = waiting.pop()
        for state in bits(here):
            for sort in sorts[state]:
                pair = (state, there & sort)
                if pair in seen:
                    continue
                seen.add(pair)
                if len(seen) > _PAIRS or not pair[1]:
                    return False  # it leads to a leaf somewhere: all states do
                if b.leaves >> state & 1 and not pair[1] & a.leaves:
                    return False
                waiting.append((b.below[state], image(a.below, pair[1])))
    return True


def _sorts(label: ElementLabel, wide: AdvertisementNfa) -> Iterator[int]:
    """For every sort of element that has the label: the states of the wide automaton that it may be."""
    locals_ = {label.local}
    if label.local is None:
        locals_ = {_OTHER, *(one.local for one in wide.labels if one.local is not None)}
    for local in locals_:
        spaces = label.spaces
        if spaces is None:
            near = (one for one in wide.labels if one.local in (None, local))
            spaces = frozenset({_OTHER, ""}).union(*(one.spaces or () for one in near))
        for space in spaces:
            yield wide.named(f"{{{space}}}{local}")
