"""The context of the filter benchmark, and helpers that several parts use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean

from lxml import etree

from pathcast.bench.filter.inputs import FilterInputs
from pathcast.bench.filter.sizes import FilterSizes, TargetSize
from pathcast.bench.measure import Ratio, compare
from pathcast.bench.report import Progress, ReportLine
from pathcast.documents import new_parser
from pathcast.matching import Matcher

__all__ = [
    "FilterContext",
    "join_notes",
    "load_matcher",
    "match_all",
    "match_counts",
    "parse_all",
    "rate_note",
    "share_line",
]


@dataclass(slots=True)
class FilterContext:
    """The sizes and inputs that all parts share."""

    sizes: FilterSizes
    inputs: FilterInputs
    progress: Progress
    warm: list[bytes] = field(default_factory=list)  # the documents of all warm measurements

    def bodies(self) -> list[bytes]:
        if not self.warm:
            self.warm += self.inputs.documents(self.sizes.documents)
        return self.warm

    def against_parsing(self, ours: Callable[[], object], bodies: Sequence[bytes]) -> Ratio:
        return compare(ours, partial(parse_all, bodies, new_parser()), rounds=self.sizes.rounds)


def load_matcher(texts: Iterable[str]) -> Matcher:
    """Return a matcher whose ids are the numbers of its subscriptions."""
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    return matcher


def match_all(matcher: Matcher, bodies: Iterable[bytes]) -> None:
    """Match the documents, from bytes to the buffer of numbers."""
    for body in bodies:
        matcher.match(body).numbers  # noqa: B018 - the property may compute it


def parse_all(bodies: Iterable[bytes], settings: etree.XMLParser) -> None:
    """Parse the documents: the reference."""
    for body in bodies:
        etree.fromstring(body, settings)


def match_counts(matcher: Matcher, bodies: Iterable[bytes]) -> list[int]:
    """Return how many subscriptions each document matches."""
    return [len(matcher.match(body).numbers) for body in bodies]


def rate_note(ratio: Ratio, documents: int, size: TargetSize, *notes: str) -> str:
    """Return the note of a line that compares document rates."""
    ours, theirs = documents / ratio.ours, documents / ratio.theirs
    return join_notes(f"{ours:,.0f} documents/s, fromstring() {theirs:,.0f}", *notes, size.note)


def share_line(label: str, counts: Sequence[int], size: int) -> ReportLine:
    """Report the percentage of a set that documents match; the targets assume 5 to 15."""
    shares = [100 * count / size for count in counts]
    note = f"{fmean(counts):,.0f} ids a document"
    spread = (min(shares), max(shares))
    return ReportLine(label, fmean(shares), "%", target=5.0, upper=15.0, spread=spread, note=note)


def join_notes(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
