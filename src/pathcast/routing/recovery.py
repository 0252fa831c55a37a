"""Recovery: a neighbour or this broker itself has lost its tables; what is known of whom meanwhile, and who has to be told when it is known again.

A neighbour that has lost its tables is told everything again (`met`). What it said before stays in force until it is said again or taken back: of an
origin that it led to it is asked (`Recall`), and answers when it knows, by the parent that it had for the origin in its earlier life, up to the origin itself; when all
its children in an origin's tree have told it what they want, it says so to its parent (`Complete`), and what it has not said again by then is dropped. Both
run along one tree at a time, offers down and interests up, so nobody waits for somebody who waits for him. But for one case: parents as they were when brokers
died may lead in a circle, if the tree was just being given up. So a broker that waits passes on who waits for it (`Recall.waiting`), and one that finds itself
among them waits no longer. A broker that has lost its tables keeps documents back for neighbours of whom it does not know yet what they want.
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

Waiting: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class _Neighbour:
    """What is known of what one neighbour knows and has said."""

    before: set[InterestEntry] = field(
        default_factory=set
    )  # what it wanted in an earlier life, until sure
    stale: set[InterestEntry] = field(
        default_factory=set
    )  # of these, what it does not say in this one
    stale_offers: set[tuple[str, str]] = field(default_factory=set)
    known: bool = True  # whether what it wants is known, be it from before it restarted
    sure: bool = True  # whether it has said all that it wants, since we met
    sure_of: set[str] = field(default_factory=set)  # if not, of which origins it has
    told_all: bool = True  # whether it knows that it has been told all
    told_of: set[str] = field(default_factory=set)  # if not, of which origins it does
    asks: dict[str, set[Waiting]] = field(
        default_factory=dict
    )  # origins that it wants to be told of


class Recovery:
    """Over the tables of a broker; `lost`: this broker has lived before and lost them."""

    def __init__(self, tables: Tables, lost: bool) -> None:
        self._tables = tables
        self._trees = tables.trees
        self._name = tables.trees.name
        self._clients_known = not lost
        names = tuple(tables.views)
        self.initially_unknown = (
            (LOCAL, *names) if lost else ()
        )  # those whose wants were not known at first
        self._neighbours = {
            one: _Neighbour(known=not lost, sure=not lost, told_all=not lost) for one in names
        }

    # what a neighbour says, besides the facts themselves

    def on_peer_restart(self, neighbour: str, fresh: bool) -> list[RouterOutput]:
        """A neighbour knows nothing of what it was told: tell it all again, and keep what it said as hearsay.

        `fresh`: neither of us has lived before, so there is nothing to remember.
        """
        known = self._neighbours[neighbour]
        known.before = set(self._tables.entries[neighbour])
        known.stale = set(known.before)
        known.stale_offers = set(self._trees.offers_of(neighbour))
        expected_parents = [
            origin for origin, by in self._trees.expected_parents.items() if by == neighbour
        ]
        recalled = {one for one, _ in known.stale_offers}.difference(expected_parents)
        known.sure = known.told_all = fresh and not (known.stale or recalled or expected_parents)
        known.sure_of, known.told_of, known.asks = set(), set(), {}
        told = self._tables.resend_all(neighbour)
        if expected_parents:
            told.append(
                SendMessage(neighbour, Recall(tuple(sorted(expected_parents)), (self._name,)))
            )
        if recalled:
            told.append(SendMessage(neighbour, Recall(tuple(sorted(recalled)))))
        for origin in expected_parents:
            for other in self._neighbours.values():
                for waiting in sorted(other.asks.get(origin, ())):
                    told += self._chase(origin, waiting)
        return told + self.completions()

    def on_subscribe(self, neighbour: str, interest: Interest, except_origins: Origins) -> None:
        """A neighbour has said what it wants, perhaps again."""
        self._neighbours[neighbour].stale.discard((interest, except_origins))

    def on_unsubscribe(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """A neighbour wants something no more; whether that can be believed already.

        What it wanted before it restarted it wants no more for the origins that it knows of; there may be others that it does not know of yet.
        """
        known = self._neighbours[neighbour]
        if (interest, except_origins) in known.before:
            known.stale.add((interest, except_origins))
            return False
        return True

    def on_offer_change(self, neighbour: str, origin: str, publisher: str) -> None:
        """A neighbour has advertised something, or taken it back."""
        self._neighbours[neighbour].stale_offers.discard((origin, publisher))

    def on_recall(self, neighbour: str, recall: Recall) -> list[RouterOutput]:
        """A neighbour wants to be told when some origins are known here."""
        known = self._neighbours[neighbour]
        effects: list[RouterOutput] = []
        for origin in recall.origins:
            known.asks.setdefault(origin, set()).add(recall.waiting)
            effects += self._chase(origin, recall.waiting)
        return effects + self.completions()

    def on_complete(self, neighbour: str, complete: Complete) -> list[RouterOutput]:
        """A neighbour has said all that it has, or wants, of an origin."""
        origin = complete.origin
        if complete.kind is FactKind.OFFERS and origin is not None:
            return self._offered(neighbour, origin) + self.completions()
        known = self._neighbours[neighbour]
        if origin is None:
            known.sure = known.known = True
        else:
            known.sure_of.add(origin)
        return self.completions()

    def on_clients_known(self) -> list[RouterOutput]:
        """All our clients have said what they want, after a restart."""
        self._clients_known = True
        return self.completions()

    # what is known

    @property
    def complete(self) -> bool:
        """Whether everything is known that was lost, if anything was."""
        if self._trees.expected_parents or not self._clients_known:
            return False
        # Round a ring of brokers that have all lost theirs nobody is the first to know all; by origin they come to know it.
        return all(one.known or self._sure_of_all(name) for name, one in self._neighbours.items())

    def knows(self, whom: str, origin: str) -> bool:
        """Whether it is known which documents of an origin somebody wants: a neighbour, or `LOCAL`, our own clients."""
        if whom == LOCAL:
            return self._clients_known
        return self._told_by(whom, origin) or self._gone(origin)

    def undecided_hops(self, origin: str, came_from: str, taken: Container[str]) -> list[str]:
        """Those of whom it is not known whether they want a document, and who do not get it anyway."""
        return [
            one
            for one in self.initially_unknown
            if one not in taken
            and (one == LOCAL or one != came_from)  # what a client of ours sends is for others too
            and not self.knows(one, origin)
        ]

    def must_flood_to(self, document: Publication, whom: str) -> bool:
        """Whether a neighbour gets a document without having asked for it: nobody will ever tell whether it wants it.

        The document was accepted before its publisher retracted, or changed its advertisement to one that does not allow it. What
        neighbours say they want from now on says nothing about such a document, and what they had said is lost.
        """
        origin = document.origin
        if whom == LOCAL or self._told_by(whom, origin):
            return False
        if origin not in self._trees.parent:
            return self._gone(origin)
        return not any(one.allows(document.body) for one in self._trees.advertisements(origin))

    def is_unconfirmed(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Whether a neighbour wanted this in an earlier life, and has not said so again."""
        return (interest, except_origins) in self._neighbours[neighbour].stale

    def is_unconfirmed_offer(self, neighbour: str, origin: str, publisher: str) -> bool:
        """The same of an advertisement."""
        return (origin, publisher) in self._neighbours[neighbour].stale_offers

    def unconfirmed_count(self, neighbour: str) -> int:
        """How much hearsay there is of a neighbour's."""
        known = self._neighbours[neighbour]
        return len(known.before) + len(known.stale_offers)

    def _told_by(self, neighbour: str, origin: str) -> bool:
        """Whether a neighbour has told, now or before it restarted, what it wants of an origin."""
        one = self._neighbours[neighbour]
        return one.known or origin in one.sure_of or self._trees.has_offer(neighbour, origin)

    def _gone(self, origin: str) -> bool:
        """Whether nothing comes from an origin any more, as far as we know."""
        return self._resolved(origin) and origin not in self._trees.parent

    def _resolved(self, origin: str) -> bool:
        """Whether it is known what comes from an origin."""
        return (
            self._clients_known
            if origin == self._name
            else origin not in self._trees.expected_parents
        )

    def _sure_of_all(self, neighbour: str) -> bool:
        """Whether a neighbour has said what it wants of every origin that it gets from here."""
        if self._trees.expected_parents or not self._clients_known:
            return False  # there may be more origins than we know
        sure = self._neighbours[neighbour].sure_of
        return all(
            one in sure or not self._trees.is_child(neighbour, one) for one in self._trees.parent
        )

    # what follows

    def completions(self) -> list[RouterOutput]:
        """Tell each neighbour of what it has been told all by now."""
        found: list[RouterOutput] = []
        for name in self._neighbours:
            found += self._forget_stale(name)
        pending = self._trees.expected_parents
        for name, one in self._neighbours.items():
            for origin in [asked for asked in one.asks if self._resolved(asked)]:
                del one.asks[origin]
                found.append(SendMessage(name, Complete(FactKind.OFFERS, origin)))
            if one.told_all or not self._clients_known:
                continue
            others = [(other, its) for other, its in self._neighbours.items() if other != name]
            if not pending and all(its.known for _, its in others):
                one.told_all = True
                found.append(SendMessage(name, Complete(FactKind.INTERESTS, None)))
                continue
            for origin in self._trees.origins_by(name):
                if origin not in one.told_of and origin not in pending:
                    if all(self.knows(other, origin) for other, _ in others):
                        one.told_of.add(origin)
                        found.append(SendMessage(name, Complete(FactKind.INTERESTS, origin)))
        return found

    def _chase(self, origin: str, waiting: Waiting) -> list[RouterOutput]:
        """Somebody waits for what we say of an origin; if we wait ourselves, tell whom we wait for, unless that is us in the end."""
        favourite = self._trees.expected_parents.get(origin)
        if favourite is None or not waiting:
            return []
        if self._name in waiting:
            return self._unfavoured(origin)
        return [SendMessage(favourite, Recall((origin,), (*waiting, self._name)))]

    def _unfavoured(self, origin: str) -> list[RouterOutput]:
        """The parent of an earlier life need not be waited for any longer."""
        del self._trees.expected_parents[origin]
        self._trees.changed_parents[origin] = None
        return self._tables.propagate_origin(origin)

    def _offered(self, neighbour: str, origin: str) -> list[RouterOutput]:
        """A neighbour has said all that it has of an origin: what it has not said again is gone."""
        known = self._neighbours[neighbour]
        effects: list[RouterOutput] = []
        for stale in sorted(known.stale_offers):
            if stale[0] == origin:
                known.stale_offers.discard(stale)
                gone = Unadvertise(*stale)
                effects.append(DropStale(neighbour, gone))
                effects += self._tables.propagate_origin(
                    self._trees.on_unadvertise(neighbour, gone)
                )
        if self._trees.expected_parents.get(origin) == neighbour:
            effects += self._unfavoured(origin)
        return effects

    def _forget_stale(self, neighbour: str) -> list[RouterOutput]:
        """What a neighbour wanted once, if all that it wants now is known."""
        known = self._neighbours[neighbour]
        if not known.before or not (known.sure or self._sure_of_all(neighbour)):
            return []
        gone = sorted(known.stale, key=_order)
        known.before, known.stale = set(), set()
        effects: list[RouterOutput] = []
        for interest, except_origins in gone:
            self._tables.remove(neighbour, interest, except_origins)
            effects.append(DropStale(neighbour, Unsubscribe(interest, except_origins)))
        return effects + self._tables.propagate_interests([interest for interest, _ in gone])


def _order(entry: InterestEntry) -> tuple[int, list[str]]:
    return entry[0].number, sorted(entry[1])
