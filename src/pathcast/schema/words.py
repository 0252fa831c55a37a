"""Words of a content model: the cheapest sequence of children with required counts.

One dynamic program answers all questions about content models. May two children occur together (`(a
| b)` has no word with both)? How many `c` may there be? What is the smallest valid content? The
required counts form a vector, the *goal*; each child adds to it. For each part of the model, the
program keeps the cheapest word for each vector up to the goal: (n1+1)(n2+1)... entries, of which
few are ever required.

>>> from pathcast.schema.model import Child, Choice, Occurs, Sequence
>>> model = Sequence((Child("title"), Choice((Child("author", Occurs.SOME), Child("editor")))))
>>> costs = {"title": 1, "author": 1, "editor": 1}
>>> cheapest_word(model, {"author": 2}, costs.get)
(3, ('title', 'author', 'author'))
>>> cheapest_word(model, {"author": 1, "editor": 1}, costs.get) is None
True
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TypeVar

from pathcast.budget import WorkBudget
from pathcast.schema.model import Child, Choice, Content, Occurs, Sequence

__all__ = ["Vector", "cheapest_word", "cheapest_words", "least_word_value", "names_in_words"]

T = TypeVar("T")
Vector = tuple[int, ...]
WordTable = dict[Vector, tuple[int, tuple[T, ...]]]  # counts -> cost and cheapest word
_WordNames = tuple[frozenset[str], frozenset[str]]  # names in some word, names in every word


def cheapest_word(
    content: Content | None,
    required: Mapping[str, int],
    cost: Callable[[str], int | None],
) -> tuple[int, tuple[str, ...]] | None:
    """Return the cheapest word with at least these children, or None.

    A name whose cost is None may not occur in it.
    """
    order = tuple(sorted(required))
    goal = tuple(required[name] for name in order)
    nothing = (0,) * len(goal)

    def leaf(name: str) -> WordTable[str]:
        price = cost(name)
        if price is None:
            return {}
        word = (price, (name,))
        counted = tuple(
            int(other == name and count > 0) for other, count in zip(order, goal, strict=True)
        )
        return {nothing: word, counted: word}

    return cheapest_words(content, leaf, goal, WorkBudget(None)).get(goal)


def least_word_value(
    content: Content | None,
    value: Callable[[str], int | None],
    combine: Callable[[int, int], int],
) -> int | None:
    """Return the least value of a word, its names' values combined by + or max; None if no word."""
    if content is None or content.occurs.may_be_absent:
        return 0
    match content:
        case Child(name=name):
            return value(name)
        case Sequence(parts=parts):
            total = 0
            for part in parts:
                part_value = least_word_value(part, value, combine)
                if part_value is None:
                    return None
                total = combine(total, part_value)
            return total
        case Choice(parts=parts):
            values = (least_word_value(part, value, combine) for part in parts)
            return min(
                (part_value for part_value in values if part_value is not None), default=None
            )


def names_in_words(content: Content | None, usable: Container[str]) -> _WordNames | None:
    """Return the names in some word and those in every word; None if there is no word.

    Only words of `usable` names count. The work is linear in the size of the model.
    """
    if content is None:
        return frozenset(), frozenset()
    names: _WordNames | None = None
    match content:
        case Child(name=name):
            if name in usable:
                names = frozenset([name]), frozenset([name])
        case Sequence(parts=parts) | Choice(parts=parts):
            inner = [names_in_words(part, usable) for part in parts]
            with_words = [part_names for part_names in inner if part_names is not None]
            some = frozenset[str]().union(*(part_some for part_some, _ in with_words))
            in_every_part = [part_every for _, part_every in with_words]
            if isinstance(content, Sequence) and len(with_words) == len(parts):
                names = some, frozenset[str]().union(*in_every_part)
            elif isinstance(content, Choice) and with_words:
                names = some, frozenset[str].intersection(*in_every_part)
    if content.occurs.may_be_absent:
        return names[0] if names else frozenset(), frozenset()
    return names


def cheapest_words(
    content: Content | None,
    leaf: Callable[[str], WordTable[T]],
    goal: Vector,
    budget: WorkBudget,
) -> WordTable[T]:
    """Return the cheapest word for each vector up to the goal; raise BudgetExceeded.

    `leaf` maps a name to the vectors that one such child can add, each with its cost and with the
    symbols that represent the child in the word.
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
                once = _concatenate(once, cheapest_words(part, leaf, goal, budget), goal, budget)
                if not once:
                    return {nothing: (0, ())} if content.occurs.may_be_absent else {}
        case Choice(parts=parts):
            for part in parts:
                _merge(once, cheapest_words(part, leaf, goal, budget))
    return _repeat(once, content.occurs, goal, budget)


def _repeat(once: WordTable[T], occurs: Occurs, goal: Vector, budget: WorkBudget) -> WordTable[T]:
    if occurs is Occurs.ONCE:
        return once
    table = dict(once)
    if occurs.may_be_absent:
        _merge(table, {(0,) * len(goal): (0, ())})
    if occurs.may_repeat and any(goal):  # without requirements, one repetition is cheapest
        while _merge(table, _concatenate(table, once, goal, budget)):
            pass
    return table


def _concatenate(
    left: WordTable[T], right: WordTable[T], goal: Vector, budget: WorkBudget
) -> WordTable[T]:
    budget.spend(len(left) * len(right) * (1 + len(goal) // 4))
    table: WordTable[T] = {}
    for left_vector, (price, word) in left.items():
        for right_vector, (extra, tail) in right.items():
            key = tuple(
                [min(a + b, top) for a, b, top in zip(left_vector, right_vector, goal, strict=True)]
            )
            best = table.get(key)
            if best is None or price + extra < best[0]:
                table[key] = (price + extra, word + tail)
    return table


def _merge(into: WordTable[T], other: WordTable[T]) -> bool:
    """Keep the cheaper word for each key; return whether the table changed."""
    changed = False
    for key, word in other.items():
        best = into.get(key)
        if best is None or word[0] < best[0]:
            into[key] = word
            changed = True
    return changed
