"""Router: the tables of one broker together. An input comes in, what has to be told and delivered goes out; no I/O, no clock.

    Advertise, Unadvertise      -> trees -> what neighbours are told of origins; what they are told of interests may change with it
    Subscribe, Unsubscribe      -> who wants what -> what other neighbours are told; entries of the filter
    Publish                     -> filter -> the neighbours with a matching entry that get the origin's documents from here; our own subscribers

The links are in order and lose nothing while both sides live (`link` sees to that). Every message adds or removes one fact (`tables`); what happens when
somebody has lost his is for `recovery`.

What somebody gets, and when: docs/decisions/0013.
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
    """What a broker has done."""

    decisions: int = 0
    outside: int = 0
    wasted: int = 0  # documents that came and that nobody here or beyond wanted


class Router:
    """The tables of a broker. `refuse_outside`: documents that their publisher has not advertised are not accepted."""

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
        self._widening: set[str] = set()  # publishers whose advertisement grows with what they send

    def start(self) -> list[RouterOutput]:
        """What has to be told before anything has happened."""
        if self.strategy.advertisements:
            return []
        return self._tables.propagate_origin(self.trees.announce("", ANYTHING))

    # inputs

    def request(self, request: Request) -> list[RouterOutput]:
        """Something that a client of ours asks for; raises KeyError, RoutingError."""
        match request:
            case Register() | Cancel():
                return self._tables.propagate_interests(self._subscribed(request))
            case RequestBatch(requests=requests):
                return self._tables.propagate_interests(self._subscribed_all(requests))
            case Announce(publisher=publisher, advertisement=advertisement, widens=widens):
                if not publisher:
                    raise RoutingError("publisher", "a publisher has a name")
                (self._widening.add if widens else self._widening.discard)(publisher)
                return self._tables.propagate_origin(self.trees.announce(publisher, advertisement))
            case Retract(publisher=publisher):
                self._widening.discard(publisher)
                told = self._tables.propagate_origin(self.trees.retract(publisher))
                return told + self.recovery.completions()

    def _subscribed(self, request: Register | Cancel) -> list[Interest]:
        """The interest that somebody here has now, and nobody had, or the other way round."""
        match request:
            case Register():
                interest = self._subscribers.add(request)
                return [interest] if self.interests.add_local(interest) else []
            case Cancel(id=id):
                interest = self._subscribers.remove(id)
                return [interest] if self.interests.remove_local(interest) else []

    def _subscribed_all(self, requests: Iterable[Register | Cancel]) -> list[Interest]:
        """All of them, or, if one is refused, none."""
        changed: dict[Interest, None] = {}
        undo: list[Register | Cancel] = []
        try:
            for one in requests:
                back = self._subscribers.inverse(one)
                changed.update(dict.fromkeys(self._subscribed(one)))
                undo.append(back)
        except (KeyError, PathcastError):
            for one in reversed(undo):
                self._subscribed(one)
            raise
        return list(changed)

    def on_message(self, neighbour: str, message: Message) -> list[RouterOutput]:
        """Word of a neighbour; documents go to `decide`."""
        tables, recovery = self._tables, self.recovery
        match message:
            case Subscribe(interest=interest, except_origins=except_origins):
                recovery.on_subscribe(neighbour, interest, except_origins)
                news = tables.add(neighbour, interest, except_origins)
                return tables.propagate_interests([interest]) if news else []
            case Unsubscribe(interest=interest, except_origins=except_origins):
                believed = recovery.on_unsubscribe(neighbour, interest, except_origins)
                news = believed and tables.remove(neighbour, interest, except_origins)
                return tables.propagate_interests([interest]) if news else []
            case Advertise(origin=origin, publisher=publisher):
                recovery.on_offer_change(neighbour, origin, publisher)
                told = tables.propagate_origin(self.trees.on_advertise(neighbour, message))
                return told + recovery.completions()
            case Unadvertise(origin=origin, publisher=publisher):
                recovery.on_offer_change(neighbour, origin, publisher)
                told = tables.propagate_origin(self.trees.on_unadvertise(neighbour, message))
                return told + recovery.completions()
            case Recall():
                return recovery.on_recall(neighbour, message)
            case Complete():
                return recovery.on_complete(neighbour, message)
            case Publish():
                raise TypeError("documents are decided, not heard")

    # documents

    def admit(self, document: Publication) -> tuple[Publication | Refuse, list[RouterOutput]]:
        """What becomes of a document of one of our publishers, and what others are told because of it; raises DocumentError."""
        publisher = document.publisher
        one = self.trees.local_advertisements.get(publisher)
        by_advertisement = self.strategy.advertisements
        if one.allows(document.body) if one is not None else not by_advertisement:
            return document, []
        self.counters.outside += 1
        if self._refuse_outside:
            said = "anything" if one is None else "such a document"
            return Refuse(document, f"{publisher} has not advertised {said}"), []
        told: list[RouterOutput] = []
        if one is not None and publisher in self._widening:
            told = self._tables.propagate_origin(
                self.trees.announce(publisher, widen(one, document.body))
            )
        return replace(document, outside=by_advertisement), told

    def decide(self, document: Publication, came_from: str = LOCAL) -> Decision:
        """Where a document goes; raises DocumentError."""
        self.counters.decisions += 1
        neighbours = (self._matching(document) | self.flood_targets(document)) - {came_from}
        undecided = self.recovery.undecided_hops(document.origin, came_from, neighbours)
        if not len(self._tables.filter) and (LOCAL in undecided or not len(self._subscribers)):
            parse_tree(document.body)  # nobody else has looked at it, and it may be kept for long
        deliveries = () if LOCAL in undecided else tuple(self._subscribers.deliveries(document))
        if not neighbours and not deliveries and not undecided and came_from != LOCAL:
            self.counters.wasted += 1
        return Decision(tuple(sorted(neighbours)), deliveries, tuple(undecided))

    def decide_for(self, document: Publication, whom: str) -> Decision:
        """What a document that was undecided for somebody means to it now."""
        if whom == LOCAL:
            return Decision((), tuple(self._subscribers.deliveries(document)))
        wants = self.recovery.must_flood_to(document, whom) or whom in self._matching(document)
        return Decision((whom,) if wants else (), ())

    def can_decide(self, document: Publication, whom: str) -> bool:
        """Whether a document that was undecided for somebody can be decided."""
        recovery = self.recovery
        return recovery.knows(whom, document.origin) or recovery.must_flood_to(document, whom)

    def flood_targets(self, document: Publication) -> set[str]:
        """The neighbours that get a document without having asked for it."""
        if document.outside:
            origin = document.origin
            return {one for one in self.neighbours if self.trees.is_child(one, origin)}
        return {
            one
            for one in self.recovery.initially_unknown
            if self.recovery.must_flood_to(document, one)
        }

    def _matching(self, document: Publication) -> set[str]:
        origin = document.origin
        wanted = self._tables.filter.matching_neighbours(document.body, origin)
        return {one for one in wanted if self.trees.is_child(one, origin)}

    # what is there, for `inspect`; nothing is changed by looking

    def entry_count(self) -> int:
        """How many entries the tables hold, our own subscribers' included."""
        return len(self._tables.filter) + len(self._subscribers)

    def uncovered_count(self) -> int:
        """How many of them an engine that tests each has to test: with covering, of our own those that no other covers."""
        return len(self._tables.filter) + self._subscribers.uncovered_count()

    def has_entry(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Whether there is such an entry of a neighbour's."""
        return (interest, except_origins) in self._tables.entries[neighbour]

    def entries_of(self, neighbour: str) -> Iterator[tuple[Interest, Origins]]:
        """What a neighbour wants, in the order in which it said so."""
        return iter(self._tables.entries[neighbour])

    def view(self, neighbour: str) -> NeighbourView:
        """What a neighbour is told."""
        return self._tables.views[neighbour]

    def sent_interests(self, neighbour: str) -> list[Interest] | None:
        """The interests that a neighbour has been told, each once; None for one that is no neighbour."""
        outgoing = self._tables.views.get(neighbour)
        return None if outgoing is None else sorted(outgoing.sent)

    def subscriptions(self) -> Iterator[tuple[Hashable, Interest, str]]:
        """Our own: id, interest and subscriber."""
        return iter(self._subscribers)

    def leftovers(self) -> list[str]:
        """What is left in the tables, for those who expect nothing there."""
        left = {
            "interests": len(self.interests),
            "entries": self.entry_count(),
            "hops": self._tables.filter.hop_count,
            "publishers": sum(bool(publisher) for publisher in self.trees.local_advertisements),
        }
        if self.strategy.advertisements:
            left |= {"advertisements": self.trees.offer_count(), "parents": len(self.trees.parent)}
        for name, outgoing in self._tables.views.items():
            left |= {
                f"entries of {name}": len(self._tables.entries[name]),
                f"interests told {name}": len(outgoing),
                f"interests for {name}": outgoing.placed_count(),
                f"hearsay of {name}": self.recovery.unconfirmed_count(name),
            }
        return [f"{many} {what}" for what, many in left.items() if many]
