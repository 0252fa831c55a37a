"""What every part is given, and what several of them do: load a matcher, run documents, tell in what proportion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean

from lxml import etree

from pathcast.bench.filter.inputs import Inputs
from pathcast.bench.filter.sizes import Size, Sizes
from pathcast.bench.measure import Ratio, compared
from pathcast.bench.report import Line, Tell
from pathcast.documents import new_parser
from pathcast.matching import Matcher

__all__ = ["Bench", "ids_each", "joined", "loaded", "matched", "parsed", "rates", "share_line"]


@dataclass(slots=True)
class Bench:
    """The numbers of a run, its inputs, and whom to tell."""

    sizes: Sizes
    inputs: Inputs
    tell: Tell
    warm: list[bytes] = field(default_factory=list)  # the documents of all warm lines

    def bodies(self) -> list[bytes]:
        if not self.warm:
            self.warm += self.inputs.documents(self.sizes.documents)
        return self.warm

    def against_parsing(self, ours: Callable[[], object], bodies: Sequence[bytes]) -> Ratio:
        return compared(ours, partial(parsed, bodies, new_parser()), rounds=self.sizes.rounds)


def loaded(texts: Iterable[str]) -> Matcher:
    """A matcher whose numbers are its ids."""
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    return matcher


def matched(matcher: Matcher, bodies: Iterable[bytes]) -> None:
    """From bytes to the buffer of numbers."""
    for body in bodies:
        matcher.match(body).numbers  # noqa: B018 - it may be made when it is asked for


def parsed(bodies: Iterable[bytes], settings: etree.XMLParser) -> None:
    """The yardstick."""
    for body in bodies:
        etree.fromstring(body, settings)


def ids_each(matcher: Matcher, bodies: Iterable[bytes]) -> list[int]:
    """How many subscriptions each document matches."""
    return [len(matcher.match(body).numbers) for body in bodies]


def rates(found: Ratio, bodies: int, size: Size, *more: str) -> str:
    """The note of a line that compares rates of documents."""
    ours, theirs = bodies / found.ours, bodies / found.theirs
    return joined(f"{ours:,.0f} documents/s, fromstring() {theirs:,.0f}", *more, size.note)


def share_line(what: str, each: Sequence[int], count: int) -> Line:
    """What part of a set the documents match, in percent; it must be like the workloads that targets are for."""
    shares = [100 * one / count for one in each]
    note = f"{fmean(each):,.0f} ids a document"
    spread = (min(shares), max(shares))
    return Line(what, fmean(shares), "%", target=5.0, most=15.0, spread=spread, note=note)


def joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
