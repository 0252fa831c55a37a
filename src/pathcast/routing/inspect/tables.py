"""The two tables of a broker: SRT, what comes from where, and PRT, who wants what.

An advertisement is *in force* if documents of its origin come that way. On a network with cycles others are held besides: a spare way, which is taken if the one in
force fails, and word of an origin from neighbours that get it from here.

An entry of the PRT is passed on to a neighbour as itself, or hidden by another entry that covers it, or merged; or it need not be passed on. That is
said for each entry by itself, though neighbours are told of an interest once for all who want it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from pathcast.covering import covers
from pathcast.routing.inspect.text import format_hop, format_origins, summarize
from pathcast.routing.interests import LOCAL, Relevance
from pathcast.routing.messages import Interest, Origins
from pathcast.routing.router import Router

__all__ = ["Forwarding", "ForwardingKind", "PrtRow", "SrtRow", "prt", "srt"]


@dataclass(frozen=True, slots=True)
class SrtRow:
    """A row of the SRT; `last_hop` is empty for our own publishers."""

    columns: ClassVar[tuple[str, ...]] = (
        "origin",
        "publisher",
        "advertisement",
        "last hop",
        "path",
        "state",
    )

    origin: str
    publisher: str
    advertisement: str
    last_hop: str
    path: tuple[str, ...]
    state: str

    def cells(self) -> tuple[str, ...]:
        publisher = self.publisher or "-"
        way = "-".join(self.path) or "-"
        return (
            self.origin,
            publisher,
            self.advertisement,
            format_hop(self.last_hop),
            way,
            self.state,
        )

    def as_dict(self) -> dict[str, object]:
        return {
            "origin": self.origin,
            "publisher": self.publisher,
            "advertisement": self.advertisement,
            "last_hop": format_hop(self.last_hop),
            "path": list(self.path),
            "state": self.state,
        }


class ForwardingKind(Enum):
    """What became of an entry on its way to a neighbour."""

    ITSELF = "as itself"
    HIDDEN = "hidden by"
    MERGED = "merged into"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Forwarding:
    """`by` is the entry that was told; `concern` says why none was."""

    neighbour: str
    how: ForwardingKind
    by: str | None
    concern: Relevance

    def __str__(self) -> str:
        if self.how is ForwardingKind.NOT:
            return f"{self.neighbour}: not, {self.concern.value}"
        by = "" if self.how is ForwardingKind.ITSELF else f" {self.by}"
        return f"{self.neighbour}: {self.how.value}{by}"

    def as_dict(self) -> dict[str, object]:
        why = self.concern.value if self.how is ForwardingKind.NOT else None
        return {"neighbour": self.neighbour, "how": self.how.value, "by": self.by, "why": why}


@dataclass(frozen=True, slots=True)
class PrtRow:
    """A row of the PRT; `last_hop` is empty for our own subscribers, whose subscriptions are `ids`."""

    columns: ClassVar[tuple[str, ...]] = (
        "pattern",
        "last hop",
        "without",
        "subscriptions",
        "passed on",
    )

    pattern: str
    last_hop: str
    except_origins: Origins
    ids: tuple[Hashable, ...]
    unconfirmed: bool
    passed: tuple[Forwarding, ...]

    def cells(self) -> tuple[str, ...]:
        hop = format_hop(self.last_hop) + (" (unconfirmed)" if self.unconfirmed else "")
        ids = ", ".join(map(str, self.ids)) or "-"
        return (
            self.pattern,
            hop,
            format_origins(self.except_origins),
            ids,
            "; ".join(map(str, self.passed)) or "-",
        )

    def as_dict(self) -> dict[str, object]:
        return {
            "pattern": self.pattern,
            "last_hop": format_hop(self.last_hop),
            "without": sorted(self.except_origins),
            "subscriptions": [str(id) for id in self.ids],
            "hearsay": self.unconfirmed,
            "passed_on": [one.as_dict() for one in self.passed],
        }


def srt(router: Router) -> Iterator[SrtRow]:
    """All advertisements that are held, our own publishers' first."""
    trees = router.trees
    for publisher, one in sorted(trees.local_advertisements.items(), key=lambda pair: pair[0]):
        yield SrtRow(router.name, publisher, summarize(one), LOCAL, (), "in force")
    held = sorted(trees.all_offers(), key=lambda row: (row[1], row[2], row[0]))
    for neighbour, origin, publisher, path, one in held:
        if trees.parent.get(origin) == neighbour:
            state = "in force"
        elif router.name in path:
            state = "gets it from here"
        else:
            state = "spare"
        if router.recovery.is_unconfirmed_offer(neighbour, origin, publisher):
            state += " (unconfirmed)"
        yield SrtRow(origin, publisher, summarize(one), neighbour, path, state)


def prt(router: Router) -> Iterator[PrtRow]:
    """All entries, those of our own subscribers first."""
    passing = _Passing(router)
    own: dict[Interest, list[Hashable]] = {}
    for id, interest, _ in router.subscriptions():
        own.setdefault(interest, []).append(id)
    nothing: Origins = frozenset()
    for interest, ids in own.items():
        passed = passing.of(interest, LOCAL, nothing)
        yield PrtRow(interest.pattern.text, LOCAL, nothing, tuple(ids), False, passed)
    for neighbour in router.neighbours:
        for interest, except_origins in router.entries_of(neighbour):
            unconfirmed = router.recovery.is_unconfirmed(neighbour, interest, except_origins)
            passed = passing.of(interest, neighbour, except_origins)
            yield PrtRow(interest.pattern.text, neighbour, except_origins, (), unconfirmed, passed)


class _Passing:
    """What neighbours were told, asked once for all entries."""

    def __init__(self, router: Router) -> None:
        self._outgoing = [router.view(one) for one in router.neighbours]
        self._standing = [one.representatives() for one in self._outgoing]

    def of(
        self, interest: Interest, source: str, except_origins: Origins
    ) -> tuple[Forwarding, ...]:
        found = []
        for outgoing, standing in zip(self._outgoing, self._standing, strict=True):
            if outgoing.neighbour == source:
                continue
            concern = outgoing.relevance(interest, source, except_origins)
            if concern is not Relevance.RELEVANT:
                found.append(Forwarding(outgoing.neighbour, ForwardingKind.NOT, None, concern))
                continue
            told = standing[interest]
            if told is interest:
                how = ForwardingKind.ITSELF
            elif outgoing.group_of(told) == outgoing.group_of(interest):
                how = ForwardingKind.HIDDEN
            else:
                how = ForwardingKind.ITSELF if _same(told, interest) else ForwardingKind.MERGED
            found.append(Forwarding(outgoing.neighbour, how, told.pattern.text, concern))
        return tuple(found)


def _same(told: Interest, interest: Interest) -> bool:
    """Whether it is the same pattern, spelt in another way: mergers have a spelling of their own."""
    return bool(covers(interest.pattern, told.pattern))
