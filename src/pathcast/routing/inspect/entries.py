"""Why an entry that a neighbour was told exists: whose wishes it stands for.

An entry is there as long as one of its reasons is: when all of them go, it goes. A reason is an entry of our own table, of our subscribers or of another
neighbour, that the neighbour has to know of and that this one of its entries covers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from pathcast.routing.inspect.text import format_hop, format_origins, format_table
from pathcast.routing.interests import LOCAL, Relevance
from pathcast.routing.messages import Interest, Origins
from pathcast.routing.router import Router
from pathcast.xpath import Pattern

__all__ = ["EntryReason", "SentEntry", "why_entry"]


@dataclass(frozen=True, slots=True)
class EntryReason:
    """An entry of our table; `source` is empty for our own subscribers, whose subscriptions are `ids`."""

    columns: ClassVar[tuple[str, ...]] = ("pattern", "wanted by", "without", "subscriptions")

    pattern: Pattern
    source: str
    except_origins: Origins
    ids: tuple[Hashable, ...]

    def cells(self) -> tuple[str, ...]:
        ids = ", ".join(map(str, self.ids)) or "-"
        return self.pattern.text, format_hop(self.source), format_origins(self.except_origins), ids

    def as_dict(self) -> dict[str, object]:
        return {
            "pattern": self.pattern.text,
            "wanted_by": format_hop(self.source),
            "without": sorted(self.except_origins),
            "subscriptions": [str(id) for id in self.ids],
        }


@dataclass(frozen=True, slots=True)
class SentEntry:
    """An entry that a neighbour was told, with its reasons."""

    neighbour: str
    pattern: Pattern
    except_origins: Origins
    reasons: tuple[EntryReason, ...]

    def __str__(self) -> str:
        besides = f" but from {format_origins(self.except_origins)}" if self.except_origins else ""
        return f"{self.neighbour} was told {self.pattern.text}{besides} because of\n{format_table(self.reasons)}"

    def as_dict(self) -> dict[str, object]:
        return {
            "neighbour": self.neighbour,
            "pattern": self.pattern.text,
            "without": sorted(self.except_origins),
            "reasons": [one.as_dict() for one in self.reasons],
        }


def why_entry(router: Router, neighbour: str, pattern: Pattern) -> tuple[SentEntry, ...]:
    """The entries of this pattern that a neighbour was told: none, one, or several without different origins."""
    outgoing = router.view(neighbour)
    name = (pattern.text, pattern.namespaces)
    found = []
    for interest, exceptions in outgoing.sent.items():
        if (interest.pattern.text, interest.pattern.namespaces) == name:
            for except_origins in sorted(exceptions, key=sorted):
                reasons = _reasons(
                    router, neighbour, outgoing.represented_by(interest, except_origins)
                )
                found.append(SentEntry(neighbour, interest.pattern, except_origins, tuple(reasons)))
    return tuple(found)


def _reasons(router: Router, neighbour: str, interests: list[Interest]) -> Iterator[EntryReason]:
    outgoing = router.view(neighbour)
    own: dict[Interest, list[Hashable]] = {one: [] for one in interests}
    for id, interest, _ in router.subscriptions():
        if interest in own:
            own[interest].append(id)
    for interest in interests:
        for source, exceptions in sorted(router.interests.sources(interest).items()):
            if source == neighbour:
                continue
            for except_origins in sorted(exceptions, key=sorted):
                if outgoing.relevance(interest, source, except_origins) is Relevance.RELEVANT:
                    ids = tuple(own[interest]) if source == LOCAL else ()
                    yield EntryReason(interest.pattern, source, except_origins, ids)
