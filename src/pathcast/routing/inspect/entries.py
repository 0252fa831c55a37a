"""The reasons of an entry sent to a neighbour: the entries that it represents.

A reason is an entry of this broker, of local subscribers or of another neighbour, that the
neighbour must know and that the sent entry covers. An entry exists as long as one of its reasons
does. No command prints these reasons yet; the inspection of brokers on sockets will.
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
    """An entry of this broker; `ids` are the subscriptions if `source` is `LOCAL`."""

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
    """An entry sent to a neighbour, with its reasons."""

    neighbour: str
    pattern: Pattern
    except_origins: Origins
    reasons: tuple[EntryReason, ...]

    def __str__(self) -> str:
        besides = f" but from {format_origins(self.except_origins)}" if self.except_origins else ""
        reasons = format_table(self.reasons)
        return f"{self.neighbour} was sent {self.pattern.text}{besides} because of\n{reasons}"

    def as_dict(self) -> dict[str, object]:
        return {
            "neighbour": self.neighbour,
            "pattern": self.pattern.text,
            "without": sorted(self.except_origins),
            "reasons": [reason.as_dict() for reason in self.reasons],
        }


def why_entry(router: Router, neighbour: str, pattern: Pattern) -> tuple[SentEntry, ...]:
    """Return the entries of a pattern that were sent to a neighbour.

    There may be several, with different excepted origins.
    """
    view = router.view(neighbour)
    key = (pattern.text, pattern.namespaces)
    entries = []
    for interest, exceptions in view.sent.items():
        if (interest.pattern.text, interest.pattern.namespaces) == key:
            for except_origins in sorted(exceptions, key=sorted):
                represented = view.represented_by(interest, except_origins)
                reasons = tuple(_reasons(router, neighbour, represented))
                entries.append(SentEntry(neighbour, interest.pattern, except_origins, reasons))
    return tuple(entries)


def _reasons(router: Router, neighbour: str, interests: list[Interest]) -> Iterator[EntryReason]:
    view = router.view(neighbour)
    local_ids: dict[Interest, list[Hashable]] = {interest: [] for interest in interests}
    for id, interest, _ in router.subscriptions():
        if interest in local_ids:
            local_ids[interest].append(id)
    for interest in interests:
        for source, exceptions in sorted(router.interests.sources(interest).items()):
            if source == neighbour:
                continue
            for except_origins in sorted(exceptions, key=sorted):
                if view.relevance(interest, source, except_origins) is Relevance.RELEVANT:
                    ids = tuple(local_ids[interest]) if source == LOCAL else ()
                    yield EntryReason(interest.pattern, source, except_origins, ids)
