"""Subscriptions spread over owners by ranges of their homes: for a few owners with many subscriptions each.

`planning.place` gives an owner all queries of a key, which is right where anybody must be able to tell the owner from the key. Here
there is a table of routes, so more is possible: what is heavy, in memory, is the same for all owners however much
of it is at one key (a million subscriptions may ask for a million values at one path); keys that begin alike stay
together, so that a document of one kind is not sent to everybody; and a subscription lives with one owner only, so that no two
find the same match.

Routes: to each owner go the documents that have one of its routes, which are its subscriptions' homes cut to `length`
labels, the most for which they are few. Every document has the empty route. A document that passes a
subscription has all paths of one of its alternatives, hence one of its homes and what begins it: no match is missed.

Cost: sorting, and a few look-ups for each subscription.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from pathcast.matching.sharding.saved import WIDTH, Homes

__all__ = ["Ranges", "spread"]

_LONGEST: Final = 4  # labels of a route
_FEW: Final = 4_096  # routes that cost little, or
_PART: Final = 128  # one for so many subscriptions
_SLACK: Final = 8  # a range may be so small a part longer or shorter at each end

Route = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Which owner has which subscriptions, by number, and where documents go."""

    numbers: tuple[array[int], ...]
    """For each owner, in order."""
    routes: tuple[Route, ...]
    """The first labels of a home, and an owner."""


def spread(homes: Homes, weights: Sequence[int], owners: int) -> Ranges:
    """Give each owner a range of homes; `weights` are those of the subscriptions, by number."""
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    lives = homes.lives
    order = sorted(range(len(lives)), key=lives.__getitem__)
    bounds = _bounds([lives[number] for number in order], [weights[one] for one in order], owners)
    numbers = tuple(array("i", sorted(order[start:end])) for start, end in pairwise(bounds))
    return Ranges(numbers, _routes(homes, numbers))


def _bounds(ordered: Sequence[bytes], weights: Sequence[int], owners: int) -> list[int]:
    """Where to cut: near equal weights, and there where least is common to both sides."""
    reached = list(accumulate(weights, initial=0))
    share = reached[-1] / owners
    bounds = [0]
    for owner in range(1, owners):
        ideal = owner * share
        first = max(bisect_left(reached, ideal - share / _SLACK), bounds[-1], 1)
        last = min(bisect_left(reached, ideal + share / _SLACK), len(ordered) - 1)
        cuts = [(_common(ordered[at - 1], ordered[at]), abs(reached[at] - ideal), at)
                for at in range(first, last + 1)]  # fmt: skip
        bounds.append(min(cuts)[2] if cuts else max(bounds[-1], min(first, len(ordered))))
    return [*bounds, len(ordered)]


def _common(one: bytes, two: bytes) -> int:
    """How many labels both begin with."""
    if one == two:
        return len(one) + 1
    at = 0
    while one[at : at + WIDTH] == two[at : at + WIDTH]:  # they end somewhere, or differ
        at += WIDTH
    return at


def _routes(homes: Homes, numbers: Sequence[Sequence[int]]) -> tuple[Route, ...]:
    few = max(_FEW, len(homes.lives) // _PART)
    found = {
        (one[: _LONGEST * WIDTH], owner)
        for owner, held in enumerate(numbers)
        for one in _homes(homes, held)
    }
    for length in reversed(range(_LONGEST)):
        if len(found) <= few:
            break
        found = {(one[: length * WIDTH], owner) for one, owner in found}
    return tuple(sorted(found))


def _homes(homes: Homes, numbers: Sequence[int]) -> Iterator[bytes]:
    for number in numbers:
        yield homes.lives[number]
        yield from homes.further.get(number, ())
