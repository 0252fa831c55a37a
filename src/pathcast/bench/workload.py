"""Benchmark of the generators, against lxml reading their output.

- Subscriptions: distinct ones for the news schema, against `lxml.etree.XPath` compiling the same
  texts. The target is for the preset miliaraki2008-nitf (depth 10, p(*) = p(//) = 0.2), which has
  more than a million. The draws per new subscription depend on the options, so two other presets
  are measured as well.
- Memory: many distinct subscriptions in one run, in a process of its own.
- Documents: news of about 7,000 bytes and others, against `lxml.etree.fromstring`.
- Feeds: a day of weather, rows and style sheet together, against parsing the same messages.

Our time covers everything from the seed to the text. The benchmark checks that texts are distinct;
the tests check that documents are valid and subscriptions satisfiable.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import pairwise

from lxml import etree

from pathcast.bench.measure import compare
from pathcast.bench.memory import measure_peak
from pathcast.bench.report import Progress, ReportLine, fingerprint
from pathcast.bench.suite import Suite
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.generators.feeds import weather_feed
from pathcast.generators.feeds.weather import WeatherOptions
from pathcast.generators.presets import PRESETS

__all__ = ["SUITE", "WorkloadContext", "WorkloadSizes", "count_distinct"]

_SEED = 1
_LARGEST_PRESET = "miliaraki2008-nitf"
_DOCUMENT_BYTES = 7_000
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class WorkloadSizes:
    """The amounts of a run; the targets are for the defaults."""

    subscriptions: int = 100_000
    distinct: int = 1_000_000
    documents: int = 2_000
    period: int = 30  # seconds between weather reports, for a day
    rounds: int = 7


_FULL = WorkloadSizes()
_QUICK = WorkloadSizes(subscriptions=20_000, distinct=100_000, documents=400, period=120, rounds=5)


def _subscriptions(bench: WorkloadContext) -> Iterator[ReportLine]:
    yield bench.subscriptions(_LARGEST_PRESET, target=0.2)
    yield bench.subscriptions("li2008-b")
    yield bench.subscriptions("xnet2004")


def _memory(bench: WorkloadContext) -> Iterator[ReportLine]:
    yield bench.memory(_LARGEST_PRESET, target=1_000)


def _documents(bench: WorkloadContext) -> Iterator[ReportLine]:
    yield bench.documents("news", target=0.25)
    for name in ("bib", "book", "protein"):
        yield bench.documents(name)


def _feeds(bench: WorkloadContext) -> Iterator[ReportLine]:
    yield bench.feed()


def count_distinct(name: str, count: int, seed: int) -> int:
    """Generate `count` subscriptions of a preset; return the number of distinct 64-bit hashes."""
    hashes = array("Q")
    for text in PRESETS[name].texts(seed, count):
        hashes.append(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))
    return len(hashes) - sum(left == right for left, right in pairwise(sorted(hashes)))


@dataclass(slots=True)
class WorkloadContext:
    """The sizes of a run, its inputs, and its measurements."""

    sizes: WorkloadSizes
    progress: Progress
    inputs: dict[str, str] = field(default_factory=dict)

    def subscriptions(self, name: str, target: float | None = None) -> ReportLine:
        count = self.sizes.subscriptions // (1 if target else 5)  # twigs take their time
        label = f"{name} subscriptions, {count:,} distinct / XPath()"
        self.progress(label)
        make = partial(PRESETS[name].texts, _SEED, count)
        texts = list(make())
        assert len(set(texts)) == count, "the subscriptions must be distinct"
        self.inputs[f"{name} subscriptions"] = fingerprint(text.encode() for text in texts)

        def theirs() -> None:
            for text in texts:
                etree.XPath(text)

        ratio = compare(_drain(make), theirs, rounds=self.sizes.rounds)
        note = f"{count / ratio.ours:,.0f}/s, XPath() {count / ratio.theirs:,.0f}/s"
        if target is not None and count < _FULL.subscriptions:
            note += f"; the target is for {_FULL.subscriptions:,}"
        return ReportLine(label, ratio.figure, "x", target=target, spread=ratio.spread, note=note)

    def memory(self, name: str, target: float | None = None) -> ReportLine:
        count = self.sizes.distinct
        label = f"{name} subscriptions, {count:,} distinct, peak memory"
        self.progress(label)
        memory = measure_peak(count_distinct, name, count, _SEED)
        assert memory.result == count, "the subscriptions must be distinct"
        note = f"{memory.before / _MEGABYTE:,.0f} MB of it before the first"
        if target is not None and count < _FULL.distinct:
            note += f"; the target is for {_FULL.distinct:,}"
        peak = memory.peak / _MEGABYTE
        return ReportLine(label, peak, "MB", target=target, at_least=False, note=note)

    def documents(self, name: str, target: float | None = None) -> ReportLine:
        count = self.sizes.documents
        label = f"{name} documents, {count:,} of some {_DOCUMENT_BYTES:,} bytes / fromstring()"
        options = DocumentOptions(size=_DOCUMENT_BYTES)
        make = partial(documents, bundled_schema(name), options, _SEED, count)
        return self._against_parsing(label, f"{name} documents", make, target)

    def feed(self) -> ReportLine:
        options = WeatherOptions(period=self.sizes.period)

        def make() -> Iterator[bytes]:
            return (message.body for message in weather_feed(options, _SEED))

        return self._against_parsing(
            "weather messages, a day / fromstring()", "weather messages", make
        )

    def _against_parsing(
        self,
        label: str,
        key: str,
        make: Callable[[], Iterator[bytes]],
        target: float | None = None,
    ) -> ReportLine:
        self.progress(label)
        bodies = list(make())
        self.inputs[key] = fingerprint(bodies)

        def theirs() -> None:
            for body in bodies:
                etree.fromstring(body)

        ratio = compare(_drain(make), theirs, rounds=self.sizes.rounds)
        size = sum(map(len, bodies))
        ours, other = (size / seconds / _MEGABYTE for seconds in (ratio.ours, ratio.theirs))
        note = f"{ours:,.1f} MB/s, fromstring() {other:,.1f}; mean {size / len(bodies):,.0f} bytes"
        return ReportLine(label, ratio.figure, "x", target=target, spread=ratio.spread, note=note)


def _drain(make: Callable[[], Iterator[object]]) -> Callable[[], object]:
    """Return a function that consumes the iterator and keeps nothing."""
    return lambda: deque(make(), maxlen=0)


SUITE = Suite(
    summary="how fast subscriptions, documents and feeds are generated",
    quick=_QUICK,
    full=_FULL,
    context=lambda sizes, options: WorkloadContext(sizes, options.progress),
    inputs=lambda bench: bench.inputs,
    parts={
        "subscriptions": _subscriptions,
        "memory": _memory,
        "documents": _documents,
        "feeds": _feeds,
    },
)
