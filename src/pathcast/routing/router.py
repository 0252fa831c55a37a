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
from pathcast.routing.advertisement import ANYTHING, widened
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
from pathcast.routing.outputs import Decision, Effect, Refuse
from pathcast.routing.recovery import Recovery
from pathcast.routing.requests import Announce, Cancel, Register, Request, Retract, Several
from pathcast.routing.strategy import Strategy
from pathcast.routing.subscribers import Subscribers
from pathcast.routing.tables import Tables

__all__ = ["Counters", "Router"]


@dataclass(slots=True)
class Counters:
    """What a broker has done."""

    decisions: int = 0
    outside: int = 0
    vain: int = 0  # documents that came and that nobody here or beyond wanted


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
        self.wanted = self._tables.wanted
        self.recovery = Recovery(self._tables, recovering)
        self._subscribers = Subscribers(backend)
        self._refuse_outside = refuse_outside
        self._widening: set[str] = set()  # publishers whose advertisement grows with what they send

    def start(self) -> list[Effect]:
        """What has to be told before anything has happened."""
        if self.strategy.advertisements:
            return []
        return self._tables.retold(self.trees.announce("", ANYTHING))

    # inputs

    def request(self, request: Request) -> list[Effect]:
        """Something that a client of ours asks for; raises KeyError, RoutingError."""
        match request:
            case Register() | Cancel():
                return self._tables.replaced(self._subscribed(request))
            case Several(requests=requests):
                return self._tables.replaced(self._subscribed_all(requests))
            case Announce(publisher=publisher, advertisement=advertisement, widens=widens):
                if not publisher:
                    raise RoutingError("publisher", "a publisher has a name")
                (self._widening.add if widens else self._widening.discard)(publisher)
                return self._tables.retold(self.trees.announce(publisher, advertisement))
            case Retract(publisher=publisher):
                self._widening.discard(publisher)
                told = self._tables.retold(self.trees.retract(publisher))
                return told + self.recovery.completions()

    def _subscribed(self, request: Register | Cancel) -> list[Interest]:
        """The interest that somebody here has now, and nobody had, or the other way round."""
        match request:
            case Register():
                interest = self._subscribers.add(request)
                return [interest] if self.wanted.add_here(interest) else []
            case Cancel(id=id):
                interest = self._subscribers.remove(id)
                return [interest] if self.wanted.remove_here(interest) else []

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

    def hear(self, neighbour: str, message: Message) -> list[Effect]:
        """Word of a neighbour; documents go to `decide`."""
        tables, recovery = self._tables, self.recovery
        match message:
            case Subscribe(interest=interest, without=without):
                recovery.wants(neighbour, interest, without)
                news = tables.add(neighbour, interest, without)
                return tables.replaced([interest]) if news else []
            case Unsubscribe(interest=interest, without=without):
                believed = recovery.unwanted(neighbour, interest, without)
                news = believed and tables.drop(neighbour, interest, without)
                return tables.replaced([interest]) if news else []
            case Advertise(origin=origin, publisher=publisher):
                recovery.offers(neighbour, origin, publisher)
                told = tables.retold(self.trees.hear(neighbour, message))
                return told + recovery.completions()
            case Unadvertise(origin=origin, publisher=publisher):
                recovery.offers(neighbour, origin, publisher)
                told = tables.retold(self.trees.unhear(neighbour, message))
                return told + recovery.completions()
            case Recall():
                return recovery.asked(neighbour, message)
            case Complete():
                return recovery.told(neighbour, message)
            case Publish():
                raise TypeError("documents are decided, not heard")

    # documents

    def admit(self, document: Publication) -> tuple[Publication | Refuse, list[Effect]]:
        """What becomes of a document of one of our publishers, and what others are told because of it; raises DocumentError."""
        publisher = document.publisher
        one = self.trees.own.get(publisher)
        by_advertisement = self.strategy.advertisements
        if one.allows(document.body) if one is not None else not by_advertisement:
            return document, []
        self.counters.outside += 1
        if self._refuse_outside:
            said = "anything" if one is None else "such a document"
            return Refuse(document, f"{publisher} has not advertised {said}"), []
        told: list[Effect] = []
        if one is not None and publisher in self._widening:
            told = self._tables.retold(self.trees.announce(publisher, widened(one, document.body)))
        return replace(document, outside=by_advertisement), told

    def decide(self, document: Publication, came_from: str = LOCAL) -> Decision:
        """Where a document goes; raises DocumentError."""
        self.counters.decisions += 1
        neighbours = (self._matching(document) | self.unasked(document)) - {came_from}
        undecided = self.recovery.undecided(document.origin, came_from, neighbours)
        if not len(self._tables.filter) and (LOCAL in undecided or not len(self._subscribers)):
            parse_tree(document.body)  # nobody else has looked at it, and it may be kept for long
        deliveries = () if LOCAL in undecided else tuple(self._subscribers.deliveries(document))
        if not neighbours and not deliveries and not undecided and came_from != LOCAL:
            self.counters.vain += 1
        return Decision(tuple(sorted(neighbours)), deliveries, tuple(undecided))

    def decide_for(self, document: Publication, whom: str) -> Decision:
        """What a document that was undecided for somebody means to it now."""
        if whom == LOCAL:
            return Decision((), tuple(self._subscribers.deliveries(document)))
        wants = self.recovery.unasked(document, whom) or whom in self._matching(document)
        return Decision((whom,) if wants else (), ())

    def decides(self, document: Publication, whom: str) -> bool:
        """Whether a document that was undecided for somebody can be decided."""
        recovery = self.recovery
        return recovery.knows(whom, document.origin) or recovery.unasked(document, whom)

    def unasked(self, document: Publication) -> set[str]:
        """The neighbours that get a document without having asked for it."""
        if document.outside:
            origin = document.origin
            return {one for one in self.neighbours if self.trees.takes(one, origin)}
        return {one for one in self.recovery.lost if self.recovery.unasked(document, one)}

    def _matching(self, document: Publication) -> set[str]:
        origin = document.origin
        wanted = self._tables.filter.wanted_by(document.body, origin)
        return {one for one in wanted if self.trees.takes(one, origin)}

    # what is there, for `inspect`; nothing is changed by looking

    def entries(self) -> int:
        """How many entries the tables hold, our own subscribers' included."""
        return len(self._tables.filter) + len(self._subscribers)

    def uncovered(self) -> int:
        """How many of them an engine that tests each has to test: with covering, of our own those that no other covers."""
        return len(self._tables.filter) + self._subscribers.uncovered()

    def holds(self, neighbour: str, interest: Interest, without: Origins) -> bool:
        """Whether there is such an entry of a neighbour's."""
        return (interest, without) in self._tables.entries[neighbour]

    def entries_of(self, neighbour: str) -> Iterator[tuple[Interest, Origins]]:
        """What a neighbour wants, in the order in which it said so."""
        return iter(self._tables.entries[neighbour])

    def outgoing(self, neighbour: str) -> NeighbourView:
        """What a neighbour is told."""
        return self._tables.outgoing[neighbour]

    def told(self, neighbour: str) -> list[Interest] | None:
        """The interests that a neighbour has been told, each once; None for one that is no neighbour."""
        outgoing = self._tables.outgoing.get(neighbour)
        return None if outgoing is None else sorted(outgoing.told)

    def subscriptions(self) -> Iterator[tuple[Hashable, Interest, str]]:
        """Our own: id, interest and subscriber."""
        return iter(self._subscribers)

    def leftovers(self) -> list[str]:
        """What is left in the tables, for those who expect nothing there."""
        left = {
            "interests": len(self.wanted),
            "entries": self.entries(),
            "hops": self._tables.filter.hops,
            "publishers": sum(bool(publisher) for publisher in self.trees.own),
        }
        if self.strategy.advertisements:
            left |= {"advertisements": self.trees.size(), "parents": len(self.trees.parent)}
        for name, outgoing in self._tables.outgoing.items():
            left |= {
                f"entries of {name}": len(self._tables.entries[name]),
                f"interests told {name}": len(outgoing),
                f"interests for {name}": outgoing.held(),
                f"hearsay of {name}": self.recovery.held(name),
            }
        return [f"{many} {what}" for what, many in left.items() if many]
