"""Inclusion of advertisements: does one allow every document that another allows?

A covered advertisement need not be flooded. The search traverses the narrow automaton together with
the set of states that the wide one may be in after the same names (subset construction, on the
fly). If the narrow automaton can accept where no state of the wide one does, there is a path, and
so a document, that only the narrow one allows. A label stands for many names, so each step is taken
once per class of names that the wide automaton tells apart, "any other name" included.

The answer is exact while the search is within its budget. For automata of DTDs and samples there
are no more pairs than states. Others may have exponentially many: beyond the budget the answer is
False, which costs an unnecessary message and nothing else.

>>> from pathcast.routing.advertisement.notation import parse_advertisement
>>> wide, narrow = parse_advertisement("/a(/b)+/*"), parse_advertisement("/a/b/b/c")
>>> covers(wide, narrow), covers(narrow, wide)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits, image
from pathcast.routing.advertisement.labels import ElementLabel
from pathcast.routing.advertisement.nfa import AdvertisementNfa

__all__ = ["covers"]

_STEPS_PER_PAIR = 5
_OTHER = "\x00"  # occurs in no name and no namespace


def covers(a: Advertisement, b: Advertisement, *, budget: WorkBudget | None = None) -> bool:
    """Return whether `a` allows every document that `b` allows; False beyond the budget."""
    if a.is_anything or a == b:
        return True
    try:
        return _includes(a, b, WorkBudget() if budget is None else budget)
    except BudgetExceeded:
        return False


def _includes(a: Advertisement, b: Advertisement, budget: WorkBudget) -> bool:
    wide = a.nfa
    budget.spend(len(a.labels) + len(b.labels))
    name_classes = [frozenset(_name_classes(label, wide)) for label in b.labels]
    seen: set[tuple[int, int]] = set()
    pending = [(b.roots, a.roots)]  # the successor states in both automata
    while pending:
        narrow_states, wide_states = pending.pop()
        for state in bits(narrow_states):
            for name_class in name_classes[state]:
                pair = (state, wide_states & name_class)
                if pair in seen:
                    continue
                seen.add(pair)
                budget.spend(_STEPS_PER_PAIR + pair[1].bit_count())
                if not pair[1]:
                    return False  # b is trim: the state lies on a path to a leaf
                if b.leaves >> state & 1 and not pair[1] & a.leaves:
                    return False
                pending.append((b.below[state], image(a.below, pair[1])))
    return True


def _name_classes(label: ElementLabel, wide: AdvertisementNfa) -> Iterator[int]:
    """Yield, for each class of names in the label, the wide automaton's states that accept it."""
    locals_ = {label.local}
    if label.local is None:
        locals_ = {_OTHER, *(other.local for other in wide.labels if other.local is not None)}
    for local in locals_:
        spaces = label.spaces
        if spaces is None:
            same_local = (other for other in wide.labels if other.local in (None, local))
            spaces = frozenset({_OTHER, ""}).union(*(other.spaces or () for other in same_local))
        for space in spaces:
            yield wide.states_with_name(f"{{{space}}}{local}")
