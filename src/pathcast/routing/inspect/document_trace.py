"""Why a document took a link, or did not.

A document goes to a neighbour if one of its entries matches, unless it is wanted without the document's origin, or the neighbour gets that origin by another way, or
the document came from there. All entries are matched again here, one matcher for all of them; the broker's own answer comes from its filter, and a
property test says that they agree.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from pathcast.matching import Matcher
from pathcast.routing.inspect.text import format_hop, format_origins
from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import Interest, Origins, Publication
from pathcast.routing.router import Router

__all__ = ["HopTrace", "HopVerdict", "why_document"]


class HopVerdict(Enum):
    """Whether a document goes somewhere; the first that holds."""

    TAKEN = "taken: an entry matches"
    FLOODED = "taken: flooded, interests from there will not become known"
    UNDECIDED = "undecided: not known yet what is wanted there"
    CAME_FROM = "not taken: it came from there"
    NO_MATCH = "not taken: no entry matches"
    EXCLUDED = "not taken: wanted, but not from this origin"
    UPSTREAM = "not taken: documents of this origin come from there"
    OTHER_PATH = "not taken: it gets this origin by another way"


@dataclass(frozen=True, slots=True)
class HopTrace:
    """To a neighbour, or (`to` is empty) to our subscribers. `entries` match; `subscriptions` are those of ours that do."""

    columns: ClassVar[tuple[str, ...]] = ("to", "verdict", "entries", "subscriptions")

    to: str
    verdict: HopVerdict
    entries: tuple[tuple[str, Origins], ...] = ()
    subscriptions: tuple[Hashable, ...] = ()

    @property
    def taken(self) -> bool:
        return self.verdict in (HopVerdict.TAKEN, HopVerdict.FLOODED)

    def cells(self) -> tuple[str, ...]:
        entries = [
            text + (f" but from {format_origins(no)}" if no else "") for text, no in self.entries
        ]
        ids = ", ".join(map(str, self.subscriptions)) or "-"
        return format_hop(self.to), self.verdict.value, "; ".join(entries) or "-", ids

    def as_dict(self) -> dict[str, object]:
        return {
            "to": format_hop(self.to),
            "taken": self.taken,
            "verdict": self.verdict.value,
            "entries": [
                {"pattern": text, "without": sorted(except_origins)}
                for text, except_origins in self.entries
            ],
            "subscriptions": [str(id) for id in self.subscriptions],
        }


def why_document(
    router: Router, document: Publication, came_from: str = LOCAL
) -> tuple[HopTrace, ...]:
    """Our subscribers, then each neighbour; raises DocumentError.

    After a restart our subscribers may be there twice: those who are known, and those who are not known yet.
    """
    matching = _matching(router, document.body)
    origin = document.origin
    ways = [
        _here(router, matching),
        *(_way(router, origin, came_from, one, matching) for one in router.neighbours),
    ]
    unasked = router.flood_targets(document) - {came_from}
    ways = [
        HopTrace(way.to, HopVerdict.FLOODED) if way.to in unasked and not way.taken else way
        for way in ways
    ]
    taken = {way.to for way in ways if way.taken and way.to != LOCAL}
    for unknown in router.recovery.undecided_hops(origin, came_from, taken):
        format_hop = next(at for at, way in enumerate(ways) if way.to == unknown)
        undecided = HopTrace(unknown, HopVerdict.UNDECIDED)
        if ways[format_hop].taken:
            ways.insert(format_hop + 1, undecided)
        else:
            ways[format_hop] = undecided
    return tuple(ways)


def _matching(router: Router, body: bytes) -> set[Interest]:
    """All interests of the table that the document matches."""
    interests = {interest for _, interest, _ in router.subscriptions()}
    for neighbour in router.neighbours:
        interests.update(interest for interest, _ in router.entries_of(neighbour))
    if not interests:
        return set()
    matcher = Matcher()
    known = sorted(interests)
    for number, interest in enumerate(known):
        matcher.add(number, interest.pattern.text, dict(interest.pattern.namespaces))
    return {known[int(number)] for number in matcher.match(body)}


def _here(router: Router, matching: set[Interest]) -> HopTrace:
    found = [(id, one) for id, one, _ in router.subscriptions() if one in matching]
    if not found:
        return HopTrace(LOCAL, HopVerdict.NO_MATCH)
    texts = dict.fromkeys(one.pattern.text for _, one in found)
    nothing: Origins = frozenset()
    ids = tuple(sorted((id for id, _ in found), key=str))
    return HopTrace(LOCAL, HopVerdict.TAKEN, tuple((text, nothing) for text in texts), ids)


def _way(
    router: Router, origin: str, came_from: str, neighbour: str, matching: set[Interest]
) -> HopTrace:
    entries = [one for one in router.entries_of(neighbour) if one[0] in matching]
    wanted = [one for one in entries if origin not in one[1]]
    if neighbour == came_from:
        verdict, shown = HopVerdict.CAME_FROM, entries
    elif not entries:
        verdict, shown = HopVerdict.NO_MATCH, entries
    elif not wanted:
        verdict, shown = HopVerdict.EXCLUDED, entries
    elif router.trees.is_child(neighbour, origin):
        verdict, shown = HopVerdict.TAKEN, wanted
    elif router.trees.parent.get(origin) == neighbour:
        verdict, shown = HopVerdict.UPSTREAM, wanted
    else:
        verdict, shown = HopVerdict.OTHER_PATH, wanted
    return HopTrace(neighbour, verdict, tuple((one.pattern.text, no) for one, no in shown))
