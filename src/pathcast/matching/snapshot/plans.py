"""Plans of patterns <-> plain numbers in a row.

A pattern is how many alternatives it has, and those. An alternative is its kind, then one path, or how many there are
and those, or how many branches a twig has and those, each after what hangs at its end. So nothing nests, and a file cannot
exhaust the stack of whoever reads it.

>>> codes = plan_codes([(("exact", (49,)), ("twig", (((49,), ()), ((57, 49), ()))))])
>>> codes.tolist()
[2, 0, 1, 49, 1, 2, 1, 49, 0, 2, 57, 49, 0]
>>> Plans(codes.tolist(), names=2, values=0).all(1)
[(('exact', (49,)), ('twig', (((49,), ()), ((57, 49), ()))))]
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from typing import Final, cast

from pathcast.matching.snapshot.faults import wrong
from pathcast.matching.snapshot.model import Alternatives, Labels, Tree

__all__ = ["Plans", "plan_codes"]

_FIXED: Final = 6  # tests that are no names have the numbers below this
_VALUE: Final = 4  # the edge of a value test
_DEEPEST: Final = 1000  # a pattern has at most so many steps, and each of them may fork
_KINDS: Final = ("exact", "twig", "general")


def plan_codes(patterns: Iterable[Alternatives]) -> array[int]:
    """The alternatives of patterns, as numbers in a row."""
    found = array("i")
    for alternatives in patterns:
        found.append(len(alternatives))
        for kind, what in alternatives:
            found.append(_KINDS.index(kind))
            if kind == "exact":
                _add_labels(found, cast(Labels, what))
            elif kind == "general":
                paths = cast(tuple[Labels, ...], what)
                found.append(len(paths))
                for path in paths:
                    _add_labels(found, path)
            else:
                _add_twig(found, cast(tuple[Tree, ...], what))
    return found


def _add_labels(found: array[int], labels: Labels) -> None:
    found.append(len(labels))
    found.extend(labels)


def _add_twig(found: array[int], branches: tuple[Tree, ...]) -> None:
    waiting, ordered = list(branches), []
    while waiting:
        branch = waiting.pop()
        ordered.append(branch)
        waiting += branch[1]
    found.append(len(ordered))
    for labels, kids in reversed(ordered):  # so that what hangs at a branch comes before it
        _add_labels(found, labels)
        found.append(len(kids))


class Plans:
    """Reads numbers in a row as alternatives. `names` and `values`: how many of them the labels may speak of.

    Whatever a number counts takes at least one number each, so a false one runs out of numbers soon.
    """

    __slots__ = ("_known", "_left", "_take", "_tests", "_values")

    def __init__(self, codes: list[int], names: int, values: int) -> None:
        if min(codes, default=0) < 0:
            wrong("a plan with a number below 0")
        self._left = iter(codes)
        self._take = self._left.__next__
        self._tests = _FIXED + names
        self._values = values
        self._known: dict[Labels, Labels] = {}  # paths that were checked; equal ones are one

    def all(self, count: int) -> list[Alternatives]:
        """The alternatives of so many patterns, after which nothing must be left."""
        try:
            found = [
                tuple([self._alternative() for _ in range(self._take())]) for _ in range(count)
            ]
        except StopIteration:
            wrong("a plan that is cut off")
        if next(self._left, None) is not None:
            wrong("a plan that belongs to no pattern")
        return found

    def _alternative(self) -> tuple[str, object]:
        kind = self._take()
        if kind >= len(_KINDS):
            wrong("a plan of no known kind")
        if _KINDS[kind] == "exact":
            return "exact", self._labels(self._take())
        if _KINDS[kind] == "general":
            return "general", tuple([self._labels(self._take()) for _ in range(self._take())])
        return "twig", self._twig()

    def _labels(self, count: int) -> Labels:
        found = tuple(islice(self._left, count))
        known = self._known.get(found)
        if known is None:
            for label in found:
                self._check_label(label)
            known = self._known[found] = found
        if len(found) < count:
            raise StopIteration
        return known

    def _check_label(self, label: int) -> None:
        edge, code = label & 7, label >> 3
        good = code < self._values if edge == _VALUE else edge < _VALUE and 0 < code < self._tests
        if not good:
            wrong(f"a label that is none: {label}")

    def _twig(self) -> tuple[Tree, ...]:
        """Branches; they fork somewhere, and where they fork there are two prongs at least: joins rely on it."""
        take = self._take
        found: list[Tree] = []
        depths: list[int] = []
        for _ in range(take()):
            labels, count = self._labels(take()), take()
            if not count:
                found.append((labels, ()))
                depths.append(1)
                continue
            first = len(found) - count
            if first < 0 or count == 1:
                wrong("a twig with a fork that is none")
            depth = 1 + max(depths[first:])
            if depth > _DEEPEST:
                wrong(f"a twig that forks more than {_DEEPEST} times on one way")
            found[first:] = [(labels, tuple(found[first:]))]
            depths[first:] = [depth]
        if not found or (len(found) == 1 and not found[0][1]):
            wrong("a twig that never forks")
        return tuple(found)
