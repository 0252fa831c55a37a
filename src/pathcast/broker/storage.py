"""MemoryStorage: the durable state of a broker, kept in memory.

It is the reference for a driver with a disk, which must store the same values. It holds:

- the documents that the broker accepted and that some receiver has not confirmed;
- the ids of recent documents, by which the broker drops duplicates;
- the parent of each origin's tree. A tree that moved while a broker was down would leave documents
  behind, so a restarted broker waits for the parent that it had;
- optionally the tables, as facts (`PersistFact`). Neighbours and clients send them again after a
  restart, so they only shorten the recovery.

Facts are valid only if they are all table entries. After a loss they are not, until the broker has
received every entry again (`TablesRecovered`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pathcast.broker.effects import (
    DropDocument,
    Effect,
    PersistDocument,
    PersistFact,
    PersistParent,
    TablesRecovered,
)
from pathcast.routing.messages import Advertise, Message, Subscribe, Unadvertise, Unsubscribe
from pathcast.routing.requests import Announce, Cancel, Register, Request, Retract

__all__ = ["MemoryStorage", "oldest"]


@dataclass(slots=True)
class MemoryStorage:
    """The values that a broker needs after a restart; `perform` updates them."""

    session: int = 0
    documents: dict[str, PersistDocument] = field(default_factory=dict)
    seen_ids: dict[str, None] = field(default_factory=dict)  # oldest first
    parents: dict[str, str] = field(default_factory=dict)
    facts: dict[tuple[object, ...], PersistFact] = field(default_factory=dict)
    max_seen_ids: int = 100_000
    tables_complete: bool = True  # whether the facts are all entries that the broker had

    def begin_session(self) -> int:
        """Return the session epoch of the next incarnation, larger than all before."""
        self.session += 1
        return self.session

    def lose_tables(self) -> None:
        """Delete the facts; documents, their ids and parents stay."""
        self.facts.clear()
        self.tables_complete = False

    def perform(self, effect: Effect) -> bool:
        """Store what a persistence effect asks for. Return False for an effect of another kind."""
        match effect:
            case PersistDocument(document=document):
                self.documents[document.id] = effect
                self.seen_ids[document.id] = None
                self._trim_seen_ids()
            case DropDocument(id=id):
                self.documents.pop(id, None)
            case PersistParent(origin=origin, neighbour=None):
                self.parents.pop(origin, None)
            case PersistParent(origin=origin, neighbour=str(neighbour)):
                self.parents[origin] = neighbour
            case PersistFact(source=source, fact=fact):
                self._store_fact(source, fact, effect)
            case TablesRecovered():
                self.tables_complete = True
            case _:
                return False
        return True

    def _store_fact(self, source: str, fact: Message | Request, entry: PersistFact) -> None:
        match fact:
            case Subscribe(interest=interest, except_origins=except_origins):
                self.facts[source, interest, except_origins] = entry
            case Unsubscribe(interest=interest, except_origins=except_origins):
                self.facts.pop((source, interest, except_origins), None)
            case Advertise(origin=origin, publisher=publisher):
                self.facts[source, origin, publisher] = entry
            case Unadvertise(origin=origin, publisher=publisher):
                self.facts.pop((source, origin, publisher), None)
            case Register(id=id):
                self.facts[source, "subscription", id] = entry
            case Cancel(id=id):
                self.facts.pop((source, "subscription", id), None)
            case Announce(publisher=publisher):
                self.facts[source, "publisher", publisher] = entry
            case Retract(publisher=publisher):
                self.facts.pop((source, "publisher", publisher), None)

    def _trim_seen_ids(self) -> None:
        for id in oldest(self.seen_ids, len(self.seen_ids) - self.max_seen_ids):
            if id not in self.documents:
                del self.seen_ids[id]


def oldest(ids: Iterable[str], count: int) -> list[str]:
    """Return the first `count` ids, in the order of insertion."""
    return [id for id, _ in zip(ids, range(max(count, 0)), strict=False)]
