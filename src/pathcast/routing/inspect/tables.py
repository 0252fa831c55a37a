"""The rows of the two routing tables: SRT, the advertisements, and PRT, the interests (Li 2008).

An advertisement is *in force* if documents of its origin come from its last hop. On an overlay with
cycles a broker holds others as well: spare paths, which replace the one in force if it fails, and
advertisements of neighbours that receive the origin's documents from this broker.

An entry of the PRT is forwarded to a neighbour as itself, hidden by an entry that covers it, merged
into another, or not at all. The rows state this for each entry on its own, although an interest is
sent once for all its sources.
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
    """A row of the SRT; `last_hop` is `LOCAL` for local publishers."""

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
        path = "-".join(self.path) or "-"
        return (
            self.origin,
            publisher,
            self.advertisement,
            format_hop(self.last_hop),
            path,
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
    """How an entry was forwarded to a neighbour."""

    ITSELF = "as itself"
    HIDDEN = "hidden by"
    MERGED = "merged into"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Forwarding:
    """The forwarding of one entry to one neighbour, as the entry `by`; None: not forwarded."""

    neighbour: str
    how: ForwardingKind
    by: str | None
    relevance: Relevance

    def __str__(self) -> str:
        if self.how is ForwardingKind.NOT:
            return f"{self.neighbour}: not, {self.relevance.value}"
        by = "" if self.how is ForwardingKind.ITSELF else f" {self.by}"
        return f"{self.neighbour}: {self.how.value}{by}"

    def as_dict(self) -> dict[str, object]:
        why = self.relevance.value if self.how is ForwardingKind.NOT else None
        return {"neighbour": self.neighbour, "how": self.how.value, "by": self.by, "why": why}


@dataclass(frozen=True, slots=True)
class PrtRow:
    """A row of the PRT; `ids` are the subscriptions if `last_hop` is `LOCAL`."""

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
    forwardings: tuple[Forwarding, ...]

    def cells(self) -> tuple[str, ...]:
        hop = format_hop(self.last_hop) + (" (unconfirmed)" if self.unconfirmed else "")
        ids = ", ".join(map(str, self.ids)) or "-"
        return (
            self.pattern,
            hop,
            format_origins(self.except_origins),
            ids,
            "; ".join(map(str, self.forwardings)) or "-",
        )

    def as_dict(self) -> dict[str, object]:
        return {
            "pattern": self.pattern,
            "last_hop": format_hop(self.last_hop),
            "without": sorted(self.except_origins),
            "subscriptions": [str(id) for id in self.ids],
            "hearsay": self.unconfirmed,
            "passed_on": [forwarding.as_dict() for forwarding in self.forwardings],
        }


def srt(router: Router) -> Iterator[SrtRow]:
    """Yield all advertisements, those of local publishers first."""
    trees = router.trees
    for publisher in sorted(trees.local_advertisements):
        advertisement = trees.local_advertisements[publisher]
        yield SrtRow(router.name, publisher, summarize(advertisement), LOCAL, (), "in force")
    offers = sorted(trees.all_offers(), key=lambda offer: (offer[1], offer[2], offer[0]))
    for neighbour, origin, publisher, path, advertisement in offers:
        if trees.parent.get(origin) == neighbour:
            state = "in force"
        elif router.name in path:
            state = "gets it from here"
        else:
            state = "spare"
        if router.recovery.is_unconfirmed_offer(neighbour, origin, publisher):
            state += " (unconfirmed)"
        yield SrtRow(origin, publisher, summarize(advertisement), neighbour, path, state)


def prt(router: Router) -> Iterator[PrtRow]:
    """Yield all entries, those of local subscribers first."""
    forwarder = _Forwardings(router)
    local_ids: dict[Interest, list[Hashable]] = {}
    for id, interest, _ in router.subscriptions():
        local_ids.setdefault(interest, []).append(id)
    no_origins: Origins = frozenset()
    for interest, ids in local_ids.items():
        forwardings = forwarder.of(interest, LOCAL, no_origins)
        yield PrtRow(interest.pattern.text, LOCAL, no_origins, tuple(ids), False, forwardings)
    for neighbour in router.neighbours:
        for interest, except_origins in router.entries_of(neighbour):
            unconfirmed = router.recovery.is_unconfirmed(neighbour, interest, except_origins)
            forwardings = forwarder.of(interest, neighbour, except_origins)
            yield PrtRow(
                interest.pattern.text, neighbour, except_origins, (), unconfirmed, forwardings
            )


class _Forwardings:
    """The views of all neighbours, with representatives computed once for all entries."""

    def __init__(self, router: Router) -> None:
        self._views = [router.view(name) for name in router.neighbours]
        self._representatives = [view.representatives() for view in self._views]

    def of(
        self, interest: Interest, source: str, except_origins: Origins
    ) -> tuple[Forwarding, ...]:
        forwardings = []
        for view, representatives in zip(self._views, self._representatives, strict=True):
            if view.neighbour == source:
                continue
            relevance = view.relevance(interest, source, except_origins)
            if relevance is not Relevance.RELEVANT:
                forwarding = Forwarding(view.neighbour, ForwardingKind.NOT, None, relevance)
                forwardings.append(forwarding)
                continue
            sent = representatives[interest]
            if sent is interest:
                how = ForwardingKind.ITSELF
            elif view.group_of(sent) == view.group_of(interest):
                how = ForwardingKind.HIDDEN
            else:
                how = ForwardingKind.ITSELF if _is_same(sent, interest) else ForwardingKind.MERGED
            forwardings.append(Forwarding(view.neighbour, how, sent.pattern.text, relevance))
        return tuple(forwardings)


def _is_same(sent: Interest, interest: Interest) -> bool:
    """Return whether a covering pattern is equivalent: mergers have a spelling of their own."""
    return bool(covers(interest.pattern, sent.pattern))
