"""The paths that an advertisement allows, listed up to a depth, and how many there are.

These are leaf paths: from the root of a document to an element without child elements. States of one name are taken together, so
that no path comes twice.

>>> from pathcast.routing.advertisement.notation import parse_advertisement
>>> advertised = parse_advertisement("/a(/b)+/c")
>>> ["/".join(path) for path in leaf_paths(advertised, 5)], count_paths(advertised, 5)
(['a/b/c', 'a/b/b/c', 'a/b/b/b/c'], [0, 0, 1, 1, 1])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits, image

__all__ = ["count_paths", "leaf_paths"]


def leaf_paths(advertisement: Advertisement, depth: int) -> Iterator[tuple[str, ...]]:
    """All leaf paths of at most so many elements, shorter ones first; they are walked anew for each length."""
    counts = count_paths(advertisement, depth)
    for length, many in enumerate(counts, 1):
        if many:
            yield from _of_length(advertisement, length)


def _of_length(advertisement: Advertisement, length: int) -> Iterator[tuple[str, ...]]:
    path: list[str] = []
    levels = [iter(_named(advertisement, advertisement.roots).items())]
    while levels:
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
            levels.append(iter(_named(advertisement, below).items()))


def count_paths(advertisement: Advertisement, depth: int) -> list[int]:
    """How many leaf paths there are of 1, 2, ... elements, without making them."""
    counts = []
    level = Counter(_named(advertisement, advertisement.roots).values())
    for _ in range(depth):
        if not level:
            break
        counts.append(sum(n for states, n in level.items() if states & advertisement.leaves))
        below: Counter[int] = Counter()
        for states, many in level.items():
            for one in _named(advertisement, image(advertisement.below, states)).values():
                below[one] += many
        level = below
    return counts


def _named(advertisement: Advertisement, states: int) -> dict[str, int]:
    """The states by their names."""
    found: dict[str, int] = {}
    for state in bits(states):
        name = str(advertisement.labels[state])
        found[name] = found.get(name, 0) | 1 << state
    return found
