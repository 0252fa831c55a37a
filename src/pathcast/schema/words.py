"""The words of a content model: the cheapest sequence of children that has what is wanted.

One dynamic program answers all that the room asks of content models: may these children stand side by side
(`(a | b)` has no word with both), how many `c` can there be, what is the smallest valid filling. What is wanted is a vector
of numbers, the *goal*; every child adds to it. For each part of the model the program keeps, for each vector up to the goal,
the cheapest word that reaches it: (n1+1)(n2+1)... entries, and few things are ever wanted at once.

>>> from pathcast.schema.model import Child, Choice, Occurs, Sequence
>>> model = Sequence((Child("title"), Choice((Child("author", Occurs.SOME), Child("editor")))))
>>> cheapest_word(model, {"author": 2}, {"title": 1, "author": 1, "editor": 1}.get)
(3, ('title', 'author', 'author'))
>>> cheapest_word(model, {"author": 1, "editor": 1}, {"title": 1, "author": 1, "editor": 1}.get) is None
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pathcast.schema.model import Child, Choice, Content, Occurs, Sequence

__all__ = ["Vector", "cheapest_word", "reachable_words", "smallest_word"]

T = TypeVar("T")
Vector = tuple[int, ...]
WordTable = dict[
    Vector, tuple[int, tuple[T, ...]]
]  # what is reached -> cost and word, the cheapest


def cheapest_word(
    content: Content | None,
    wanted: Mapping[str, int],
    cost: Callable[[str], int | None],
) -> tuple[int, tuple[str, ...]] | None:
    """The cheapest word with at least these children; a name whose cost is None may not be used."""
    order = tuple(sorted(wanted))
    goal = tuple(wanted[name] for name in order)
    nothing = (0,) * len(goal)

    def leaf(name: str) -> WordTable[str]:
        price = cost(name)
        if price is None:
            return {}
        word = (price, (name,))
        one = tuple(
            int(other == name and most > 0) for other, most in zip(order, goal, strict=True)
        )
        return {nothing: word, one: word}

    return reachable_words(content, leaf, goal).get(goal)


def smallest_word(
    content: Content | None,
    value: Callable[[str], int | None],
    combine: Callable[[int, int], int],
) -> int | None:
    """The least value of a word, its names' values combined by + or max; None if there is no word."""
    if content is None or content.occurs.may_be_absent:
        return 0
    match content:
        case Child(name=name):
            return value(name)
        case Sequence(parts=parts):
            total = 0
            for part in parts:
                one = smallest_word(part, value, combine)
                if one is None:
                    return None
                total = combine(total, one)
            return total
        case Choice(parts=parts):
            found = (smallest_word(part, value, combine) for part in parts)
            return min((one for one in found if one is not None), default=None)


def reachable_words(
    content: Content | None, leaf: Callable[[str], WordTable[T]], goal: Vector
) -> WordTable[T]:
    """For each vector up to the goal the cheapest word that reaches it.

    `leaf` says what one child of a name can add, at what cost, and what stands for it in the word.
    """
    nothing = (0,) * len(goal)
    if content is None:
        return {nothing: (0, ())}
    once: WordTable[T] = {}
    match content:
        case Child(name=name):
            once = leaf(name)
        case Sequence(parts=parts):
            once = {nothing: (0, ())}
            for part in parts:
                once = _joined(once, reachable_words(part, leaf, goal), goal)
                if not once:
                    return {nothing: (0, ())} if content.occurs.may_be_absent else {}
        case Choice(parts=parts):
            for part in parts:
                _merge(once, reachable_words(part, leaf, goal))
    return _repeated(once, content.occurs, goal)


def _repeated(once: WordTable[T], occurs: Occurs, goal: Vector) -> WordTable[T]:
    found = dict(once)
    if occurs.may_be_absent:
        _merge(found, {(0,) * len(goal): (0, ())})
    if occurs.may_repeat and any(goal):  # where nothing is wanted, once is cheapest
        while _merge(found, _joined(found, once, goal)):
            pass
    return found


def _joined(left: WordTable[T], right: WordTable[T], goal: Vector) -> WordTable[T]:
    found: WordTable[T] = {}
    for has, (price, word) in left.items():
        for more, (extra, tail) in right.items():
            key = tuple([min(a + b, top) for a, b, top in zip(has, more, goal, strict=True)])
            known = found.get(key)
            if known is None or price + extra < known[0]:
                found[key] = (price + extra, word + tail)
    return found


def _merge(into: WordTable[T], other: WordTable[T]) -> bool:
    """Keep the cheaper word for each key; says whether anything changed."""
    changed = False
    for key, word in other.items():
        known = into.get(key)
        if known is None or word[0] < known[0]:
            into[key] = word
            changed = True
    return changed
