"""What outlives a broker: the documents it has accepted and not yet handed on, and little besides.

Tables need not be here: neighbours and clients tell them again. A broker that keeps them all the same (`Note`) is quicker to be of use. Parents always
are, because a tree that moved while a broker was away could leave documents behind.

Notes are of use only if they are all of the tables: not after they were lost, until the broker has learnt everything again (`Whole`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pathcast.broker.effects import Effect, Forget, Keep, Note, Remember, Whole
from pathcast.routing.messages import Advertise, Message, Subscribe, Unadvertise, Unsubscribe
from pathcast.routing.requests import Announce, Cancel, Register, Request, Retract

__all__ = ["Saved"]


@dataclass(slots=True)
class Saved:
    """A driver's disk in memory; drivers with a real one keep the same facts."""

    lives: int = 0
    documents: dict[str, Keep] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    facts: dict[tuple[object, ...], Note] = field(default_factory=dict)
    memory: int = 100_000  # ids of documents that are remembered
    whole: bool = True  # whether the facts are all that the broker knew

    def begin(self) -> int:
        """The session of the next life."""
        self.lives += 1
        return self.lives

    def lose_tables(self) -> None:
        """The facts are gone; documents, and by whom they come, are not."""
        self.facts.clear()
        self.whole = False

    def perform(self, effect: Effect) -> bool:
        """Do what an effect asks for, if it concerns the disk; whether it does."""
        match effect:
            case Keep(document=document):
                self.documents[document.id] = effect
                self.seen[document.id] = None
                self.trim()
            case Forget(id=id):
                self.documents.pop(id, None)
            case Remember(origin=origin, neighbour=None):
                self.parents.pop(origin, None)
            case Remember(origin=origin, neighbour=str(neighbour)):
                self.parents[origin] = neighbour
            case Note(source=source, fact=fact):
                self._note(source, fact, effect)
            case Whole():
                self.whole = True
            case _:
                return False
        return True

    def _note(self, source: str, fact: Message | Request, note: Note) -> None:
        match fact:
            case Subscribe(interest=interest, except_origins=except_origins):
                self.facts[source, interest, except_origins] = note
            case Unsubscribe(interest=interest, except_origins=except_origins):
                self.facts.pop((source, interest, except_origins), None)
            case Advertise(origin=origin, publisher=publisher):
                self.facts[source, origin, publisher] = note
            case Unadvertise(origin=origin, publisher=publisher):
                self.facts.pop((source, origin, publisher), None)
            case Register(id=id):
                self.facts[source, "subscription", id] = note
            case Cancel(id=id):
                self.facts.pop((source, "subscription", id), None)
            case Announce(publisher=publisher):
                self.facts[source, "publisher", publisher] = note
            case Retract(publisher=publisher):
                self.facts.pop((source, "publisher", publisher), None)

    def trim(self) -> None:
        for id in oldest(self.seen, len(self.seen) - self.memory):
            if id not in self.documents:
                del self.seen[id]


def oldest(ids: Iterable[str], many: int) -> list[str]:
    """The first so many, which came first."""
    return [id for id, _ in zip(ids, range(max(many, 0)), strict=False)]
