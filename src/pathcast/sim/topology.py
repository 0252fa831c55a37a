"""Shapes of overlays: brokers, and the links between them with their latency in seconds.

    line N, star N, binary LEVELS      chains, a hub, complete binary trees (7 brokers have 3 levels, 127 have 7)
    cao-1, cao-2                       the two trees of Cao (2012, figure 5.6), as far as the text tells them
    random N EXTRA                     a random tree with EXTRA further links
    transit-stub T S N                 as GT-ITM makes them: T transit brokers in a ring with chords, S stubs at each, N brokers in a stub

Brokers are called b1, b2, ... unless a paper names them. The same seed gives the same overlay anywhere.

>>> [*map(str, binary(2).links)]
['b1-b2', 'b1-b3']
>>> transit_stub(3, 2, 4, seed=1).brokers[:4], len(transit_stub(3, 2, 4, seed=1).brokers)
(('t1', 't2', 't3', 's1.1'), 27)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from pathcast.errors import RoutingError
from pathcast.rng import SeededRandom

__all__ = [
    "Link",
    "Topology",
    "binary",
    "cao_1",
    "cao_2",
    "line",
    "random_graph",
    "star",
    "topology",
    "transit_stub",
]

LATENCY = 0.001
_MOST_LEVELS = 12
_MOST = 10_000  # brokers, and ten times as many links: more would take hours to set up


@dataclass(frozen=True, slots=True)
class Link:
    one: str
    other: str
    latency: float = LATENCY

    def __str__(self) -> str:
        return f"{self.one}-{self.other}"


@dataclass(frozen=True, slots=True)
class Topology:
    """Connected, with at most one link between two brokers."""

    name: str
    brokers: tuple[str, ...]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        known = set(self.brokers)
        _bounded(len(self.brokers), len(self.links))
        if not known or len(known) < len(self.brokers):
            raise RoutingError("topology", f"{self.name} needs brokers, each given once")
        pairs = set()
        for link in self.links:
            pair = frozenset((link.one, link.other))
            if len(pair) < 2:
                raise RoutingError("topology", f"{link} leads from {link.one} to itself")
            if not pair <= known:
                raise RoutingError("topology", f"{link} leads to a broker that there is not")
            if pair in pairs:
                raise RoutingError("topology", f"{link} is there twice")
            if not link.latency >= 0:
                raise RoutingError("topology", f"{link} cannot take {link.latency} seconds")
            pairs.add(pair)
        if len(self._reached()) < len(known):
            lost = sorted(known - self._reached())
            raise RoutingError("topology", f"nothing leads from {self.brokers[0]} to {lost[0]}")

    @classmethod
    def of(cls, name: str, links: Iterable[Link], brokers: Iterable[str] = ()) -> Topology:
        """With the brokers in the order in which links name them."""
        links = tuple(links)
        named = [one for link in links for one in (link.one, link.other)]
        return cls(name, tuple(dict.fromkeys([*brokers, *named])), links)

    def neighbours(self) -> dict[str, list[str]]:
        near: dict[str, list[str]] = {one: [] for one in self.brokers}
        for link in self.links:
            near[link.one].append(link.other)
            near[link.other].append(link.one)
        return near

    def leaves(self) -> list[str]:
        """The brokers with one neighbour."""
        return [one for one, near in self.neighbours().items() if len(near) == 1]

    @property
    def acyclic(self) -> bool:
        return len(self.links) == len(self.brokers) - 1

    def _reached(self) -> set[str]:
        near = self.neighbours()
        found = {self.brokers[0]}
        waiting = [self.brokers[0]]
        for one in waiting:
            fresh = [other for other in near[one] if other not in found]
            found.update(fresh)
            waiting += fresh
        return found


def _bounded(brokers: int, links: int = 0) -> None:
    if brokers > _MOST:
        raise RoutingError("topology", f"an overlay has at most {_MOST:,} brokers")
    if links > 10 * _MOST:
        raise RoutingError("topology", f"an overlay has at most {10 * _MOST:,} links")


def _names(count: int) -> list[str]:
    if count < 1:
        raise RoutingError("topology", f"there cannot be {count} brokers")
    _bounded(count)
    return [f"b{number}" for number in range(1, count + 1)]


def line(count: int, latency: float = LATENCY) -> Topology:
    names = _names(count)
    links = [Link(one, other, latency) for one, other in itertools.pairwise(names)]
    return Topology.of(f"line {count}", links, names)


def star(count: int, latency: float = LATENCY) -> Topology:
    hub, *others = _names(count)
    return Topology.of(f"star {count}", [Link(hub, one, latency) for one in others], [hub])


def binary(levels: int, latency: float = LATENCY) -> Topology:
    if not 1 <= levels <= _MOST_LEVELS:
        raise RoutingError("topology", f"a binary tree has 1 to {_MOST_LEVELS} levels")
    names = _names(2**levels - 1)
    links = [
        Link(names[(number - 1) // 2], names[number], latency) for number in range(1, len(names))
    ]
    return Topology.of(f"binary {levels}", links, names)


def cao_1(latency: float = LATENCY) -> Topology:
    """Figure 5.6a is lost; from section 5.4.2: A publishes, B, C, D are intermediate, F, G, H, I consume, three hops deep."""
    pairs = [tuple(pair) for pair in ("AB", "BC", "BD", "CF", "CG", "DH", "DI")]
    return Topology.of("cao-1", [Link(one, other, latency) for one, other in pairs])


def cao_2(latency: float = LATENCY) -> Topology:
    """Figure 5.6b is lost; from section 5.4.3: a chain from A to K, and the consumers L, M, N, O behind K: eleven hops."""
    chain = "ABCDEFGHIJK"
    pairs = [*itertools.pairwise(chain), *(("K", one) for one in "LMNO")]
    return Topology.of("cao-2", [Link(one, other, latency) for one, other in pairs])


def random_graph(count: int, extra: int, seed: int, latency: float = LATENCY) -> Topology:
    """A tree in which each broker hangs on a random earlier one, and further links between any two."""
    names = _names(count)
    rng = SeededRandom(seed, "topology", "random", count, extra)
    pairs = {(rng.below(number), number): None for number in range(1, count)}
    room = count * (count - 1) // 2 - len(pairs)
    if not 0 <= extra <= room:
        raise RoutingError(
            "topology", f"between {count} brokers there is room for {room} more links"
        )
    wanted = len(pairs) + extra
    _bounded(count, wanted)
    while len(pairs) < wanted:
        one, other = sorted((rng.below(count), rng.below(count)))
        if one != other:
            pairs[one, other] = None
    links = [
        Link(names[one], names[other], latency * (1 + rng.below(8)) if extra else latency)
        for one, other in pairs
    ]
    return Topology.of(f"random {count} {extra}", links, names)


def transit_stub(transits: int, stubs: int, size: int, seed: int) -> Topology:
    """A ring of transit brokers with chords (20 ms), stubs at each (5 ms), in a stub a random tree with a link more (1 ms)."""
    if min(transits, stubs, size) < 1:
        raise RoutingError("topology", "a transit-stub overlay needs at least one of each")
    _bounded(transits + transits * stubs * size)
    rng = SeededRandom(seed, "topology", "transit-stub", transits, stubs, size)
    core = [f"t{number}" for number in range(1, transits + 1)]
    links = [Link(one, other, 0.02) for one, other in itertools.pairwise(core)]
    if transits > 2:
        links.append(Link(core[-1], core[0], 0.02))
    for number in range(transits // 4):  # chords over a third of the ring or so
        one, other = number * 4, (number * 4 + 2 + rng.below(max(transits // 3, 1))) % transits
        if other not in (one, (one + 1) % transits, (one - 1) % transits):
            links.append(Link(core[one], core[other], 0.02))
    count = 0
    for transit in core:
        for _ in range(stubs):
            count += 1
            names = [f"s{count}.{place}" for place in range(1, size + 1)]
            links.append(Link(transit, names[0], 0.005))
            pairs = {(rng.below(place), place): None for place in range(1, size)}
            one, other = sorted((rng.below(size), rng.below(size)))
            if one != other:
                pairs[one, other] = None
            links += [Link(names[one], names[other]) for one, other in pairs]
    unique = {frozenset((link.one, link.other)): link for link in links}
    return Topology.of(f"transit-stub {transits} {stubs} {size}", unique.values(), core)


def topology(words: list[str], seed: int) -> Topology:
    """The overlay that words name; raises RoutingError."""
    name, *rest = words or [""]
    try:
        numbers = [int(word) for word in rest]
    except ValueError:
        raise RoutingError("topology", f"{' '.join(words)}: a number is expected") from None
    match name, numbers:
        case "line", [count]:
            return line(count)
        case "star", [count]:
            return star(count)
        case "binary", [levels]:
            return binary(levels)
        case "cao-1", []:
            return cao_1()
        case "cao-2", []:
            return cao_2()
        case "random", [count, extra]:
            return random_graph(count, extra, seed)
        case "transit-stub", [transits, stubs, size]:
            return transit_stub(transits, stubs, size, seed)
    shapes = "line N, star N, binary LEVELS, cao-1, cao-2, random N EXTRA, transit-stub T S N"
    raise RoutingError(
        "topology", f"there is no topology {' '.join(words)!r}", hint=f"one of {shapes}"
    )
