"""A node that is not a broker: gossip along a ring, with background rounds and persistence.

Each round a node sends its rumours to its successor in the ring. A rumour that a client tells is
also announced, in the foreground, to a node that the client names. Convergence is known: a full
round of every node without a change means that all nodes have the same rumours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pathcast.node import Changed, FrameReceived, Node, Send, SetTimer, Start, TimerFired
from pathcast.sim.network import Network

__all__ = ["ROUND", "Gossip", "GossipNetwork", "Persist", "Tell"]

ROUND = 1.0  # seconds
Rumours = frozenset[str]


@dataclass(frozen=True, slots=True)
class Tell:
    """Input: a client tells a rumour, to be announced to another node at once."""

    rumour: str
    announce_to: str | None = None


@dataclass(frozen=True, slots=True)
class Persist:
    """Effect: store a rumour."""

    rumour: str


GossipInput = Start | FrameReceived[Rumours] | TimerFired | Tell
GossipEffect = Send[Rumours] | SetTimer | Changed | Persist


class Gossip(Node[GossipInput, GossipEffect]):
    def __init__(self, name: str, successor: str, stored: Rumours) -> None:
        self.name = name
        self.rumours = set(stored)
        self._successor = successor

    def receive(self, input: GossipInput, now: float) -> list[GossipEffect]:
        match input:
            case Start():
                return [SetTimer(now + ROUND, background=True)]
            case TimerFired(background=True):
                return [
                    Send(self._successor, frozenset(self.rumours)),
                    SetTimer(now + ROUND, background=True),
                ]
            case TimerFired():
                return []
            case FrameReceived(frame=rumours):
                return self._learn(rumours)
            case Tell(rumour=rumour, announce_to=receiver):
                effects = self._learn(frozenset({rumour}))
                if receiver is not None:
                    effects.append(Send(receiver, frozenset({rumour})))
                return effects

    def _learn(self, rumours: Rumours) -> list[GossipEffect]:
        new = sorted(rumours - self.rumours)
        self.rumours.update(new)
        return [*map(Persist, new), Changed()] if new else []


class GossipNetwork:
    """A ring of gossip nodes, with a disk for each, on a simulated network."""

    def __init__(self, size: int, **options: Any) -> None:
        self.names = [f"n{number}" for number in range(size)]
        self.disks: dict[str, set[str]] = {name: set() for name in self.names}
        self.trace: list[str] = []
        self.network: Network[Gossip] = Network(
            self._make_node,
            describe_frame=lambda rumours: ",".join(sorted(rumours)) or None,
            trace=self.trace.append,
            on_effect=self._persist,
            **options,
        )
        for name in self.names:
            self.network.start(name)

    def _make_node(self, name: str) -> Gossip:
        successor = self.names[(self.names.index(name) + 1) % len(self.names)]
        return Gossip(name, successor, frozenset(self.disks[name]))

    def _persist(self, name: str, effect: Persist) -> None:
        self.disks[name].add(effect.rumour)

    def rumours(self) -> dict[str, list[str]]:
        """Return the rumours of each node that is up."""
        hosts = self.network.hosts.items()
        return {name: sorted(host.node.rumours) for name, host in hosts if host.node is not None}

    def every(self, check: Callable[[set[str]], bool]) -> bool:
        """Whether a check holds for the rumours of every node that is up."""
        return all(check(set(rumours)) for rumours in self.rumours().values())
