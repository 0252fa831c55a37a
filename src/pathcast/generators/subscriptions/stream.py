"""Subscriptions from DTDs: seeded, streamed, distinct or not, as many as are asked for.

    schemas -> walks -> trees -> dropped demands -> text -> new? -> match ratio -> stream

How one subscription is made is told in `sampler`. This module makes a stream of them:

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
- Where `MAX_FUTILE_DRAWS` draws in a row bring nothing new, a schema counts as exhausted. A stream that was asked for more is
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
from pathcast.generators.subscriptions.match_ratio import RatioFilter, sample_count
from pathcast.generators.subscriptions.options import PredicateKinds, SubscriptionOptions
from pathcast.generators.subscriptions.profiles import draw_profiles
from pathcast.generators.subscriptions.sampler import SubscriptionSampler
from pathcast.rng import SeededRandom
from pathcast.schema import Schema

__all__ = [
    "MAX_FUTILE_DRAWS",
    "PredicateKinds",
    "SubscriptionOptions",
    "Subscriptions",
    "subscriptions",
]

MAX_FUTILE_DRAWS = (
    5_000  # draws in a row that bring nothing new, until a schema counts as exhausted
)
_TRIES_PER_ARM = 8  # in one place in a row, until one is new
_WINDOW = 1000  # draws after which the lengths are weighed again
_PRIOR_DRAWS = 20  # what was known of a length counts as so many draws
_MIN_RATE = 0.0001  # the least that a length is drawn, against one of which every draw is new


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
    schema_list = [schemas] if isinstance(schemas, Schema) else list(schemas)
    if not schema_list:
        raise WorkloadError("option", "no schema is given")
    if count is not None and count < 0:
        raise WorkloadError("option", f"there cannot be {count} subscriptions")
    return Subscriptions(schema_list, options, seed, count, documents)


class Subscriptions:
    """The iterator. `yielded` counts what came out; `achieved` is its match ratio, if one was asked for."""

    def __init__(
        self,
        schemas: Sequence[Schema],
        options: SubscriptionOptions,
        seed: int,
        count: int | None,
        documents: DocumentOptions | None = None,
    ) -> None:
        self.yielded = 0
        self._count = count
        self._options = options
        rng = SeededRandom(seed, "subscriptions")
        self._sources = [_SchemaSource(schema, options, rng) for schema in schemas]
        self._stream: Iterator[str] = _stream(self._sources, options.distinct)
        self._ratio_filter: RatioFilter | None = None
        if options.match_ratio is not None:
            each = -(-sample_count(options.match_ratio) // len(schemas))
            generators = [Documents(schema, documents, seed) for schema in schemas]
            samples = [schema[number] for schema in generators for number in range(each)]
            self._stream = self._ratio_filter = RatioFilter(
                self._stream, samples, options.match_ratio
            )

    @property
    def achieved(self) -> float | None:
        return None if self._ratio_filter is None else self._ratio_filter.achieved

    def __iter__(self) -> Subscriptions:
        return self

    def __next__(self) -> str:
        if self.yielded == self._count:
            raise StopIteration
        for text in self._stream:
            self.yielded += 1
            return text
        if self._count is None:
            raise StopIteration
        raise self._exhausted(self._count)

    def _exhausted(self, count: int) -> WorkloadError:
        each = ", ".join(f"{source.name} {source.yielded:,}" for source in self._sources)
        ratio = (
            ""
            if self._ratio_filter is None
            else f" and a match ratio of {self._options.match_ratio}"
        )
        return WorkloadError(
            "exhausted",
            f"only {self.yielded:,} distinct subscriptions were found with these options{ratio}, not {count:,}: "
            f"the last {MAX_FUTILE_DRAWS:,} draws brought nothing new (distinct ones drawn: {each})",
            hint="ask for fewer, or for all that can be found (--count all); allow --duplicates; or raise the "
            "depth, p(*), p(//), branches or predicates",
        )


class _SchemaSource:
    """One schema, and what its draws brought."""

    def __init__(self, schema: Schema, options: SubscriptionOptions, rng: SeededRandom) -> None:
        self.name = schema.name
        self.yielded = 0
        self._rng = rng
        self._profiles: Iterator[str] | None = None
        if options.disjoint is not None:
            self._profiles = draw_profiles(schema, options.disjoint, options.theta, rng)
        self._sampler = SubscriptionSampler(schema, options)
        low = options.max_depth if options.full else options.min_depth
        self._lengths = range(low, options.max_depth + 1)
        # What is drawn from: walks of each length, and where they are plain, of each beginning.
        starts = self._sampler.sectors if self._sampler.linear_only else [((), 1.0)]
        self._arms = [(length, start) for length in self._lengths for start, _ in starts]
        self._weights = [share for _ in self._lengths for _, share in starts]
        self._draws = [0] * len(self._arms)
        self._new_draws = [0] * len(self._arms)
        self._rates = [1.0] * len(self._arms)
        self._sums = _shares(self._weights)
        self._draws_until_update = _WINDOW

    def draw(self) -> str:
        """The next, new or not."""
        if self._profiles is not None:
            return next(self._profiles)
        rng = self._rng
        required_parts = self._sampler.draw_required_parts(rng)
        for _ in range(MAX_FUTILE_DRAWS):
            text = self._sampler.draw(rng, rng.pick(self._lengths), required_parts)
            if text is not None:
                return text
        raise self._impossible()

    def draw_new(self, seen: set[str]) -> str | None:
        """The next that was not seen; None if the schema is exhausted."""
        if self._profiles is not None:
            draws = (next(self._profiles) for _ in range(MAX_FUTILE_DRAWS))
            return next((text for text in draws if text not in seen), None)
        rng, sampler = self._rng, self._sampler
        if sampler.linear_only:
            return self._draw_new_path(seen)
        required_parts = sampler.draw_required_parts(rng)
        any_drawn = False
        for _ in range(MAX_FUTILE_DRAWS):
            if not self._draws_until_update:
                self._update_weights()
            self._draws_until_update -= 1
            arm = bisect_right(self._sums, rng.random())
            text = sampler.draw(rng, self._arms[arm][0], required_parts)
            self._draws[arm] += 1
            if text is None:
                continue
            if text not in seen:
                self._new_draws[arm] += 1
                return text
            any_drawn = True
            required_parts = sampler.draw_required_parts(rng)
        if not any_drawn:
            raise self._impossible()
        return None

    def _draw_new_path(self, seen: set[str]) -> str | None:
        """The same for paths without branches and predicates, several tries at a time."""
        rng, sampler = self._rng, self._sampler
        spent = 0
        while spent < MAX_FUTILE_DRAWS:
            if self._draws_until_update <= 0:
                self._update_weights()
            arm = bisect_right(self._sums, rng.random())
            length, start = self._arms[arm]
            text = sampler.draw_new_path(rng, length, seen, _TRIES_PER_ARM, start)
            spent += sampler.tries_used
            self._draws_until_update -= sampler.tries_used
            self._draws[arm] += sampler.tries_used
            if text is not None:
                self._new_draws[arm] += 1
                return text
        if not self.yielded:
            raise self._impossible()
        return None

    def _impossible(self) -> WorkloadError:
        return WorkloadError(
            "impossible",
            f"{MAX_FUTILE_DRAWS:,} walks through {self.name} gave no subscription with these options",
            hint="ask for fewer branches or predicates, for other kinds of predicates, or a lower least depth",
        )

    def _update_weights(self) -> None:
        """What is drawn from is weighed by the share of its draws that lately was new."""
        counts = zip(self._rates, self._new_draws, self._draws, strict=True)
        self._rates = [
            max((_PRIOR_DRAWS * rate + new) / (_PRIOR_DRAWS + draws), _MIN_RATE)
            for rate, new, draws in counts
        ]
        self._sums = _shares([a * b for a, b in zip(self._weights, self._rates, strict=True)])
        self._new_draws = [0] * len(self._arms)
        self._draws = [0] * len(self._arms)
        self._draws_until_update = _WINDOW


def _shares(weights: list[float]) -> list[float]:
    """What bisect chooses by; the last sum is left out, so that rounding cannot lead beyond the end."""
    total = sum(weights)
    return [partial / total for partial in accumulate(weights)][:-1]


def _stream(sources: list[_SchemaSource], distinct: bool) -> Iterator[str]:
    live = list(sources)
    seen: set[str] = set()
    turn = 0
    while live:
        source = live[turn % len(live)]
        text = source.draw_new(seen) if distinct else source.draw()
        if text is None:
            live.remove(source)
            continue
        if distinct:
            seen.add(text)
        source.yielded += 1
        turn += 1
        yield text
