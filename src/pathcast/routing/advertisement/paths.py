"""The leaf paths of an advertisement up to a depth, listed or counted.

A leaf path leads from the root of a document to an element without child elements. States with the
same name are determinised on the fly, so each path is listed once.

>>> from pathcast.routing.advertisement.notation import parse_advertisement
>>> advertisement = parse_advertisement("/a(/b)+/c")
>>> ["/".join(path) for path in leaf_paths(advertisement, 5)], count_paths(advertisement, 5)
(['a/b/c', 'a/b/b/c', 'a/b/b/b/c'], [0, 0, 1, 1, 1])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pathcast.budget import WorkBudget
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits, image
from pathcast.routing.advertisement.budget_errors import budget_errors

__all__ = ["count_paths", "leaf_paths"]

_STEPS_PER_STATE = 1


def leaf_paths(
    advertisement: Advertisement, depth: int, *, budget: WorkBudget | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield the leaf paths of at most `depth` elements, by ascending length.

    The automaton is traversed once per length. Raise AdvertisementError beyond the budget.
    """
    budget = WorkBudget() if budget is None else budget
    for length, count in enumerate(count_paths(advertisement, depth, budget=budget), 1):
        if count:
            with budget_errors("its paths cannot be listed"):
                yield from _paths_of_length(advertisement, length, budget)


def _paths_of_length(
    advertisement: Advertisement, length: int, budget: WorkBudget
) -> Iterator[tuple[str, ...]]:
    path: list[str] = []
    levels = [iter(_by_name(advertisement, advertisement.roots).items())]
    while levels:
        budget.spend(1)
        name, states = next(levels[-1], (None, 0))
        if name is None:
            levels.pop()
            if path:
                path.pop()
        elif len(levels) == length:
            if states & advertisement.leaves:
                yield (*path, name)
        else:
            path.append(name)
            below = image(advertisement.below, states)
            budget.spend(_STEPS_PER_STATE * below.bit_count())
            levels.append(iter(_by_name(advertisement, below).items()))


def count_paths(
    advertisement: Advertisement, depth: int, *, budget: WorkBudget | None = None
) -> list[int]:
    """Return the number of leaf paths of 1, 2, ... elements, without listing them.

    The list ends before `depth` if there are no longer paths. Raise AdvertisementError beyond the
    budget.
    """
    with budget_errors("its paths cannot be counted"):
        return _count_paths(advertisement, depth, WorkBudget() if budget is None else budget)


def _count_paths(advertisement: Advertisement, depth: int, budget: WorkBudget) -> list[int]:
    counts = []
    level = Counter(_by_name(advertisement, advertisement.roots).values())
    for _ in range(depth):
        if not level:
            break
        counts.append(sum(n for states, n in level.items() if states & advertisement.leaves))
        next_level: Counter[int] = Counter()
        for states, count in level.items():
            below = image(advertisement.below, states)
            budget.spend(1 + _STEPS_PER_STATE * below.bit_count())
            for successors in _by_name(advertisement, below).values():
                next_level[successors] += count
        level = next_level
    return counts


def _by_name(advertisement: Advertisement, states: int) -> dict[str, int]:
    """Partition a set of states by their names."""
    groups: dict[str, int] = {}
    for state in bits(states):
        name = str(advertisement.labels[state])
        groups[name] = groups.get(name, 0) | 1 << state
    return groups
