"""The words of a content model: the cheapest sequence of children that has what is wanted.

One dynamic program answers all that the room asks of content models: may these children stand side by side
(`(a | b)` has no word with both), how many `c` can there be, what is the smallest valid filling. For every part of the
model it keeps, for each sub-multiset of what is wanted, the cheapest word that has it; there are
(n1+1)(n2+1)... of them for n1, n2, ... wanted children of each name, and few are ever wanted.

>>> from pathcast.schema.model import Child, Choice, Occurs, Sequence
>>> model = Sequence((Child("title"), Choice((Child("author", Occurs.SOME), Child("editor")))))
>>> cheapest(model, {"author": 2}, {"title": 1, "author": 1, "editor": 1}.get)
(3, ('title', 'author', 'author'))
>>> cheapest(model, {"author": 1, "editor": 1}, {"title": 1, "author": 1, "editor": 1}.get) is None
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pathcast.schema.model import Child, Choice, Content, Occurs, Sequence

__all__ = ["Word", "cheapest"]

Word = tuple[int, tuple[str, ...]]  # what it costs, and the names in order
_Table = dict[tuple[int, ...], Word]  # how many of each wanted name are in -> the cheapest word


def cheapest(
    content: Content | None,
    wanted: Mapping[str, int],
    cost: Callable[[str], int | None],
) -> Word | None:
    """The cheapest word with at least these children; a name whose cost is None may not be used."""
    order = tuple(sorted(wanted))
    goal = tuple(wanted[name] for name in order)
    if content is None:
        return None if any(goal) else (0, ())
    return _table(content, order, goal, cost).get(goal)


def _table(
    content: Content,
    order: tuple[str, ...],
    goal: tuple[int, ...],
    cost: Callable[[str], int | None],
) -> _Table:
    nothing = (0,) * len(goal)
    once: _Table = {}
    match content:
        case Child(name=name):
            price = cost(name)
            if price is not None:
                once[nothing] = (price, (name,))
                if name in order:
                    one = tuple(int(other == name) for other in order)
                    once[_capped(nothing, one, goal)] = (price, (name,))
        case Sequence(parts=parts):
            once[nothing] = (0, ())
            for part in parts:
                once = _joined(once, _table(part, order, goal, cost), goal)
        case Choice(parts=parts):
            for part in parts:
                _merge(once, _table(part, order, goal, cost))
    return _repeated(once, content.occurs, goal)


def _repeated(once: _Table, occurs: Occurs, goal: tuple[int, ...]) -> _Table:
    found = dict(once)
    if occurs.may_repeat:
        while _merge(found, _joined(found, once, goal)):
            pass
    if occurs.may_miss:
        _merge(found, {(0,) * len(goal): (0, ())})
    return found


def _joined(left: _Table, right: _Table, goal: tuple[int, ...]) -> _Table:
    found: _Table = {}
    for has, (price, word) in left.items():
        for more, (extra, tail) in right.items():
            _merge(found, {_capped(has, more, goal): (price + extra, word + tail)})
    return found


def _merge(into: _Table, other: _Table) -> bool:
    """Keep the cheaper word for each key; says whether anything changed."""
    changed = False
    for key, word in other.items():
        known = into.get(key)
        if known is None or word[0] < known[0]:
            into[key] = word
            changed = True
    return changed


def _capped(one: tuple[int, ...], two: tuple[int, ...], goal: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(min(a + b, most) for a, b, most in zip(one, two, goal, strict=True))
