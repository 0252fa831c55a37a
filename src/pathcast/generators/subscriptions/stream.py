"""Seeded stream of subscriptions from one or more DTDs, distinct or not.

    schemas -> walks -> trees -> weakened queries -> texts -> distinct -> match ratio -> stream

`sampler` draws one subscription; this module draws a stream:

- The stream depends on the schemas, the options and the seed only: the first ten of a hundred are
  the ten of a run of ten.
- Several schemas take turns. An exhausted schema drops out.
- Distinct means that no text repeats. Branches have a canonical order, so two texts are two
  patterns, except for equivalent wildcards (`//*/a`, `/*//a`). The texts so far are kept for this,
  some 150 bytes each; without `distinct` nothing is kept.
- A distinct stream soon contains all short subscriptions, and most draws would be duplicates. So a
  length and a start of the walk (an *arm*) are drawn first, in proportion to their probability
  times the share of new texts among their recent draws, and then walks until one is new. The
  distribution is that of rejection sampling, with half of the draws.
- The shares of `*` and `//` in a distinct set differ from p(*) and p(//), because a frequent text
  counts once. Of 100,000 on news, with depth 10 and 0.2 each, 0.21 and 0.19 of the steps have them.
- After `MAX_FUTILE_DRAWS` draws in a row without a new text, a schema is exhausted. If more were
  requested, the stream raises a `WorkloadError` of the kind "exhausted" after the last text; with
  the count None it ends.

Small schemas are exhausted soon, like those of Cao 2012, section 3.4: with depth 6, p(*) = 0.1 and
p(//) = 0.2, book.dtd gave 910 queries and bib.dtd 747. The bundled book gives some 4,000, depending
on the seed, and bib 800 to 900.

>>> from pathcast.generators.bundled import bundled_schema
>>> options = SubscriptionOptions(max_depth=4)
>>> for text in subscriptions(bundled_schema("book"), options, seed=1, count=4):
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

MAX_FUTILE_DRAWS = 5_000  # consecutive draws without a new text, until a schema is exhausted
_TRIES_PER_ARM = 8  # consecutive draws from one arm, until one is new
_WINDOW = 1000  # draws between two updates of the weights
_PRIOR_DRAWS = 20  # weight of an arm's previous rate, in draws
_MIN_RATE = 0.0001  # lower bound on the rate of new texts of an arm


def subscriptions(
    schemas: Schema | Sequence[Schema],
    options: SubscriptionOptions | None = None,
    seed: int = 0,
    count: int | None = None,
    *,
    documents: DocumentOptions | None = None,
) -> Subscriptions:
    """Return `count` subscriptions as XPath texts, or all (endless if not distinct).

    `documents` are the options of the documents that a match ratio refers to; it is measured on the
    first documents of the same seed.
    """
    options = SubscriptionOptions() if options is None else options
    schema_list = [schemas] if isinstance(schemas, Schema) else list(schemas)
    if not schema_list:
        raise WorkloadError("option", "no schema is given")
    if count is not None and count < 0:
        raise WorkloadError("option", f"there cannot be {count} subscriptions")
    return Subscriptions(schema_list, options, seed, count, documents)


class Subscriptions:
    """Iterator over subscriptions; `yielded` counts them, `achieved_ratio` is their match ratio."""

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
            samples = [generator[number] for generator in generators for number in range(each)]
            self._stream = self._ratio_filter = RatioFilter(
                self._stream, samples, options.match_ratio
            )

    @property
    def achieved_ratio(self) -> float | None:
        return None if self._ratio_filter is None else self._ratio_filter.achieved_ratio

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
        raise self._exhausted_error(self._count)

    def _exhausted_error(self, count: int) -> WorkloadError:
        each = ", ".join(f"{source.name} {source.yielded:,}" for source in self._sources)
        ratio = (
            ""
            if self._ratio_filter is None
            else f" and a match ratio of {self._options.match_ratio}"
        )
        return WorkloadError(
            "exhausted",
            f"only {self.yielded:,} distinct subscriptions were found with these options{ratio}, "
            f"not {count:,}: the last {MAX_FUTILE_DRAWS:,} draws brought nothing new "
            f"(distinct ones drawn: {each})",
            hint="ask for fewer, or for all that can be found (--count all); allow --duplicates; "
            "or raise the depth, p(*), p(//), branches or predicates",
        )


class _SchemaSource:
    """Draws from one schema, with adaptive weights for its arms."""

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
        # Arms: walks of each length and, for linear paths, of each start.
        starts = self._sampler.sectors if self._sampler.linear_only else [((), 1.0)]
        self._arms = [(length, start) for length in self._lengths for start, _ in starts]
        self._weights = [share for _ in self._lengths for _, share in starts]
        self._draws = [0] * len(self._arms)
        self._new_draws = [0] * len(self._arms)
        self._rates = [1.0] * len(self._arms)
        self._sums = _shares(self._weights)
        self._draws_until_update = _WINDOW

    def draw(self) -> str:
        """Draw the next subscription, new or not."""
        if self._profiles is not None:
            return next(self._profiles)
        rng = self._rng
        required_parts = self._sampler.draw_required_parts(rng)
        for _ in range(MAX_FUTILE_DRAWS):
            text = self._sampler.draw(rng, rng.pick(self._lengths), required_parts)
            if text is not None:
                return text
        raise self._impossible_error()

    def draw_new(self, seen: set[str]) -> str | None:
        """Draw a subscription that is not in `seen`; None if the schema is exhausted."""
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
            raise self._impossible_error()
        return None

    def _draw_new_path(self, seen: set[str]) -> str | None:
        """Draw a new linear path, with several tries per arm."""
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
            raise self._impossible_error()
        return None

    def _impossible_error(self) -> WorkloadError:
        return WorkloadError(
            "impossible",
            f"{MAX_FUTILE_DRAWS:,} walks through {self.name} gave no subscription "
            f"with these options",
            hint="ask for fewer branches or predicates, for other kinds of predicates, "
            "or a lower least depth",
        )

    def _update_weights(self) -> None:
        """Weight the arms by the share of new texts among their recent draws."""
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
    """Return normalised cumulative weights for bisect, without the last."""
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
