"""Placement: assigns each publisher and subscriber to a node of the overlay.

Clients are placed independently, so the node of a client does not depend on the number of clients.
With `theta` 0 the nodes are equally likely. A higher `theta` makes a few nodes popular by Zipf's
law, and the seed determines which. `ROUND_ROBIN` assigns clients to the nodes in turn.

To place clients at the edge only, pass the `leaves` of the network as the nodes. The policies and
`leaves` are meant for the published overlay experiments; the benchmark uses the default policy.

>>> place_clients(5, range(3), seed=1, policy=PlacementPolicy.ROUND_ROBIN)
(0, 1, 2, 0, 1)
>>> leaves([(0, 1), (0, 2), (2, 3)])
(1, 3)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from pathcast.errors import WorkloadError
from pathcast.rng import SeededRandom, Zipf

__all__ = ["ClientPlacement", "PlacementPolicy", "leaves", "place_clients"]


class PlacementPolicy(Enum):
    """How the next client is assigned to a node."""

    RANDOM = "random"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True, slots=True)
class ClientPlacement:
    """The node of each publisher and of each subscriber."""

    publishers: tuple[int, ...]
    subscribers: tuple[int, ...]

    @classmethod
    def of(
        cls,
        publishers: int,
        subscribers: int,
        nodes: Sequence[int],
        seed: int,
        *,
        theta: float = 0.0,
        policy: PlacementPolicy = PlacementPolicy.RANDOM,
    ) -> ClientPlacement:
        """Place publishers and subscribers on the same nodes; `theta` applies to subscribers."""
        return cls(
            place_clients(publishers, nodes, seed, policy=policy, kind="publishers"),
            place_clients(subscribers, nodes, seed, theta=theta, policy=policy, kind="subscribers"),
        )


def place_clients(
    count: int,
    nodes: Sequence[int],
    seed: int,
    *,
    theta: float = 0.0,
    policy: PlacementPolicy = PlacementPolicy.RANDOM,
    kind: str = "clients",
) -> tuple[int, ...]:
    """Return the nodes of `count` clients; clients of another `kind` are placed independently."""
    if count < 0:
        raise WorkloadError("placement", f"there cannot be {count} {kind}")
    if not nodes or len(set(nodes)) != len(nodes):
        raise WorkloadError("placement", "there must be nodes, each given once")
    if not 0.0 <= theta <= 100.0:
        message = f"theta must be 0 to 100, not {theta}"
        raise WorkloadError("placement", message, hint="0 is even; 1 is strongly skewed")
    if policy is PlacementPolicy.ROUND_ROBIN:
        if theta:
            message = "clients that are dealt out in turn cannot be skewed"
            raise WorkloadError("placement", message, hint="leave theta out, or place at random")
        return tuple(nodes[number % len(nodes)] for number in range(count))
    ranked = list(nodes)
    if theta:
        shuffle = SeededRandom(seed, "placement", kind, "ranks")
        for last in range(len(ranked) - 1, 0, -1):
            other = shuffle.below(last + 1)
            ranked[last], ranked[other] = ranked[other], ranked[last]
    zipf, rng = Zipf(len(ranked), theta), SeededRandom(seed, "placement", kind)
    return tuple(ranked[zipf.pick(rng)] for _ in range(count))


def leaves(edges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the nodes of a network with one neighbour, in ascending order."""
    neighbours: dict[int, set[int]] = {}
    for first, second in edges:
        if first != second:
            neighbours.setdefault(first, set()).add(second)
            neighbours.setdefault(second, set()).add(first)
    return tuple(sorted(node for node, adjacent in neighbours.items() if len(adjacent) == 1))
