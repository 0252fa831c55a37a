"""Subscriptions from DTDs: seeded, streamed, distinct or not, as many as are asked for.

    schemas -> walks -> trees -> dropped demands -> text -> new? -> match ratio -> stream

How one subscription is made is told in `twigs`. This module makes a stream of them:

- The stream depends on the schemas, the options and the seed only: the first ten of a hundred are the ten of a run of ten.
- Several schemas take turns. One that has no more new ones is left out from there on.
- Distinct means that no text comes twice. Texts are canonical in the order of branches, so two texts are two patterns, but
  for wildcards that make the same path in two ways (`//*/a`, `/*//a`). The texts given out are kept for this, some 150 bytes
  each; without `distinct` nothing is kept.
- A distinct stream has its short subscriptions soon, and draws that bring nothing new would take most of the time. So a length and
  a beginning of the walk are drawn first, in proportion to their probability times the share of their draws that lately was new,
  and then walks until one is new: as if all were drawn and the known ones thrown away, with half of the draws.
- The shares of `*` and `//` in a distinct set need not be p(*) and p(//), which are of draws: what is common is taken once. Of
  100,000 on news, with depth 10 and 0.2 each, 0.21 and 0.19 of the steps have them.
- Where `PATIENCE` draws in a row bring nothing new, a schema counts as exhausted. A stream that was asked for more is
  then a `WorkloadError` of the kind "exhausted", after it gave all that there were; with the count None it just ends.

The small schemas are exhausted soon, as those of Cao 2012, section 3.4 are: there, with depth 6, p(*) = 0.1 and p(//) = 0.2,
book.dtd gave 910 queries and bib.dtd 747. Our book gives some 4,000, by the seed, and our bib 800 to 900.

>>> from pathcast.generators.bundled import bundled_schema
>>> for text in subscriptions(bundled_schema("book"), SubscriptionOptions(max_depth=4), seed=1, count=4):
...     print(text)
/*/section//figure
//book
/book/title
/book
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from pathcast.errors import WorkloadError
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions.options import PredicateKinds, SubscriptionOptions
from pathcast.generators.subscriptions.profiles import profiles
from pathcast.generators.subscriptions.ratio import Steered, samples_for
from pathcast.generators.subscriptions.twigs import Twigs
from pathcast.rng import SeededRandom
from pathcast.schema import Schema

__all__ = [
    "PATIENCE",
    "PredicateKinds",
    "SubscriptionOptions",
    "Subscriptions",
    "subscriptions",
]

PATIENCE = 5_000  # draws in a row that bring nothing new, until a schema counts as exhausted
_TRIES = 8  # in one place in a row, until one is new
_WINDOW = 1000  # draws after which the lengths are weighed again
_MEMORY = 20  # what was known of a length counts as so many draws
_LEAST = 0.0001  # the least that a length is drawn, against one of which every draw is new


def subscriptions(
    schemas: Schema | Sequence[Schema],
    options: SubscriptionOptions | None = None,
    seed: int = 0,
    count: int | None = None,
    *,
    documents: DocumentOptions | None = None,
) -> Subscriptions:
    """So many subscriptions as XPath texts, or as many as there are (endless ones, if not distinct).

    `documents` says what documents a match ratio is for; it is measured on the first ones of the same seed.
    """
    options = SubscriptionOptions() if options is None else options
    given = [schemas] if isinstance(schemas, Schema) else list(schemas)
    if not given:
        raise WorkloadError("option", "no schema is given")
    if count is not None and count < 0:
        raise WorkloadError("option", f"there cannot be {count} subscriptions")
    return Subscriptions(given, options, seed, count, documents)


class Subscriptions:
    """The iterator. `given` counts what came out; `achieved` is its match ratio, if one was asked for."""

    def __init__(
        self,
        schemas: Sequence[Schema],
        options: SubscriptionOptions,
        seed: int,
        count: int | None,
        documents: DocumentOptions | None = None,
    ) -> None:
        self.given = 0
        self._count = count
        self._options = options
        rng = SeededRandom(seed, "subscriptions")
        self._sources = [_Source(one, options, rng) for one in schemas]
        self._stream: Iterator[str] = _stream(self._sources, options.distinct)
        self._steered: Steered | None = None
        if options.match_ratio is not None:
            each = -(-samples_for(options.match_ratio) // len(schemas))
            made = [Documents(schema, documents, seed) for schema in schemas]
            samples = [one[number] for one in made for number in range(each)]
            self._stream = self._steered = Steered(self._stream, samples, options.match_ratio)

    @property
    def achieved(self) -> float | None:
        return None if self._steered is None else self._steered.achieved

    def __iter__(self) -> Subscriptions:
        return self

    def __next__(self) -> str:
        if self.given == self._count:
            raise StopIteration
        for text in self._stream:
            self.given += 1
            return text
        if self._count is None:
            raise StopIteration
        raise self._exhausted(self._count)

    def _exhausted(self, count: int) -> WorkloadError:
        each = ", ".join(f"{source.name} {source.given:,}" for source in self._sources)
        ratio = (
            "" if self._steered is None else f" and a match ratio of {self._options.match_ratio}"
        )
        return WorkloadError(
            "exhausted",
            f"only {self.given:,} distinct subscriptions were found with these options{ratio}, not {count:,}: "
            f"the last {PATIENCE:,} draws brought nothing new (distinct ones drawn: {each})",
            hint="ask for fewer, or for all that can be found (--count all); allow --duplicates; or raise the "
            "depth, p(*), p(//), branches or predicates",
        )


class _Source:
    """One schema, and what its draws brought."""

    def __init__(self, schema: Schema, options: SubscriptionOptions, rng: SeededRandom) -> None:
        self.name = schema.name
        self.given = 0
        self._rng = rng
        self._profiles: Iterator[str] | None = None
        if options.disjoint is not None:
            self._profiles = profiles(schema, options.disjoint, options.theta, rng)
        self._twigs = Twigs(schema, options)
        low = options.max_depth if options.full else options.min_depth
        self._lengths = range(low, options.max_depth + 1)
        # What is drawn from: walks of each length, and where they are plain, of each beginning.
        begun = self._twigs.sectors if self._twigs.plain else [((), 1.0)]
        self._arms = [(length, begin) for length in self._lengths for begin, _ in begun]
        self._weights = [share for _ in self._lengths for _, share in begun]
        self._drawn = [0] * len(self._arms)
        self._brought = [0] * len(self._arms)
        self._rates = [1.0] * len(self._arms)
        self._sums = _shares(self._weights)
        self._left = _WINDOW

    def any(self) -> str:
        """The next, new or not."""
        if self._profiles is not None:
            return next(self._profiles)
        rng = self._rng
        wish = self._twigs.wish(rng)
        for _ in range(PATIENCE):
            text = self._twigs.draw(rng, rng.pick(self._lengths), wish)
            if text is not None:
                return text
        raise self._impossible()

    def new(self, seen: set[str]) -> str | None:
        """The next that was not seen; None if the schema is exhausted."""
        if self._profiles is not None:
            drawn = (next(self._profiles) for _ in range(PATIENCE))
            return next((text for text in drawn if text not in seen), None)
        rng, twigs = self._rng, self._twigs
        if twigs.plain:
            return self._plain(seen)
        wish = twigs.wish(rng)
        made = False
        for _ in range(PATIENCE):
            if not self._left:
                self._weigh()
            self._left -= 1
            which = bisect_right(self._sums, rng.random())
            text = twigs.draw(rng, self._arms[which][0], wish)
            self._drawn[which] += 1
            if text is None:
                continue
            if text not in seen:
                self._brought[which] += 1
                return text
            made = True
            wish = twigs.wish(rng)
        if not made:
            raise self._impossible()
        return None

    def _plain(self, seen: set[str]) -> str | None:
        """The same for paths without branches and predicates, several tries at a time."""
        rng, twigs = self._rng, self._twigs
        spent = 0
        while spent < PATIENCE:
            if self._left <= 0:
                self._weigh()
            which = bisect_right(self._sums, rng.random())
            length, begin = self._arms[which]
            text = twigs.fresh(rng, length, seen, _TRIES, begin)
            spent += twigs.spent
            self._left -= twigs.spent
            self._drawn[which] += twigs.spent
            if text is not None:
                self._brought[which] += 1
                return text
        if not self.given:
            raise self._impossible()
        return None

    def _impossible(self) -> WorkloadError:
        return WorkloadError(
            "impossible",
            f"{PATIENCE:,} walks through {self.name} gave no subscription with these options",
            hint="ask for fewer branches or predicates, for other kinds of predicates, or a lower least depth",
        )

    def _weigh(self) -> None:
        """What is drawn from is weighed by the share of its draws that lately was new."""
        counts = zip(self._rates, self._brought, self._drawn, strict=True)
        self._rates = [
            max((_MEMORY * known + new) / (_MEMORY + drawn), _LEAST) for known, new, drawn in counts
        ]
        self._sums = _shares([a * b for a, b in zip(self._weights, self._rates, strict=True)])
        self._brought = [0] * len(self._arms)
        self._drawn = [0] * len(self._arms)
        self._left = _WINDOW


def _shares(weights: list[float]) -> list[float]:
    """What bisect chooses by; the last sum is left out, so that rounding cannot lead beyond the end."""
    total = sum(weights)
    return [one / total for one in accumulate(weights)][:-1]


def _stream(sources: list[_Source], distinct: bool) -> Iterator[str]:
    live = list(sources)
    seen: set[str] = set()
    turn = 0
    while live:
        source = live[turn % len(live)]
        text = source.new(seen) if distinct else source.any()
        if text is None:
            live.remove(source)
            continue
        if distinct:
            seen.add(text)
        source.given += 1
        turn += 1
        yield text
