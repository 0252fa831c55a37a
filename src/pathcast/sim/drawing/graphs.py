"""OverlayLayout of graphs with cycles: distances in the picture approximate hops in the overlay.

The stress of a layout is the sum over all pairs of ((distance - hops) / hops) squared. Majorization
moves each broker in turn to the optimum that the others imply, which never increases the stress
(Gansner, Koren and North 2004). It starts from the rings of a shortest-path tree, whose branches
`untwist` orders so that few other links cross. All pairs are visited `_SWEEPS` times, so this is
for hundreds of brokers; larger overlays keep the rings.

At the end `push_apart` moves brokers away from each other, and away from links of other brokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import floor, hypot
from typing import TypeAlias

from pathcast.rng import SeededRandom
from pathcast.sim.drawing.trees import (
    LayoutTree,
    Neighbours,
    Point,
    balanced_root,
    breadth_first_tree,
    place_on_rings,
)

__all__ = ["crossings", "place_by_stress", "push_apart", "untwist"]

Hops: TypeAlias = Mapping[str, Mapping[str, int]]
LinkPairs: TypeAlias = Sequence[tuple[str, str]]
_Segment: TypeAlias = tuple[str, str, Point, Point]

_MAX_SHUFFLES = 400
_MAX_LINK_PAIRS = 1_000_000  # that `untwist` compares
_SWEEPS = 40
_MAX_PUSHES = 40
_EPSILON = 1e-6
_LINK_CLEARANCE = 0.62  # of a broker from a link of others; brokers are 1 apart


def place_by_stress(neighbours: Neighbours, links: LinkPairs) -> dict[str, Point]:
    """Return positions of low stress, in which a hop is about 1 long."""
    hops = {name: breadth_first_tree(neighbours, name).level for name in neighbours}
    return _majorize(place_on_rings(untwist(neighbours, links), 0.4, 1.0), hops)


def untwist(neighbours: Neighbours, links: LinkPairs) -> LayoutTree:
    """Return a shortest-path tree with its branches in an order in which few links cross."""
    tree = breadth_first_tree(neighbours, balanced_root(neighbours))
    parent = {child: name for name, children in tree.children.items() for child in children}
    others = [(left, right) for left, right in links if right not in (parent.get(left), left)]
    others = [(left, right) for left, right in others if parent.get(right) != left]
    rng = SeededRandom(0, "drawing", len(neighbours), len(links))
    forks = [name for name in tree.order if len(tree.children[name]) > 1]
    fewest = crossings(place_on_rings(tree, 0.4, 1.0), links, others)
    for turn in range(min(_MAX_SHUFFLES, _MAX_LINK_PAIRS // max(1, len(others) * len(links)))):
        if not fewest or not forks:
            break
        fork = forks[turn % len(forks)]
        branches = sorted(tree.children[fork], key=lambda _: rng.random())
        candidate = replace(tree, children={**tree.children, fork: branches})
        count = crossings(place_on_rings(candidate, 0.4, 1.0), links, others)
        if count <= fewest:
            tree, fewest = candidate, count
    return tree


def _majorize(start: Mapping[str, Point], hops: Hops) -> dict[str, Point]:
    positions = dict(start)
    for _ in range(_SWEEPS):
        for name, distances in hops.items():
            x, y = positions[name]
            sum_x = sum_y = weights = 0.0
            for other, distance in distances.items():
                if distance:
                    other_x, other_y = positions[other]
                    stretch = distance / (hypot(x - other_x, y - other_y) or 1e-6)
                    weight = 1 / (distance * distance)
                    sum_x += weight * (other_x + stretch * (x - other_x))
                    sum_y += weight * (other_y + stretch * (y - other_y))
                    weights += weight
            if weights:
                positions[name] = (sum_x / weights, sum_y / weights)
    return positions


def crossings(
    positions: Mapping[str, Point], links: LinkPairs, subset: LinkPairs | None = None
) -> int:
    """Count the pairs of links that cross; with a subset, its links with any link."""
    total = 0
    segments = _segments(positions, links)
    if subset is None:
        pairs: Iterable[tuple[_Segment, _Segment]] = combinations(segments, 2)
    else:
        pairs = product(_segments(positions, subset), segments)
    for (a, b, p, q), (c, d, r, s) in pairs:
        if a not in (c, d) and b not in (c, d):
            total += _on_opposite_sides(p, q, r, s) and _on_opposite_sides(r, s, p, q)
    return total


def _segments(positions: Mapping[str, Point], links: LinkPairs) -> list[_Segment]:
    return [(left, right, positions[left], positions[right]) for left, right in links]


def _on_opposite_sides(p: Point, q: Point, r: Point, s: Point) -> bool:
    """Whether r and s are on different sides of the line through p and q, and not on it."""
    of_r, of_s = _orientation(p, q, r), _orientation(p, q, s)
    return (of_r > _EPSILON and of_s < -_EPSILON) or (of_r < -_EPSILON and of_s > _EPSILON)


def _orientation(p: Point, q: Point, r: Point) -> float:
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def push_apart(
    positions: Mapping[str, Point], links: LinkPairs, min_distance: Point
) -> dict[str, Point]:
    """Return positions without overlaps: brokers are `min_distance` apart, across or down."""
    unit_x, unit_y = min_distance
    scaled = {name: [x / unit_x, y / unit_y] for name, (x, y) in positions.items()}
    for _ in range(_MAX_PUSHES):
        moved = False
        for a, b in _close_pairs(scaled):
            moved |= _push_brokers(scaled[a], scaled[b])
        for left, right in links:
            for name, position in scaled.items():
                if name not in (left, right):
                    moved |= _push_from_link(position, scaled[left], scaled[right])
        if not moved:
            break
    return {name: (x * unit_x, y * unit_y) for name, (x, y) in scaled.items()}


def _close_pairs(positions: Mapping[str, list[float]]) -> Iterator[tuple[str, str]]:
    """Yield each pair that may be closer than 1: those in the same or adjacent cells of a grid."""
    cells: dict[tuple[int, int], list[str]] = {}
    for name, (x, y) in positions.items():
        cells.setdefault((floor(x), floor(y)), []).append(name)
    for (column, row), names in cells.items():
        yield from combinations(names, 2)
        for dx, dy in ((1, -1), (1, 0), (1, 1), (0, 1)):
            yield from product(names, cells.get((column + dx, row + dy), ()))


def _push_brokers(a: list[float], b: list[float]) -> bool:
    """Move two brokers that are closer than 1, half of the way each; return whether they were."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    if abs(dx) >= 1 or abs(dy) >= 1:
        return False
    distance = hypot(dx, dy)
    if distance >= 1 - 1e-6:
        return False
    if distance < 1e-6:
        dx, dy, distance = 1e-6, 0.0, 1e-6
    push = (1 - distance) / 2 / distance
    a[0] -= push * dx
    a[1] -= push * dy
    b[0] += push * dx
    b[1] += push * dy
    return True


def _push_from_link(broker: list[float], left: list[float], right: list[float]) -> bool:
    """Move a broker and a link of two others apart; return whether they were too close."""
    link_x, link_y = right[0] - left[0], right[1] - left[1]
    length_squared = link_x * link_x + link_y * link_y
    if length_squared < 1e-9:
        return False
    share = ((broker[0] - left[0]) * link_x + (broker[1] - left[1]) * link_y) / length_squared
    if not 0 < share < 1:
        return False
    dx = broker[0] - left[0] - share * link_x
    dy = broker[1] - left[1] - share * link_y
    distance = hypot(dx, dy)
    if distance >= _LINK_CLEARANCE - 1e-6:
        return False
    if distance < 1e-6:
        dx, dy, distance = -link_y * 1e-6, link_x * 1e-6, 1e-6 * length_squared**0.5
    push = (_LINK_CLEARANCE - distance) / 4 / distance
    broker[0] += 2 * push * dx
    broker[1] += 2 * push * dy
    for end in (left, right):
        end[0] -= push * dx
        end[1] -= push * dy
    return True
