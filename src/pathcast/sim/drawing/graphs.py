"""Places for the brokers of a graph with cycles: distances in the picture like those in the overlay.

The stress of a picture is the sum over all pairs of ((distance in the picture - hops) / hops) squared. Each broker in turn is put where the others would
have it, which never makes the stress larger (Gansner, Koren and North, 2004); it starts from the rings of a tree of shortest ways, so the same overlay
always looks the same. That looks at all pairs some forty times: for hundreds of brokers. Larger overlays keep the rings, with the links
that are not in the tree across them.

Brokers that are nearer to each other than `apart` in the end are pushed apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot

from pathcast.sim.drawing.trees import Near, Point, middle, on_rings, spanning

__all__ = ["by_stress", "pushed"]

_SWEEPS = 40
_PUSHES = 30


def by_stress(near: Near) -> dict[str, Point]:
    """A hop is about 1 long."""
    tree = spanning(near, middle(near))
    places = {one: list(place) for one, place in on_rings(tree, 0.4, 1.0).items()}
    names = list(near)
    hops = {one: spanning(near, one).level for one in names}
    for _ in range(_SWEEPS):
        for one in names:
            x, y = places[one]
            across = down = weights = 0.0
            for other, many in hops[one].items():
                if not many:
                    continue
                at_x, at_y = places[other]
                far = hypot(x - at_x, y - at_y) or 1e-6
                weight = 1 / (many * many)
                across += weight * (at_x + many * (x - at_x) / far)
                down += weight * (at_y + many * (y - at_y) / far)
                weights += weight
            if weights:
                places[one] = [across / weights, down / weights]
    return {one: (x, y) for one, (x, y) in places.items()}


def pushed(places: Mapping[str, Point], apart: Point) -> dict[str, Point]:
    """The same, with no two brokers over each other: `apart` across or down."""
    found = {one: [x / apart[0], y / apart[1]] for one, (x, y) in places.items()}
    for _ in range(_PUSHES):
        calm = True
        cells: dict[tuple[int, int], list[str]] = {}
        for one, (x, y) in found.items():
            cells.setdefault((int(x // 1), int(y // 1)), []).append(one)
        for (column, row), here in list(cells.items()):
            around = [
                other
                for dx in (-1, 0, 1)
                for dy in (-1, 0, 1)
                for other in cells.get((column + dx, row + dy), ())
            ]
            for one in here:
                for other in around:
                    if one < other:
                        calm &= not _part(found[one], found[other])
        if calm:
            break
    return {one: (x * apart[0], y * apart[1]) for one, (x, y) in found.items()}


def _part(one: list[float], other: list[float]) -> bool:
    """Push two that are nearer than 1 half of the way each; whether they were."""
    across, down = other[0] - one[0], other[1] - one[1]
    far = hypot(across, down)
    if far >= 1 - 1e-6:
        return False
    if far < 1e-6:
        across, down, far = 1.0, 0.0, 1.0
        push = 0.5
    else:
        push = (1 - far) / 2
    one[0] -= push * across / far
    one[1] -= push * down / far
    other[0] += push * across / far
    other[1] += push * down / far
    return True
