"""How fast the generators are, next to how fast lxml takes in what they made.

- Subscriptions: distinct ones for the news schema, against `lxml.etree.XPath` compiling the same texts. The target is for
  the preset miliaraki2008-nitf (depth 10, p(*) = p(//) = 0.2), of which there are more than a million; how many draws it takes to
  find a new one depends on the options, so two other presets stand beside it.
- Memory: many distinct subscriptions in one run, in a process of its own.
- Documents: news of some 7,000 bytes and others, against `lxml.etree.fromstring` parsing the same bytes.
- Feeds: a day of weather, rows and style sheet together, against parsing the same messages.

Ours is all that it takes from the seed to the text. That the texts are distinct is checked here; that documents are
valid and subscriptions satisfiable is the tests' business.
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

from pathcast.bench.measure import compared
from pathcast.bench.memory import peak
from pathcast.bench.options import Wish
from pathcast.bench.report import Findings, Line, Tell, fingerprint
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.generators.feeds import weather_feed
from pathcast.generators.feeds.weather import WeatherOptions
from pathcast.generators.presets import PRESETS

__all__ = ["Sizes", "many_distinct", "measured", "workload"]

_SEED = 1
_MANY = "miliaraki2008-nitf"
_BYTES = 7_000  # of a document
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the targets are for the numbers that are here."""

    subscriptions: int = 100_000
    distinct: int = 1_000_000
    documents: int = 2_000
    period: int = 30  # seconds between weather reports, for a day
    rounds: int = 7


_FULL = Sizes()
_QUICK = Sizes(subscriptions=20_000, distinct=100_000, documents=400, period=120, rounds=5)


def workload(wish: Wish) -> Findings:
    """The benchmark."""
    return measured(_QUICK if wish.quick else _FULL, wish)


def measured(sizes: Sizes, wish: Wish) -> Findings:
    """All lines, for inputs of these sizes."""
    bench = _Bench(sizes, wish.tell)
    return wish.gather({"all": _lines}, bench), bench.inputs


def _lines(bench: _Bench) -> Iterator[Line]:
    yield bench.subscriptions(_MANY, target=0.2)
    yield bench.subscriptions("li2008-b")
    yield bench.subscriptions("xnet2004")
    yield bench.memory(_MANY, target=1_000)
    yield bench.documents("news", target=0.25)
    for name in ("bib", "book", "protein"):
        yield bench.documents(name)
    yield bench.feed()


def many_distinct(name: str, count: int, seed: int) -> int:
    """Generate so many subscriptions of a preset; how many different ones there were, by hashes of 64 bits."""
    hashes = array("Q")
    for text in PRESETS[name].texts(seed, count):
        hashes.append(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))
    return len(hashes) - sum(one == other for one, other in pairwise(sorted(hashes)))


@dataclass(slots=True)
class _Bench:
    """The numbers of a run, its inputs, and whom to tell."""

    sizes: Sizes
    tell: Tell
    inputs: dict[str, str] = field(default_factory=dict)

    def subscriptions(self, name: str, target: float | None = None) -> Line:
        count = self.sizes.subscriptions // (1 if target else 5)  # twigs take their time
        what = f"{name} subscriptions, {count:,} distinct / XPath()"
        self.tell(what)
        make = partial(PRESETS[name].texts, _SEED, count)
        texts = list(make())
        assert len(set(texts)) == count, "they are to be distinct"
        self.inputs[f"{name} subscriptions"] = fingerprint(text.encode() for text in texts)

        def theirs() -> None:
            for text in texts:
                etree.XPath(text)

        found = compared(_drained(make), theirs, rounds=self.sizes.rounds)
        note = f"{count / found.ours:,.0f}/s, XPath() {count / found.theirs:,.0f}/s"
        if target is not None and count < _FULL.subscriptions:
            note += f"; the target is for {_FULL.subscriptions:,}"
        return Line(what, found.figure, "x", target=target, spread=found.spread, note=note)

    def memory(self, name: str, target: float | None = None) -> Line:
        count = self.sizes.distinct
        what = f"{name} subscriptions, {count:,} distinct, most memory"
        self.tell(what)
        found = peak(many_distinct, name, count, _SEED)
        assert found.result == count, "they are to be distinct"
        note = f"{found.before / _MEGABYTE:,.0f} MB of it before the first"
        if target is not None and count < _FULL.distinct:
            note += f"; the target is for {_FULL.distinct:,}"
        most = found.most / _MEGABYTE
        return Line(what, most, "MB", target=target, at_least=False, note=note)

    def documents(self, name: str, target: float | None = None) -> Line:
        count = self.sizes.documents
        what = f"{name} documents, {count:,} of some {_BYTES:,} bytes / fromstring()"
        options = DocumentOptions(size=_BYTES)
        make = partial(documents, bundled_schema(name), options, _SEED, count)
        return self._against_parsing(what, f"{name} documents", make, target)

    def feed(self) -> Line:
        options = WeatherOptions(period=self.sizes.period)

        def make() -> Iterator[bytes]:
            return (message.body for message in weather_feed(options, _SEED))

        return self._against_parsing(
            "weather messages, a day / fromstring()", "weather messages", make
        )

    def _against_parsing(
        self,
        what: str,
        key: str,
        make: Callable[[], Iterator[bytes]],
        target: float | None = None,
    ) -> Line:
        self.tell(what)
        bodies = list(make())
        self.inputs[key] = fingerprint(bodies)

        def theirs() -> None:
            for body in bodies:
                etree.fromstring(body)

        found = compared(_drained(make), theirs, rounds=self.sizes.rounds)
        size = sum(map(len, bodies))
        ours, other = (size / seconds / _MEGABYTE for seconds in (found.ours, found.theirs))
        note = f"{ours:,.1f} MB/s, fromstring() {other:,.1f}; mean {size / len(bodies):,.0f} bytes"
        return Line(what, found.figure, "x", target=target, spread=found.spread, note=note)


def _drained(make: Callable[[], Iterator[object]]) -> Callable[[], object]:
    """Generate it all and keep nothing."""
    return lambda: deque(make(), maxlen=0)
