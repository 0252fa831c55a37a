"""Topologies: the brokers of an overlay, and the links between them with their latency in seconds.

    line N, star N, binary LEVELS   chains, a hub, complete binary trees (3 levels have 7 brokers)
    cao-1, cao-2                    the two trees of Cao 2012, figure 5.6, as far as the text says
    random N EXTRA                  a random tree with EXTRA further links
    transit-stub T S N              as GT-ITM generates them: T transit brokers in a ring with
                                    chords, S stubs at each, N brokers in a stub

Brokers are called b1, b2, ... unless a paper names them. The same seed gives the same overlay on
any machine.

>>> [*map(str, binary(2).links)]
['b1-b2', 'b1-b3']
>>> transit_stub(3, 2, 4, seed=1).brokers[:4], len(transit_stub(3, 2, 4, seed=1).brokers)
(('t1', 't2', 't3', 's1.1'), 27)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush

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

DEFAULT_LATENCY = 0.001  # seconds
_MAX_LEVELS = 12
_MAX_BROKERS = 10_000  # a larger overlay would take hours to set up
_MAX_LINKS = 10 * _MAX_BROKERS


@dataclass(frozen=True, slots=True)
class Link:
    """An undirected link between two brokers."""

    left: str
    right: str
    latency: float = DEFAULT_LATENCY

    def __str__(self) -> str:
        return f"{self.left}-{self.right}"


@dataclass(frozen=True, slots=True)
class Topology:
    """A connected graph of brokers, with at most one link between two of them."""

    name: str
    brokers: tuple[str, ...]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        names = set(self.brokers)
        _check_size(len(self.brokers), len(self.links))
        if not names or len(names) < len(self.brokers):
            raise RoutingError("topology", f"{self.name} needs brokers, each given once")
        pairs = set()
        for link in self.links:
            pair = frozenset((link.left, link.right))
            if len(pair) < 2:
                raise RoutingError("topology", f"{link} leads from {link.left} to itself")
            if not pair <= names:
                raise RoutingError("topology", f"{link} leads to a broker that there is not")
            if pair in pairs:
                raise RoutingError("topology", f"{link} is there twice")
            if not link.latency >= 0:
                raise RoutingError("topology", f"{link} cannot take {link.latency} seconds")
            pairs.add(pair)
        unreachable = sorted(names - self._reachable())
        if unreachable:
            first = self.brokers[0]
            raise RoutingError("topology", f"nothing leads from {first} to {unreachable[0]}")

    @classmethod
    def of(cls, name: str, links: Iterable[Link], brokers: Iterable[str] = ()) -> Topology:
        """Return the topology of links, with brokers in the order in which the links name them."""
        links = tuple(links)
        ends = [end for link in links for end in (link.left, link.right)]
        return cls(name, tuple(dict.fromkeys([*brokers, *ends])), links)

    def neighbours(self) -> dict[str, list[str]]:
        """Return the neighbours of each broker."""
        neighbours: dict[str, list[str]] = {name: [] for name in self.brokers}
        for link in self.links:
            neighbours[link.left].append(link.right)
            neighbours[link.right].append(link.left)
        return neighbours

    def latencies(self) -> dict[tuple[str, str], float]:
        """Return the latency of each direction of each link, by (sender, receiver)."""
        return {
            pair: link.latency
            for link in self.links
            for pair in ((link.left, link.right), (link.right, link.left))
        }

    def path_latency(self) -> Callable[[str, str], float]:
        """Return a function from (sender, receiver) to the latency of the shortest path.

        For networks whose nodes send to any other node, over the links of this topology; meant for
        the automaton over a DHT. One run of Dijkstra's algorithm per sender, on first use.
        """
        neighbours, latencies = self.neighbours(), self.latencies()

        @cache
        def distances(sender: str) -> dict[str, float]:
            shortest: dict[str, float] = {}
            heap = [(0.0, sender)]
            while heap:
                distance, name = heappop(heap)
                if name not in shortest:
                    shortest[name] = distance
                    for neighbour in neighbours[name]:
                        heappush(heap, (distance + latencies[name, neighbour], neighbour))
            return shortest

        return lambda sender, receiver: distances(sender)[receiver]

    def leaves(self) -> list[str]:
        """Return the brokers with one neighbour."""
        return [name for name, others in self.neighbours().items() if len(others) == 1]

    @property
    def acyclic(self) -> bool:
        return len(self.links) == len(self.brokers) - 1

    def _reachable(self) -> set[str]:
        neighbours = self.neighbours()
        reachable = {self.brokers[0]}
        queue = [self.brokers[0]]
        for name in queue:
            unseen = [other for other in neighbours[name] if other not in reachable]
            reachable.update(unseen)
            queue += unseen
        return reachable


def _check_size(brokers: int, links: int = 0) -> None:
    if brokers > _MAX_BROKERS:
        raise RoutingError("topology", f"an overlay has at most {_MAX_BROKERS:,} brokers")
    if links > _MAX_LINKS:
        raise RoutingError("topology", f"an overlay has at most {_MAX_LINKS:,} links")


def _names(count: int) -> list[str]:
    if count < 1:
        raise RoutingError("topology", f"there cannot be {count} brokers")
    _check_size(count)
    return [f"b{number}" for number in range(1, count + 1)]


def line(count: int, latency: float = DEFAULT_LATENCY) -> Topology:
    """Return a chain of brokers."""
    names = _names(count)
    links = [Link(left, right, latency) for left, right in itertools.pairwise(names)]
    return Topology.of(f"line {count}", links, names)


def star(count: int, latency: float = DEFAULT_LATENCY) -> Topology:
    """Return a hub, b1, with `count - 1` brokers around it."""
    hub, *others = _names(count)
    return Topology.of(f"star {count}", [Link(hub, other, latency) for other in others], [hub])


def binary(levels: int, latency: float = DEFAULT_LATENCY) -> Topology:
    """Return a complete binary tree with the root b1."""
    if not 1 <= levels <= _MAX_LEVELS:
        raise RoutingError("topology", f"a binary tree has 1 to {_MAX_LEVELS} levels")
    names = _names(2**levels - 1)
    links = [
        Link(names[(number - 1) // 2], names[number], latency) for number in range(1, len(names))
    ]
    return Topology.of(f"binary {levels}", links, names)


def cao_1(latency: float = DEFAULT_LATENCY) -> Topology:
    """Return the first tree of Cao 2012, section 5.4.2; its figure 5.6a is not legible.

    A publishes, B, C, D are intermediate, and F, G, H, I consume, three hops away.
    """
    pairs = [tuple(pair) for pair in ("AB", "BC", "BD", "CF", "CG", "DH", "DI")]
    return Topology.of("cao-1", [Link(left, right, latency) for left, right in pairs])


def cao_2(latency: float = DEFAULT_LATENCY) -> Topology:
    """Return the second tree of Cao 2012, section 5.4.3; its figure 5.6b is not legible.

    A chain from A to K, and the consumers L, M, N, O at K: eleven hops.
    """
    chain = "ABCDEFGHIJK"
    pairs = [*itertools.pairwise(chain), *(("K", consumer) for consumer in "LMNO")]
    return Topology.of("cao-2", [Link(left, right, latency) for left, right in pairs])


def random_graph(count: int, extra: int, seed: int, latency: float = DEFAULT_LATENCY) -> Topology:
    """Return a random recursive tree with `extra` links between random brokers.

    With extra links, each latency is a random multiple, from 1 to 8, of the given one.
    """
    names = _names(count)
    random = SeededRandom(seed, "topology", "random", count, extra)
    pairs = {(random.below(number), number): None for number in range(1, count)}
    room = count * (count - 1) // 2 - len(pairs)
    if not 0 <= extra <= room:
        raise RoutingError(
            "topology", f"between {count} brokers there is room for {room} more links"
        )
    total = len(pairs) + extra
    _check_size(count, total)
    while len(pairs) < total:
        left, right = sorted((random.below(count), random.below(count)))
        if left != right:
            pairs[left, right] = None
    links = [
        Link(names[left], names[right], latency * (1 + random.below(8)) if extra else latency)
        for left, right in pairs
    ]
    return Topology.of(f"random {count} {extra}", links, names)


def transit_stub(transits: int, stubs: int, size: int, seed: int) -> Topology:
    """Return a transit-stub graph, as GT-ITM generates them.

    The core is a ring of transit brokers with chords (20 ms a link). Each has `stubs` stubs (5 ms).
    A stub is a random tree of `size` brokers with one more link (1 ms).
    """
    if min(transits, stubs, size) < 1:
        raise RoutingError("topology", "a transit-stub overlay needs at least one of each")
    _check_size(transits + transits * stubs * size)
    random = SeededRandom(seed, "topology", "transit-stub", transits, stubs, size)
    core = [f"t{number}" for number in range(1, transits + 1)]
    links = [Link(left, right, 0.02) for left, right in itertools.pairwise(core)]
    if transits > 2:
        links.append(Link(core[-1], core[0], 0.02))
    for number in range(transits // 4):  # chords over about a third of the ring
        left = number * 4
        right = (number * 4 + 2 + random.below(max(transits // 3, 1))) % transits
        if right not in (left, (left + 1) % transits, (left - 1) % transits):
            links.append(Link(core[left], core[right], 0.02))
    count = 0
    for transit in core:
        for _ in range(stubs):
            count += 1
            names = [f"s{count}.{place}" for place in range(1, size + 1)]
            links.append(Link(transit, names[0], 0.005))
            pairs = {(random.below(place), place): None for place in range(1, size)}
            left, right = sorted((random.below(size), random.below(size)))
            if left != right:
                pairs[left, right] = None
            links += [Link(names[left], names[right]) for left, right in pairs]
    unique = {frozenset((link.left, link.right)): link for link in links}
    return Topology.of(f"transit-stub {transits} {stubs} {size}", unique.values(), core)


def topology(words: list[str], seed: int) -> Topology:
    """Return the topology that words such as `binary 3` name; raise RoutingError."""
    name, *arguments = words or [""]
    try:
        numbers = [int(word) for word in arguments]
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
