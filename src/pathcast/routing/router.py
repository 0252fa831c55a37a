"""The router: the routing tables of one broker as a state machine without I/O and clock.

    Advertise, Unadvertise   -> trees -> advertisements for neighbours; interests may follow
    Subscribe, Unsubscribe   -> entries, interests -> interests for other neighbours
    Publish                  -> filter -> matching children in the origin's tree; deliveries

Links are ordered and reliable within a session (see `transport`). Each message adds or removes one
fact (`tables`); `recovery` handles sessions that start without tables.

docs/decisions/0013 states which documents a subscriber receives, and when.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from pathcast.documents import parse_tree
from pathcast.errors import PathcastError, RoutingError
from pathcast.routing.advertisement import ANYTHING, widen
from pathcast.routing.backend import Backend
from pathcast.routing.interests import LOCAL, NeighbourView
from pathcast.routing.messages import (
    Advertise,
    Complete,
    Interest,
    Message,
    Origins,
    Publication,
    Publish,
    Recall,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from pathcast.routing.outputs import Decision, Refuse, RouterOutput
from pathcast.routing.recovery import Recovery
from pathcast.routing.requests import Announce, Cancel, Register, Request, RequestBatch, Retract
from pathcast.routing.strategy import Strategy
from pathcast.routing.subscribers import Subscribers
from pathcast.routing.tables import Tables

__all__ = ["Counters", "Router"]


@dataclass(slots=True)
class Counters:
    """Counters of one router."""

    decisions: int = 0  # documents matched against the tables
    outside: int = 0  # documents outside their publisher's advertisement
    wasted: int = 0  # received documents without a receiver here or beyond


class Router:
    """The routing tables of one broker.

    `refuse_outside`: reject documents outside their publisher's advertisement. `recovering`: the
    broker restarted without its tables.
    """

    def __init__(
        self,
        name: str,
        neighbours: Iterable[str],
        strategy: Strategy,
        backend: Backend,
        *,
        refuse_outside: bool = False,
        recovering: bool = False,
    ) -> None:
        names = tuple(neighbours)
        if LOCAL in names or name in names or len(set(names)) < len(names):
            raise RoutingError("topology", f"{name} has odd neighbours: {', '.join(names)}")
        self.name = name
        self.neighbours = names
        self.strategy = strategy
        self.backend = backend
        self.counters = Counters()
        self._tables = Tables(name, names, backend, strategy.advertisements)
        self.trees = self._tables.trees
        self.interests = self._tables.interests
        self.recovery = Recovery(self._tables, recovering)
        self._subscribers = Subscribers(backend)
        self._refuse_outside = refuse_outside
        self._widening: set[str] = set()  # publishers with inferred advertisements

    def start(self) -> list[RouterOutput]:
        """Return the initial messages.

        Without advertisements, every broker announces itself as an origin of any document.
        """
        if self.strategy.advertisements:
            return []
        return self._tables.propagate_origin(self.trees.announce("", ANYTHING))

    # Inputs.

    def request(self, request: Request) -> list[RouterOutput]:
        """Process a request of a local client; raise KeyError or RoutingError."""
        match request:
            case Register() | Cancel():
                return self._tables.propagate_interests(self._update_subscription(request))
            case RequestBatch(requests=requests):
                return self._tables.propagate_interests(self._update_subscriptions(requests))
            case Announce(publisher=publisher, advertisement=advertisement, widens=widens):
                if not publisher:
                    raise RoutingError("publisher", "a publisher has a name")
                (self._widening.add if widens else self._widening.discard)(publisher)
                return self._tables.propagate_origin(self.trees.announce(publisher, advertisement))
            case Retract(publisher=publisher):
                self._widening.discard(publisher)
                outputs = self._tables.propagate_origin(self.trees.retract(publisher))
                return outputs + self.recovery.completions()

    def _update_subscription(self, request: Register | Cancel) -> list[Interest]:
        """Apply a request; return its interest if local subscribers start or stop having it."""
        match request:
            case Register():
                interest = self._subscribers.add(request)
                return [interest] if self.interests.add_local(interest) else []
            case Cancel(id=id):
                interest = self._subscribers.remove(id)
                return [interest] if self.interests.remove_local(interest) else []

    def _update_subscriptions(self, requests: Iterable[Register | Cancel]) -> list[Interest]:
        """Apply all requests, or none if one fails; return the changed interests."""
        changed: dict[Interest, None] = {}
        undo: list[Register | Cancel] = []
        try:
            for request in requests:
                inverse = self._subscribers.inverse(request)
                changed.update(dict.fromkeys(self._update_subscription(request)))
                undo.append(inverse)
        except (KeyError, PathcastError):
            for inverse in reversed(undo):
                self._update_subscription(inverse)
            raise
        return list(changed)

    def on_message(self, neighbour: str, message: Message) -> list[RouterOutput]:
        """Process a message of a neighbour, except documents, which go to `decide`."""
        tables, recovery = self._tables, self.recovery
        match message:
            case Subscribe(interest=interest, except_origins=except_origins):
                recovery.on_subscribe(neighbour, interest, except_origins)
                added = tables.add(neighbour, interest, except_origins)
                return tables.propagate_interests([interest]) if added else []
            case Unsubscribe(interest=interest, except_origins=except_origins):
                final = recovery.on_unsubscribe(neighbour, interest, except_origins)
                removed = final and tables.remove(neighbour, interest, except_origins)
                return tables.propagate_interests([interest]) if removed else []
            case Advertise(origin=origin, publisher=publisher):
                recovery.on_offer_change(neighbour, origin, publisher)
                outputs = tables.propagate_origin(self.trees.on_advertise(neighbour, message))
                return outputs + recovery.completions()
            case Unadvertise(origin=origin, publisher=publisher):
                recovery.on_offer_change(neighbour, origin, publisher)
                outputs = tables.propagate_origin(self.trees.on_unadvertise(neighbour, message))
                return outputs + recovery.completions()
            case Recall():
                return recovery.on_recall(neighbour, message)
            case Complete():
                return recovery.on_complete(neighbour, message)
            case Publish():
                raise TypeError("documents go to `decide`")

    # Documents.

    def admit(self, document: Publication) -> tuple[Publication | Refuse, list[RouterOutput]]:
        """Check a local publisher's document against its advertisement; raise DocumentError.

        Return the document to route or its rejection, and the messages of a widened advertisement.
        """
        publisher = document.publisher
        advertisement = self.trees.local_advertisements.get(publisher)
        by_advertisement = self.strategy.advertisements
        if (
            advertisement.allows(document.body)
            if advertisement is not None
            else not by_advertisement
        ):
            return document, []
        self.counters.outside += 1
        if self._refuse_outside:
            missing = "anything" if advertisement is None else "such a document"
            return Refuse(document, f"{publisher} has not advertised {missing}"), []
        outputs: list[RouterOutput] = []
        if advertisement is not None and publisher in self._widening:
            wider = widen(advertisement, document.body)
            outputs = self._tables.propagate_origin(self.trees.announce(publisher, wider))
        return replace(document, outside=by_advertisement), outputs

    def decide(self, document: Publication, came_from: str = LOCAL) -> Decision:
        """Return the route of a document; raise DocumentError."""
        self.counters.decisions += 1
        neighbours = (self._matching(document) | self.flood_targets(document)) - {came_from}
        undecided = self.recovery.undecided_hops(document.origin, came_from, neighbours)
        if not len(self._tables.filter) and (LOCAL in undecided or not len(self._subscribers)):
            parse_tree(document.body)  # no table has parsed it, and the broker may log it for long
        deliveries = () if LOCAL in undecided else tuple(self._subscribers.deliveries(document))
        if not neighbours and not deliveries and not undecided and came_from != LOCAL:
            self.counters.wasted += 1
        return Decision(tuple(sorted(neighbours)), deliveries, tuple(undecided))

    def decide_for(self, document: Publication, hop: str) -> Decision:
        """Return the route to one hop of a document that was undecided for it."""
        if hop == LOCAL:
            return Decision((), tuple(self._subscribers.deliveries(document)))
        sends = self.recovery.must_flood_to(document, hop) or hop in self._matching(document)
        return Decision((hop,) if sends else (), ())

    def can_decide(self, document: Publication, hop: str) -> bool:
        """Return whether a document that was undecided for a hop can be decided now."""
        recovery = self.recovery
        return recovery.knows(hop, document.origin) or recovery.must_flood_to(document, hop)

    def flood_targets(self, document: Publication) -> set[str]:
        """Return the neighbours that receive a document whatever their interests are."""
        if document.outside:
            origin = document.origin
            return {name for name in self.neighbours if self.trees.is_child(name, origin)}
        return {
            hop
            for hop in self.recovery.initially_unknown
            if self.recovery.must_flood_to(document, hop)
        }

    def _matching(self, document: Publication) -> set[str]:
        """Return the children in the origin's tree that have a matching entry."""
        origin = document.origin
        neighbours = self._tables.filter.matching_neighbours(document.body, origin)
        return {name for name in neighbours if self.trees.is_child(name, origin)}

    # Queries of `inspect` and the simulator; they change nothing.

    def entry_count(self) -> int:
        """Return the number of entries of neighbours and local subscriptions."""
        return len(self._tables.filter) + len(self._subscribers)

    def uncovered_count(self) -> int:
        """Return the number of entries that a linear scan tests for a document.

        With covering, of the local subscriptions only the covering roots count.
        """
        return len(self._tables.filter) + self._subscribers.uncovered_count()

    def has_entry(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Return whether a neighbour has an entry."""
        return (interest, except_origins) in self._tables.entries[neighbour]

    def entries_of(self, neighbour: str) -> Iterator[tuple[Interest, Origins]]:
        """Return the entries of a neighbour in order of arrival."""
        return iter(self._tables.entries[neighbour])

    def view(self, neighbour: str) -> NeighbourView:
        """Return the view of a neighbour: the interests that this broker sends to it."""
        return self._tables.views[neighbour]

    def sent_interests(self, neighbour: str) -> list[Interest] | None:
        """Return the interests sent to a neighbour, each once; None for an unknown neighbour."""
        view = self._tables.views.get(neighbour)
        return None if view is None else sorted(view.sent)

    def subscriptions(self) -> Iterator[tuple[Hashable, Interest, str]]:
        """Return id, interest and subscriber of each local subscription."""
        return iter(self._subscribers)

    def leftovers(self) -> list[str]:
        """Describe the state left in the tables, for tests that expect none."""
        counts = {
            "interests": len(self.interests),
            "entries": self.entry_count(),
            "hops": self._tables.filter.hop_count,
            "publishers": sum(bool(publisher) for publisher in self.trees.local_advertisements),
        }
        if self.strategy.advertisements:
            counts |= {
                "advertisements": self.trees.offer_count(),
                "parents": len(self.trees.parent),
            }
        for name, view in self._tables.views.items():
            counts |= {
                f"entries of {name}": len(self._tables.entries[name]),
                f"interests sent to {name}": len(view),
                f"interests for {name}": view.placed_count(),
                f"unconfirmed facts of {name}": self.recovery.unconfirmed_count(name),
            }
        return [f"{count} {kind}" for kind, count in counts.items() if count]
