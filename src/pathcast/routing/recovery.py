"""Recovery of routing tables after a restart of this broker or of a neighbour.

Tables are soft state: after a restart each neighbour sends all its facts again
(`on_peer_restart`). Facts of the neighbour's earlier session stay in force as *unconfirmed* until
the neighbour sends them again, retracts them, or completes its refresh.

- Offers flow down each origin's tree. The broker asks its expected parent, which was the parent
  before the restart and is on disk (`Recall`). The parent answers `Complete(OFFERS)` when it knows
  the origin's offers itself.
- Interests flow up each tree. When all children have sent their interests in an origin's documents,
  a broker sends `Complete(INTERESTS)` to its parent.
- `Complete` ends a refresh: unconfirmed facts that it covers are dropped.

Waits follow one tree at a time, so they cannot form a cycle. The exception: parent pointers
restored after a crash may be cyclic if the tree was being torn down. `Recall.waiting` carries the
chain of waiters, and a broker that finds itself in it stops waiting.

While a broker with lost tables does not know the interests of a neighbour, it holds documents back
for that neighbour.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import TypeAlias

from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import (
    Complete,
    FactKind,
    Interest,
    Origins,
    Publication,
    Recall,
    Unadvertise,
    Unsubscribe,
)
from pathcast.routing.outputs import DropStale, RouterOutput, SendMessage
from pathcast.routing.tables import InterestEntry, Tables

__all__ = ["Recovery"]

WaitingChain: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class _PeerState:
    """The progress of recovery with one neighbour, in both directions."""

    # Entries of the neighbour's earlier session, until its interests are complete.
    earlier_entries: set[InterestEntry] = field(default_factory=set)
    # The subset that it has not sent again, or has retracted, in this session.
    unconfirmed_entries: set[InterestEntry] = field(default_factory=set)
    # (origin, publisher) of offers that it has not sent again in this session.
    unconfirmed_offers: set[tuple[str, str]] = field(default_factory=set)
    # Whether its interests are known, from this session or an earlier one.
    interests_known: bool = True
    # Whether it has completed its interests in this session: for all origins, or for some.
    interests_complete: bool = True
    complete_origins: set[str] = field(default_factory=set)
    # Whether this broker has sent it Complete(INTERESTS): for all origins, or for some.
    sent_complete: bool = True
    sent_complete_origins: set[str] = field(default_factory=set)
    # Its unanswered recalls by origin.
    recalls: dict[str, set[WaitingChain]] = field(default_factory=dict)


class Recovery:
    """The recovery state of one broker; `lost`: this broker restarted without its tables."""

    def __init__(self, tables: Tables, lost: bool) -> None:
        self._tables = tables
        self._trees = tables.trees
        self._name = tables.trees.name
        self._clients_known = not lost
        names = tuple(tables.views)
        # The hops whose interests were unknown at the start.
        self.initially_unknown = (LOCAL, *names) if lost else ()
        self._peers = {
            name: _PeerState(
                interests_known=not lost, interests_complete=not lost, sent_complete=not lost
            )
            for name in names
        }

    # Handlers.

    def on_peer_restart(self, neighbour: str, fresh: bool) -> list[RouterOutput]:
        """Send all state again to a neighbour that lost it; its own facts become unconfirmed.

        `fresh`: neither broker has an earlier session, so there is nothing to recover.
        """
        peer = self._peers[neighbour]
        peer.earlier_entries = set(self._tables.entries[neighbour])
        peer.unconfirmed_entries = set(peer.earlier_entries)
        peer.unconfirmed_offers = set(self._trees.offers_of(neighbour))
        expected = [
            origin for origin, parent in self._trees.expected_parents.items() if parent == neighbour
        ]
        recalled = {origin for origin, _ in peer.unconfirmed_offers}.difference(expected)
        nothing_to_recover = fresh and not (peer.unconfirmed_entries or recalled or expected)
        peer.interests_complete = peer.sent_complete = nothing_to_recover
        peer.complete_origins, peer.sent_complete_origins, peer.recalls = set(), set(), {}
        outputs = self._tables.resend_all(neighbour)
        if expected:
            recall = Recall(tuple(sorted(expected)), (self._name,))
            outputs.append(SendMessage(neighbour, recall))
        if recalled:
            outputs.append(SendMessage(neighbour, Recall(tuple(sorted(recalled)))))
        for origin in expected:
            for other in self._peers.values():
                for waiting in sorted(other.recalls.get(origin, ())):
                    outputs += self._forward_recall(origin, waiting)
        return outputs + self.completions()

    def on_subscribe(self, neighbour: str, interest: Interest, except_origins: Origins) -> None:
        """Confirm an entry."""
        self._peers[neighbour].unconfirmed_entries.discard((interest, except_origins))

    def on_unsubscribe(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Return whether the entry may be removed now.

        The retraction of an entry of the earlier session holds only for the origins that the
        neighbour knows already. The entry stays until its interests are complete.
        """
        peer = self._peers[neighbour]
        if (interest, except_origins) in peer.earlier_entries:
            peer.unconfirmed_entries.add((interest, except_origins))
            return False
        return True

    def on_offer_change(self, neighbour: str, origin: str, publisher: str) -> None:
        """Note that a neighbour has sent or retracted an offer in this session."""
        self._peers[neighbour].unconfirmed_offers.discard((origin, publisher))

    def on_recall(self, neighbour: str, recall: Recall) -> list[RouterOutput]:
        """Answer a recall, now or when this broker knows the origins."""
        peer = self._peers[neighbour]
        outputs: list[RouterOutput] = []
        for origin in recall.origins:
            peer.recalls.setdefault(origin, set()).add(recall.waiting)
            outputs += self._forward_recall(origin, recall.waiting)
        return outputs + self.completions()

    def on_complete(self, neighbour: str, complete: Complete) -> list[RouterOutput]:
        """Note that a neighbour has sent all its facts of a kind about an origin."""
        origin = complete.origin
        if complete.kind is FactKind.OFFERS and origin is not None:
            return self._on_offers_complete(neighbour, origin) + self.completions()
        peer = self._peers[neighbour]
        if origin is None:
            peer.interests_complete = peer.interests_known = True
        else:
            peer.complete_origins.add(origin)
        return self.completions()

    def on_clients_known(self) -> list[RouterOutput]:
        """Note that all local clients have repeated their requests after a restart."""
        self._clients_known = True
        return self.completions()

    # Queries.

    @property
    def complete(self) -> bool:
        """Whether all lost state has been recovered."""
        if self._trees.expected_parents or not self._clients_known:
            return False
        # In a ring of brokers that all lost their tables, none can complete all origins first.
        # They complete one origin at a time.
        return all(
            peer.interests_known or self._has_completed_known_origins(name)
            for name, peer in self._peers.items()
        )

    def knows(self, hop: str, origin: str) -> bool:
        """Return whether the interests of a hop in an origin's documents are known.

        `hop` is a neighbour, or `LOCAL` for the local clients.
        """
        if hop == LOCAL:
            return self._clients_known
        return self._has_sent_interests(hop, origin) or self._is_gone(origin)

    def undecided_hops(self, origin: str, came_from: str, receivers: Container[str]) -> list[str]:
        """Return the hops whose interests are unknown and which are no receivers anyway."""
        return [
            hop
            for hop in self.initially_unknown
            if hop not in receivers
            and (hop == LOCAL or hop != came_from)  # local documents are for local subscribers too
            and not self.knows(hop, origin)
        ]

    def must_flood_to(self, document: Publication, hop: str) -> bool:
        """Return whether a neighbour receives a document although its interests are unknown.

        That is so if they cannot become known: the document was accepted before its publisher
        retracted, or narrowed its advertisement to exclude it. Interests that neighbours send from
        now on say nothing about such a document, and those that they had sent are lost.
        """
        origin = document.origin
        if hop == LOCAL or self._has_sent_interests(hop, origin):
            return False
        if origin not in self._trees.parent:
            return self._is_gone(origin)
        return not any(
            advertisement.allows(document.body)
            for advertisement in self._trees.advertisements(origin)
        )

    def is_unconfirmed(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Return whether an entry is of the neighbour's earlier session and not confirmed."""
        return (interest, except_origins) in self._peers[neighbour].unconfirmed_entries

    def is_unconfirmed_offer(self, neighbour: str, origin: str, publisher: str) -> bool:
        """Return whether an offer is of the neighbour's earlier session and not confirmed."""
        return (origin, publisher) in self._peers[neighbour].unconfirmed_offers

    def unconfirmed_count(self, neighbour: str) -> int:
        """Return the number of facts held from the neighbour's earlier session."""
        peer = self._peers[neighbour]
        return len(peer.earlier_entries) + len(peer.unconfirmed_offers)

    def _has_sent_interests(self, neighbour: str, origin: str) -> bool:
        """Return whether a neighbour has sent its interests in an origin, in any session."""
        peer = self._peers[neighbour]
        return (
            peer.interests_known
            or origin in peer.complete_origins
            or self._trees.has_offer(neighbour, origin)
        )

    def _is_gone(self, origin: str) -> bool:
        """Return whether an origin is known to have no publishers any more."""
        return self._is_resolved(origin) and origin not in self._trees.parent

    def _is_resolved(self, origin: str) -> bool:
        """Return whether this broker knows the offers of an origin."""
        if origin == self._name:
            return self._clients_known
        return origin not in self._trees.expected_parents

    def _has_completed_known_origins(self, neighbour: str) -> bool:
        """Return whether a neighbour has completed each origin of which it is a child here."""
        if self._trees.expected_parents or not self._clients_known:
            return False  # there may be origins that are not known yet
        complete = self._peers[neighbour].complete_origins
        return all(
            origin in complete or not self._trees.is_child(neighbour, origin)
            for origin in self._trees.parent
        )

    # Consequences.

    def completions(self) -> list[RouterOutput]:
        """Return the `Complete` messages that are due now; drop unconfirmed facts before."""
        outputs: list[RouterOutput] = []
        for name in self._peers:
            outputs += self._drop_unconfirmed_entries(name)
        pending = self._trees.expected_parents
        for name, peer in self._peers.items():
            for origin in [recalled for recalled in peer.recalls if self._is_resolved(recalled)]:
                del peer.recalls[origin]
                outputs.append(SendMessage(name, Complete(FactKind.OFFERS, origin)))
            if peer.sent_complete or not self._clients_known:
                continue
            others = [(other, state) for other, state in self._peers.items() if other != name]
            if not pending and all(state.interests_known for _, state in others):
                peer.sent_complete = True
                outputs.append(SendMessage(name, Complete(FactKind.INTERESTS, None)))
                continue
            for origin in self._trees.origins_by(name):
                if origin not in peer.sent_complete_origins and origin not in pending:
                    if all(self.knows(other, origin) for other, _ in others):
                        peer.sent_complete_origins.add(origin)
                        outputs.append(SendMessage(name, Complete(FactKind.INTERESTS, origin)))
        return outputs

    def _forward_recall(self, origin: str, waiting: WaitingChain) -> list[RouterOutput]:
        """Forward a chain of waiters to the expected parent, if this broker waits itself.

        If the chain already contains this broker, the waits form a cycle: stop waiting.
        """
        expected = self._trees.expected_parents.get(origin)
        if expected is None or not waiting:
            return []
        if self._name in waiting:
            return self._release_expected_parent(origin)
        return [SendMessage(expected, Recall((origin,), (*waiting, self._name)))]

    def _release_expected_parent(self, origin: str) -> list[RouterOutput]:
        """Allow any neighbour as the parent for an origin again."""
        del self._trees.expected_parents[origin]
        self._trees.changed_parents[origin] = None
        return self._tables.propagate_origin(origin)

    def _on_offers_complete(self, neighbour: str, origin: str) -> list[RouterOutput]:
        """Drop a neighbour's unconfirmed offers of an origin."""
        peer = self._peers[neighbour]
        outputs: list[RouterOutput] = []
        for offer in sorted(peer.unconfirmed_offers):
            if offer[0] == origin:
                peer.unconfirmed_offers.discard(offer)
                retraction = Unadvertise(*offer)
                outputs.append(DropStale(neighbour, retraction))
                changed = self._trees.on_unadvertise(neighbour, retraction)
                outputs += self._tables.propagate_origin(changed)
        if self._trees.expected_parents.get(origin) == neighbour:
            outputs += self._release_expected_parent(origin)
        return outputs

    def _drop_unconfirmed_entries(self, neighbour: str) -> list[RouterOutput]:
        """Drop a neighbour's unconfirmed entries once its interests are complete."""
        peer = self._peers[neighbour]
        if not peer.earlier_entries or not (
            peer.interests_complete or self._has_completed_known_origins(neighbour)
        ):
            return []
        dropped = sorted(peer.unconfirmed_entries, key=_entry_order)
        peer.earlier_entries, peer.unconfirmed_entries = set(), set()
        outputs: list[RouterOutput] = []
        for interest, except_origins in dropped:
            self._tables.remove(neighbour, interest, except_origins)
            outputs.append(DropStale(neighbour, Unsubscribe(interest, except_origins)))
        return outputs + self._tables.propagate_interests([interest for interest, _ in dropped])


def _entry_order(entry: InterestEntry) -> tuple[int, list[str]]:
    return entry[0].number, sorted(entry[1])
