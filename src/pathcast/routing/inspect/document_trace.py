"""The trace of a document at one broker: for each hop, whether the document takes it, and why.

A document goes to a neighbour if an entry of the neighbour matches, unless the entry excepts the
document's origin, the neighbour is no child in the origin's tree, or the document came from there.
The trace matches all entries again with a matcher of its own; a property test checks that it agrees
with the decision of the router.
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
    """Whether a document takes a hop; the first reason that holds."""

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
    """The verdict for one hop, with its matching entries and local subscriptions.

    `to` is a neighbour, or `LOCAL`.
    """

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
            text + (f" but from {format_origins(origins)}" if origins else "")
            for text, origins in self.entries
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
    """Return a trace for `LOCAL`, then one for each neighbour; raise DocumentError.

    After a restart `LOCAL` may have two traces: one of the subscribers that are known already, and
    an undecided one of those that are not.
    """
    matching = _matching(router, document.body)
    origin = document.origin
    traces = [
        _trace_local(router, matching),
        *(
            _trace_neighbour(router, origin, came_from, name, matching)
            for name in router.neighbours
        ),
    ]
    flooded = router.flood_targets(document) - {came_from}
    traces = [
        HopTrace(trace.to, HopVerdict.FLOODED) if trace.to in flooded and not trace.taken else trace
        for trace in traces
    ]
    taken = {trace.to for trace in traces if trace.taken and trace.to != LOCAL}
    for hop in router.recovery.undecided_hops(origin, came_from, taken):
        index = next(index for index, trace in enumerate(traces) if trace.to == hop)
        undecided = HopTrace(hop, HopVerdict.UNDECIDED)
        if traces[index].taken:
            traces.insert(index + 1, undecided)
        else:
            traces[index] = undecided
    return tuple(traces)


def _matching(router: Router, body: bytes) -> set[Interest]:
    """Return the interests of all tables that a document matches."""
    interests = {interest for _, interest, _ in router.subscriptions()}
    for neighbour in router.neighbours:
        interests.update(interest for interest, _ in router.entries_of(neighbour))
    if not interests:
        return set()
    matcher = Matcher()
    by_number = sorted(interests)
    for number, interest in enumerate(by_number):
        matcher.add(number, interest.pattern.text, dict(interest.pattern.namespaces))
    return {by_number[int(number)] for number in matcher.match(body)}


def _trace_local(router: Router, matching: set[Interest]) -> HopTrace:
    matches = [(id, interest) for id, interest, _ in router.subscriptions() if interest in matching]
    if not matches:
        return HopTrace(LOCAL, HopVerdict.NO_MATCH)
    texts = dict.fromkeys(interest.pattern.text for _, interest in matches)
    no_origins: Origins = frozenset()
    ids = tuple(sorted((id for id, _ in matches), key=str))
    return HopTrace(LOCAL, HopVerdict.TAKEN, tuple((text, no_origins) for text in texts), ids)


def _trace_neighbour(
    router: Router, origin: str, came_from: str, neighbour: str, matching: set[Interest]
) -> HopTrace:
    entries = [entry for entry in router.entries_of(neighbour) if entry[0] in matching]
    applicable = [entry for entry in entries if origin not in entry[1]]
    if neighbour == came_from:
        verdict, shown = HopVerdict.CAME_FROM, entries
    elif not entries:
        verdict, shown = HopVerdict.NO_MATCH, entries
    elif not applicable:
        verdict, shown = HopVerdict.EXCLUDED, entries
    elif router.trees.is_child(neighbour, origin):
        verdict, shown = HopVerdict.TAKEN, applicable
    elif router.trees.parent.get(origin) == neighbour:
        verdict, shown = HopVerdict.UPSTREAM, applicable
    else:
        verdict, shown = HopVerdict.OTHER_PATH, applicable
    return HopTrace(
        neighbour, verdict, tuple((interest.pattern.text, origins) for interest, origins in shown)
    )
