"""Router: the tables of one broker together. An input comes in, what has to be told and delivered goes out; no I/O, no clock.

    Advertise, Unadvertise      -> trees -> what neighbours are told of origins; what they are told of interests may change with it
    Subscribe, Unsubscribe      -> who wants what -> what other neighbours are told; entries of the filter
    Publish                     -> filter -> the neighbours with a matching entry that get the origin's documents from here; our own subscribers

The links are in order and lose nothing while both sides live (`link` sees to that). Every message adds or removes one fact, and what a neighbour is told
is a function of what this broker knows, so there is no state that could be out of step but for what is on its way.

**Restarts.** A neighbour that has lost its tables is told everything again (`met`). What it said before stays in force until it is said again or taken back: of an
origin that it led to it is asked (`Recall`), and answers when it knows, by the parent that it had for the origin in its earlier life, up to the origin itself; when all
its children in an origin's tree have told it what they want, it says so to its parent (`Complete`), and what it has not said again by then is dropped. Both
run along one tree at a time, offers down and interests up, so nobody waits for somebody who waits for him. But for one case: parents as they were when brokers
died may lead in a circle, if the tree was just being given up. So a broker that waits passes on who waits for it (`Recall.waiting`), and one that finds itself
among them waits no longer. A broker that has lost its tables keeps documents back for neighbours of whom it does not know yet what they want.

What somebody gets, and when: docs/decisions/0013.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pathcast.errors import RoutingError
from pathcast.routing.advertisement import ANYTHING, widened
from pathcast.routing.decisions import Decision, Drop, Effect, Refuse, Tell
from pathcast.routing.entries import Entries
from pathcast.routing.interests import HERE, Outgoing, Wanted
from pathcast.routing.kit import Kit
from pathcast.routing.messages import (
    Advertise,
    Complete,
    Document,
    Facts,
    Interest,
    Message,
    Origins,
    Publish,
    Recall,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from pathcast.routing.requests import Announce, Cancel, Register, Request, Retract, Several
from pathcast.routing.strategy import Strategy
from pathcast.routing.subscribers import Subscribers
from pathcast.routing.trees import Trees

__all__ = ["Counters", "Router"]


Waiting: TypeAlias = tuple[str, ...]
Entry: TypeAlias = tuple[Interest, Origins]


@dataclass(slots=True)
class Counters:
    """What a broker has done."""

    decisions: int = 0
    outside: int = 0
    vain: int = 0  # documents that came and that nobody here or beyond wanted


@dataclass(slots=True)
class _Neighbour:
    """What is known of one neighbour."""

    outgoing: Outgoing
    entries: dict[Entry, None] = field(default_factory=dict)
    before: set[Entry] = field(default_factory=set)  # what it wanted in an earlier life, until sure
    stale: set[Entry] = field(default_factory=set)  # of these, what it does not say in this one
    stale_offers: set[tuple[str, str]] = field(default_factory=set)
    known: bool = True  # whether what it wants is known, be it from before it restarted
    sure: bool = True  # whether it has said all that it wants, since we met
    sure_of: set[str] = field(default_factory=set)  # if not, of which origins it has
    told_all: bool = True  # whether it knows that it has been told all
    told_of: set[str] = field(default_factory=set)  # if not, of which origins it does
    asks: dict[str, set[Waiting]] = field(
        default_factory=dict
    )  # origins that it wants to be told of


class Router:
    """The tables of a broker. `refuse_outside`: documents that their publisher has not advertised are not accepted."""

    def __init__(
        self,
        name: str,
        neighbours: Iterable[str],
        strategy: Strategy,
        kit: Kit,
        *,
        refuse_outside: bool = False,
        recovering: bool = False,
    ) -> None:
        names = tuple(neighbours)
        if HERE in names or name in names or len(set(names)) < len(names):
            raise RoutingError("topology", f"{name} has odd neighbours: {', '.join(names)}")
        self.name = name
        self.strategy = strategy
        self.counters = Counters()
        self.trees = Trees(name, names)
        self.wanted = Wanted()
        self._kit = kit
        self._refuse_outside = refuse_outside
        self._neighbours = {
            one: _Neighbour(Outgoing(one, self.trees, kit, strategy.advertisements))
            for one in names
        }
        self._entries = Entries(kit.filter())
        self._subscribers = Subscribers(kit)
        self._widening: set[str] = set()  # publishers whose advertisement grows with what they send
        self._clients_known = not recovering
        self._lost = (
            (HERE, *names) if recovering else ()
        )  # those whose wants we do not know, at first
        if recovering:
            for one in self._neighbours.values():
                one.known = one.sure = one.told_all = False

    def start(self) -> list[Effect]:
        """What has to be told before anything has happened."""
        if self.strategy.advertisements:
            return []
        return self._retold(self.trees.announce("", ANYTHING))

    # inputs

    def request(self, request: Request) -> list[Effect]:
        """Something that a client of ours asks for; raises KeyError, RoutingError."""
        match request:
            case Register() | Cancel():
                return self._replaced(self._subscribed(request))
            case Several(requests=requests):
                changed = [interest for one in requests for interest in self._subscribed(one)]
                return self._replaced(list(dict.fromkeys(changed)))
            case Announce(publisher=publisher, advertisement=advertisement, widens=widens):
                if not publisher:
                    raise RoutingError("publisher", "a publisher has a name")
                (self._widening.add if widens else self._widening.discard)(publisher)
                return self._retold(self.trees.announce(publisher, advertisement))
            case Retract(publisher=publisher):
                self._widening.discard(publisher)
                return self._retold(self.trees.retract(publisher))

    def _subscribed(self, request: Register | Cancel) -> list[Interest]:
        """The interest that somebody here has now, and nobody had, or the other way round."""
        match request:
            case Register():
                interest = self._subscribers.add(request)
                return [interest] if self.wanted.add_here(interest) else []
            case Cancel(id=id):
                interest = self._subscribers.remove(id)
                return [interest] if self.wanted.remove_here(interest) else []

    def hear(self, neighbour: str, message: Message) -> list[Effect]:
        """Word of a neighbour; documents go to `decide`."""
        known = self._neighbours[neighbour]
        match message:
            case Subscribe(interest=interest, without=without):
                known.stale.discard((interest, without))
                if not self.wanted.add(neighbour, interest, without):
                    return []
                known.entries[interest, without] = None
                self._entries.add(neighbour, interest, without)
                return self._replaced([interest])
            case Unsubscribe(interest=interest, without=without):
                if (interest, without) in known.before:
                    # It wants it for those it knows of no more; there may be others that it does not know of yet.
                    known.stale.add((interest, without))
                    return []
                return self._replaced(
                    [interest] if self._drop(neighbour, interest, without) else []
                )
            case Advertise(origin=origin, publisher=publisher):
                known.stale_offers.discard((origin, publisher))
                return self._retold(self.trees.hear(neighbour, message)) + self._completions()
            case Unadvertise(origin=origin, publisher=publisher):
                known.stale_offers.discard((origin, publisher))
                return self._retold(self.trees.unhear(neighbour, message))
            case Recall(origins=origins, waiting=waiting):
                effects: list[Effect] = []
                for origin in origins:
                    known.asks.setdefault(origin, set()).add(waiting)
                    effects += self._chase(origin, waiting)
                return effects + self._completions()
            case Complete(facts=Facts.OFFERS, origin=str(origin)):
                return self._offered(neighbour, origin)
            case Complete(origin=origin):
                return self._wants_told(neighbour, origin)
            case Publish():
                raise TypeError("documents are decided, not heard")

    # restarts

    def met(self, neighbour: str, fresh: bool) -> list[Effect]:
        """A neighbour knows nothing of what it was told: tell it all again, and keep what it said as hearsay.

        `fresh`: neither of us has lived before, so there is nothing to remember.
        """
        known = self._neighbours[neighbour]
        known.before = set(known.entries)
        known.stale = set(known.before)
        known.stale_offers = set(self.trees.heard(neighbour))
        favourites = [origin for origin, by in self.trees.favourites.items() if by == neighbour]
        recalled = {one for one, _ in known.stale_offers}.difference(favourites)
        known.sure = known.told_all = fresh and not (known.stale or recalled or favourites)
        known.sure_of, known.told_of, known.asks = set(), set(), {}
        self.trees.forget_said(neighbour)
        told: list[Effect] = []
        for origin in list(self.trees.parent):
            told += [Tell(neighbour, one) for one in self.trees.news(neighbour, origin)]
        told += [Tell(neighbour, one) for one in known.outgoing.again()]
        if favourites:
            told.append(Tell(neighbour, Recall(tuple(sorted(favourites)), (self.name,))))
        if recalled:
            told.append(Tell(neighbour, Recall(tuple(sorted(recalled)))))
        for origin in favourites:
            for other in self._neighbours.values():
                for waiting in sorted(other.asks.get(origin, ())):
                    told += self._chase(origin, waiting)
        return told + self._completions()

    def _chase(self, origin: str, waiting: Waiting) -> list[Effect]:
        """Somebody waits for what we say of an origin; if we wait ourselves, tell whom we wait for, unless that is us in the end."""
        favourite = self.trees.favourites.get(origin)
        if favourite is None or not waiting:
            return []
        if self.name in waiting:
            return self._unfavoured(origin)
        return [Tell(favourite, Recall((origin,), (*waiting, self.name)))]

    def _unfavoured(self, origin: str) -> list[Effect]:
        """The parent of an earlier life need not be waited for any longer."""
        del self.trees.favourites[origin]
        self.trees.moved[origin] = None
        return self._retold(origin)

    def clients_known(self) -> list[Effect]:
        """All our clients have said what they want, after a restart."""
        self._clients_known = True
        return self._completions()

    @property
    def recovered(self) -> bool:
        """Whether everything is known that was lost, if anything was."""
        known = all(one.known for one in self._neighbours.values())
        return known and self._clients_known and not self.trees.favourites

    def knows(self, whom: str, origin: str) -> bool:
        """Whether it is known which documents of an origin somebody wants: a neighbour, or `HERE`, our own clients."""
        if whom == HERE:
            return self._clients_known
        return self._told_by(whom, origin) or self._gone(origin)

    def _told_by(self, neighbour: str, origin: str) -> bool:
        """Whether a neighbour has told, now or before it restarted, what it wants of an origin."""
        one = self._neighbours[neighbour]
        return one.known or origin in one.sure_of or self.trees.offers(neighbour, origin)

    def _gone(self, origin: str) -> bool:
        """Whether nothing comes from an origin any more, as far as we know."""
        return self._resolved(origin) and origin not in self.trees.parent

    def _offered(self, neighbour: str, origin: str) -> list[Effect]:
        """A neighbour has said all that it has of an origin."""
        known = self._neighbours[neighbour]
        effects: list[Effect] = []
        for stale in sorted(known.stale_offers):
            if stale[0] == origin:
                known.stale_offers.discard(stale)
                gone = Unadvertise(*stale)
                effects.append(Drop(neighbour, gone))
                effects += self._retold(self.trees.unhear(neighbour, gone))
        if self.trees.favourites.get(origin) == neighbour:
            effects += self._unfavoured(origin)
        return effects + self._completions()

    def _wants_told(self, neighbour: str, origin: str | None) -> list[Effect]:
        """A neighbour has said all that it wants of an origin, or of all."""
        known = self._neighbours[neighbour]
        if origin is None:
            known.sure = known.known = True
        else:
            known.sure_of.add(origin)
        return self._completions()

    def _forget_stale(self, neighbour: str) -> list[Effect]:
        """What a neighbour wanted once, if all that it wants now is known."""
        known = self._neighbours[neighbour]
        if not known.before or not (known.sure or self._sure_of_all(neighbour)):
            return []
        gone = sorted(known.stale, key=_entry_order)
        known.before, known.stale = set(), set()
        effects: list[Effect] = []
        for interest, without in gone:
            self._drop(neighbour, interest, without)
            effects.append(Drop(neighbour, Unsubscribe(interest, without)))
        return effects + self._replaced([interest for interest, _ in gone])

    def _sure_of_all(self, neighbour: str) -> bool:
        """Whether a neighbour has said what it wants of every origin that it gets from here."""
        if self.trees.favourites or not self._clients_known:
            return False  # there may be more origins than we know
        sure = self._neighbours[neighbour].sure_of
        return all(one in sure or not self.trees.takes(neighbour, one) for one in self.trees.parent)

    def _completions(self) -> list[Effect]:
        """Tell each neighbour of what it has been told all by now."""
        found: list[Effect] = []
        for name in self._neighbours:
            found += self._forget_stale(name)
        pending = self.trees.favourites
        for name, one in self._neighbours.items():
            for origin in [asked for asked in one.asks if self._resolved(asked)]:
                del one.asks[origin]
                found.append(Tell(name, Complete(Facts.OFFERS, origin)))
            if one.told_all or not self._clients_known:
                continue
            others = [(other, its) for other, its in self._neighbours.items() if other != name]
            if not pending and all(its.known for _, its in others):
                one.told_all = True
                found.append(Tell(name, Complete(Facts.INTERESTS, None)))
                continue
            for origin in self.trees.origins_by(name):
                if origin not in one.told_of and origin not in pending:
                    if all(self.knows(other, origin) for other, _ in others):
                        one.told_of.add(origin)
                        found.append(Tell(name, Complete(Facts.INTERESTS, origin)))
        return found

    def _resolved(self, origin: str) -> bool:
        """Whether it is known what comes from an origin."""
        return self._clients_known if origin == self.name else origin not in self.trees.favourites

    # documents

    def admit(self, document: Document) -> tuple[Document | Refuse, list[Effect]]:
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
            told = self._retold(self.trees.announce(publisher, widened(one, document.body)))
        return replace(document, outside=by_advertisement), told

    def decide(self, document: Document, came_from: str = HERE) -> Decision:
        """Where a document goes; raises DocumentError."""
        self.counters.decisions += 1
        neighbours = (self._matching(document) | self.unasked(document)) - {came_from}
        undecided = self.undecided(document.origin, came_from, neighbours) if self._lost else []
        deliveries = () if HERE in undecided else tuple(self._subscribers.deliveries(document))
        if not neighbours and not deliveries and not undecided and came_from != HERE:
            self.counters.vain += 1
        return Decision(tuple(sorted(neighbours)), deliveries, tuple(undecided))

    def undecided(self, origin: str, came_from: str, taken: Container[str]) -> list[str]:
        """Those of whom it is not known whether they want a document, and who do not get it anyway."""
        return [
            one
            for one in self._lost
            if one not in taken
            and (one == HERE or one != came_from)  # what a client of ours sends is for others too
            and not self.knows(one, origin)
        ]

    def decide_for(self, document: Document, whom: str) -> Decision:
        """What a document that was undecided for somebody means to it now."""
        if whom == HERE:
            return Decision((), tuple(self._subscribers.deliveries(document)))
        wants = self._unasked(document, whom) or whom in self._matching(document)
        return Decision((whom,) if wants else (), ())

    def decides(self, document: Document, whom: str) -> bool:
        """Whether a document that was undecided for somebody can be decided."""
        return self.knows(whom, document.origin) or self._unasked(document, whom)

    def unasked(self, document: Document) -> set[str]:
        """The neighbours that get a document without having asked for it."""
        if document.outside:
            origin = document.origin
            return {one for one in self._neighbours if self.trees.takes(one, origin)}
        return {one for one in self._lost if one != HERE and self._unasked(document, one)}

    def _unasked(self, document: Document, whom: str) -> bool:
        """Whether a neighbour gets a document without having asked for it: nobody will ever tell whether it wants it.

        The document was accepted before its publisher retracted, or changed its advertisement to one that does not allow it. What
        neighbours say they want from now on says nothing about such a document, and what they had said is lost.
        """
        origin = document.origin
        if whom == HERE or self._told_by(whom, origin):
            return False
        if origin not in self.trees.parent:
            return self._gone(origin)
        return not any(one.allows(document.body) for one in self.trees.advertised(origin))

    def _matching(self, document: Document) -> set[str]:
        origin = document.origin
        wanted = self._entries.wanted_by(document.body, origin)
        return {one for one in wanted if self.trees.takes(one, origin)}

    def holds(self, neighbour: str, interest: Interest, without: Origins) -> bool:
        """Whether there is such an entry of a neighbour's."""
        return (interest, without) in self._neighbours[neighbour].entries

    def entries(self) -> int:
        """How many entries the tables hold, our own subscribers' included."""
        return len(self._entries) + len(self._subscribers)

    def uncovered(self) -> int:
        """How many of them an engine that tests each has to test: with covering, of our own those that no other covers."""
        return len(self._entries) + self._subscribers.uncovered()

    # what is there, for `inspect`; nothing is changed by looking

    @property
    def neighbours(self) -> tuple[str, ...]:
        return tuple(self._neighbours)

    def outgoing(self, neighbour: str) -> Outgoing:
        """What a neighbour is told."""
        return self._neighbours[neighbour].outgoing

    def entries_of(self, neighbour: str) -> Iterator[tuple[Interest, Origins]]:
        """What a neighbour wants, in the order in which it said so."""
        return iter(self._neighbours[neighbour].entries)

    def hearsay(self, neighbour: str, interest: Interest, without: Origins) -> bool:
        """Whether a neighbour wanted this in an earlier life, and has not said so again."""
        return (interest, without) in self._neighbours[neighbour].stale

    def hearsay_offer(self, neighbour: str, origin: str, publisher: str) -> bool:
        """The same of an advertisement."""
        return (origin, publisher) in self._neighbours[neighbour].stale_offers

    def subscriptions(self) -> Iterator[tuple[Hashable, Interest, str]]:
        """Our own: id, interest and subscriber."""
        return iter(self._subscribers)

    def told(self, neighbour: str) -> list[Interest] | None:
        """The interests that a neighbour has been told, each once; None for one that is no neighbour."""
        known = self._neighbours.get(neighbour)
        return None if known is None else sorted(known.outgoing.told)

    def leftovers(self) -> list[str]:
        """What is left in the tables, for those who expect nothing there."""
        left = {
            "interests": len(self.wanted),
            "entries": self.entries(),
            "hops": self._entries.hops,
            "publishers": sum(bool(publisher) for publisher in self.trees.own),
        }
        if self.strategy.advertisements:
            left |= {"advertisements": self.trees.size(), "parents": len(self.trees.parent)}
        for name, one in self._neighbours.items():
            left |= {
                f"entries of {name}": len(one.entries),
                f"interests told {name}": len(one.outgoing),
                f"interests for {name}": one.outgoing.held(),
                f"hearsay of {name}": len(one.before) + len(one.stale_offers),
            }
        return [f"{many} {what}" for what, many in left.items() if many]

    # what changes with what

    def _drop(self, neighbour: str, interest: Interest, without: Origins) -> bool:
        if not self.wanted.remove(neighbour, interest, without):
            return False
        del self._neighbours[neighbour].entries[interest, without]
        self._entries.remove(neighbour, interest, without)
        return True

    def _replaced(self, interests: Iterable[Interest]) -> list[Effect]:
        """The sources of these interests have changed: tell whom it concerns."""
        effects: list[Effect] = []
        for name, one in self._neighbours.items():
            for interest in interests:
                one.outgoing.place(interest, self.wanted.sources(interest))
            effects += [Tell(name, message) for message in one.outgoing.flush()]
        return effects

    def _retold(self, origin: str) -> list[Effect]:
        """Something about an origin has changed: tell of it, and see what interests it concerns."""
        self.trees.settle(origin)
        effects: list[Effect] = []
        for name in self._neighbours:
            effects += [Tell(name, message) for message in self.trees.news(name, origin)]
        for one in self._neighbours.values():
            one.outgoing.reconsider()
        return effects + self._replaced(list(self.wanted))


def _entry_order(entry: tuple[Interest, Origins]) -> tuple[int, list[str]]:
    return entry[0].number, sorted(entry[1])
