"""Places for the brokers of a graph with cycles: distances in the picture like those in the overlay.

The stress of a picture is the sum over all pairs of ((distance in the picture - hops) / hops) squared. Each broker in turn is put where the others would
have it, which never makes the stress larger (Gansner, Koren and North, 2004). It starts from the rings of a tree of shortest ways, in which the other links
cross as few as can be found by turning branches around (`untwisted`). All pairs are looked at some forty times, so this is for hundreds of brokers; larger overlays keep
the rings.

In the end brokers are pushed apart from each other, and away from links of others that would seem to be theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import floor, hypot
from typing import TypeAlias

from pathcast.rng import SeededRandom
from pathcast.sim.drawing.trees import Near, Point, Tree, middle, on_rings, spanning

__all__ = ["by_stress", "crossings", "pushed", "untwisted"]

Hops: TypeAlias = Mapping[str, Mapping[str, int]]
Pairs: TypeAlias = Sequence[tuple[str, str]]
_Ends: TypeAlias = tuple[str, str, Point, Point]

_MOST_TURNS = 400
_LOOKS = 1_000_000  # pairs of links that are looked at to find a good order
_SWEEPS = 40
_PUSHES = 40
_THIN = 1e-6
_CLEAR = 0.62  # how far a broker is from a link that is not its own, where 1 is how far it is from another


def by_stress(near: Near, links: Pairs) -> dict[str, Point]:
    """A hop is about 1 long."""
    hops = {one: spanning(near, one).level for one in near}
    return _relaxed(on_rings(untwisted(near, links), 0.4, 1.0), hops)


def untwisted(near: Near, links: Pairs) -> Tree:
    """A tree of shortest ways, its branches in an order in which few of the other links cross anything on its rings."""
    tree = spanning(near, middle(near))
    parent = {child: one for one, below in tree.children.items() for child in below}
    others = [(one, other) for one, other in links if other not in (parent.get(one), one)]
    others = [(one, other) for one, other in others if parent.get(other) != one]
    rng = SeededRandom(0, "drawing", len(near), len(links))
    forks = [one for one in tree.order if len(tree.children[one]) > 1]
    fewest = crossings(on_rings(tree, 0.4, 1.0), links, others)
    for turn in range(min(_MOST_TURNS, _LOOKS // max(1, len(others) * len(links)))):
        if not fewest or not forks:
            break
        fork = forks[turn % len(forks)]
        branches = sorted(tree.children[fork], key=lambda _: rng.random())
        tried = replace(tree, children={**tree.children, fork: branches})
        many = crossings(on_rings(tried, 0.4, 1.0), links, others)
        if many <= fewest:
            tree, fewest = tried, many
    return tree


def _relaxed(start: Mapping[str, Point], hops: Hops) -> dict[str, Point]:
    places = dict(start)
    for _ in range(_SWEEPS):
        for one, far in hops.items():
            x, y = places[one]
            across = down = weights = 0.0
            for other, many in far.items():
                if many:
                    at_x, at_y = places[other]
                    stretch = many / (hypot(x - at_x, y - at_y) or 1e-6)
                    weight = 1 / (many * many)
                    across += weight * (at_x + stretch * (x - at_x))
                    down += weight * (at_y + stretch * (y - at_y))
                    weights += weight
            if weights:
                places[one] = (across / weights, down / weights)
    return places


def crossings(places: Mapping[str, Point], links: Pairs, some: Pairs | None = None) -> int:
    """How many pairs of links cross; `some`: of these with any."""
    total = 0
    ends = [(one, other, places[one], places[other]) for one, other in links]
    if some is None:
        pairs: Iterable[tuple[_Ends, _Ends]] = combinations(ends, 2)
    else:
        pairs = product([(one, other, places[one], places[other]) for one, other in some], ends)
    for (a, b, p, q), (c, d, r, s) in pairs:
        if a not in (c, d) and b not in (c, d):
            total += _parted(p, q, r, s) and _parted(r, s, p, q)
    return total


def _parted(p: Point, q: Point, r: Point, s: Point) -> bool:
    """Whether r and s lie on different sides of the line through p and q; what lies on it is on neither."""
    one, other = _turn(p, q, r), _turn(p, q, s)
    return (one > _THIN and other < -_THIN) or (one < -_THIN and other > _THIN)


def _turn(p: Point, q: Point, r: Point) -> float:
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def pushed(places: Mapping[str, Point], links: Pairs, apart: Point) -> dict[str, Point]:
    """The same, with no two brokers over each other: `apart` across or down."""
    found = {one: [x / apart[0], y / apart[1]] for one, (x, y) in places.items()}
    for _ in range(_PUSHES):
        moved = False
        for one, other in _neighbourhood(found):
            moved |= _part(found[one], found[other])
        for one, other in links:
            for name, place in found.items():
                if name not in (one, other):
                    moved |= _clear(place, found[one], found[other])
        if not moved:
            break
    return {one: (x * apart[0], y * apart[1]) for one, (x, y) in found.items()}


def _neighbourhood(found: Mapping[str, list[float]]) -> Iterator[tuple[str, str]]:
    """All pairs that may be nearer than 1, each once: those in one cell of a grid, or in two that touch."""
    cells: dict[tuple[int, int], list[str]] = {}
    for one, (x, y) in found.items():
        cells.setdefault((floor(x), floor(y)), []).append(one)
    for (column, row), here in cells.items():
        yield from combinations(here, 2)
        for beside in ((1, -1), (1, 0), (1, 1), (0, 1)):
            yield from product(here, cells.get((column + beside[0], row + beside[1]), ()))


def _part(one: list[float], other: list[float]) -> bool:
    """Push two that are nearer than 1 half of the way each; whether they were."""
    across, down = other[0] - one[0], other[1] - one[1]
    if abs(across) >= 1 or abs(down) >= 1:
        return False
    far = hypot(across, down)
    if far >= 1 - 1e-6:
        return False
    if far < 1e-6:
        across, down, far = 1e-6, 0.0, 1e-6
    push = (1 - far) / 2 / far
    one[0] -= push * across
    one[1] -= push * down
    other[0] += push * across
    other[1] += push * down
    return True


def _clear(broker: list[float], one: list[float], other: list[float]) -> bool:
    """Push a broker away from the link between two others, and the link from it; whether it was near."""
    along, up = other[0] - one[0], other[1] - one[1]
    long = along * along + up * up
    if long < 1e-9:
        return False
    share = ((broker[0] - one[0]) * along + (broker[1] - one[1]) * up) / long
    if not 0 < share < 1:
        return False
    across = broker[0] - one[0] - share * along
    down = broker[1] - one[1] - share * up
    far = hypot(across, down)
    if far >= _CLEAR - 1e-6:
        return False
    if far < 1e-6:
        across, down, far = -up * 1e-6, along * 1e-6, 1e-6 * long**0.5
    push = (_CLEAR - far) / 4 / far
    broker[0] += 2 * push * across
    broker[1] += 2 * push * down
    for end in (one, other):
        end[0] -= push * across
        end[1] -= push * down
    return True
