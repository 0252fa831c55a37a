"""Inputs of the filter benchmark: sets of subscriptions, and documents.

A stream of distinct subscriptions begins with short and common ones. With p(*) = p(//) = 0.2 and
depths up to 10, a document of the news schema matches 41% of the first 1,000, 24% of the first
10,000, 12% of the first 100,000 and 6% of a million. So the sets up to 100,000 are drawn evenly
from the first 100,000 of the stream and match like those; the million is the stream itself. (Walks
of maximal depth, the preset miliaraki2008-nitf, would match 3.5% of a million.)

Alerts (`alerts`) have one to three value predicates and match rarely. Templates are subscriptions
that differ in their constants only.

A mixed set has a third each of linear paths, paths with one value predicate, and twigs of two and
three branches. Generated texts are kept, because twigs take long to generate, and their fingerprint
is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from pathcast.bench.filter.alerts import alert_documents, alert_subscriptions
from pathcast.bench.report import fingerprint
from pathcast.errors import WorkloadError
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.schema import Schema

__all__ = ["DOCUMENT_BYTES", "FilterInputs"]

DOCUMENT_BYTES = 7_000
_SUBSCRIPTION_SEED, _DOCUMENT_SEED = 1, 2
_LINEAR = SubscriptionOptions(max_depth=10, wildcard=0.2, descendant=0.2)
_VALUES = replace(_LINEAR, predicate=1.0)
_TWIGS = tuple(
    replace(_LINEAR, branching="query", branch=1.0, branches=branches) for branches in (2, 3)
)
_CONSTANTS = 10  # of each template
_CONSTANT = re.compile(r"\b[0-9]+(?:\.[0-9]+)?\b|(?<=')[^']*(?=')")


class _TextStream:
    """Generated texts in order, extended on demand."""

    def __init__(self, schema: Schema, options: SubscriptionOptions) -> None:
        self._source: Iterator[str] = subscriptions(schema, options, _SUBSCRIPTION_SEED)
        self._texts: list[str] = []

    def first(self, count: int) -> list[str]:
        self._texts += islice(self._source, max(0, count - len(self._texts)))
        if len(self._texts) < count:
            raise WorkloadError(
                "exhausted",
                f"the schema has {len(self._texts):,} distinct subscriptions of this kind,"
                f" not {count:,}",
                hint="measure less of it (--quick, --only)",
            )
        return self._texts[:count]

    def evenly(self, count: int, pool: int) -> list[str]:
        """Return `count` texts, evenly spaced over the first `pool`."""
        pool = max(count, pool)
        return self.first(pool)[:: pool // count][:count]


@dataclass(slots=True)
class FilterInputs:
    """Subscriptions and documents of a schema, with the fingerprints of those that were used."""

    schema: Schema
    pool: int
    fingerprints: dict[str, str] = field(default_factory=dict)
    _streams: dict[SubscriptionOptions, _TextStream] = field(default_factory=dict)
    _documents: Documents | None = None

    def linear(self, count: int) -> list[str]:
        return self._record(f"linear, {count:,}", self._stream(_LINEAR).evenly(count, self.pool))

    def spare(self, count: int) -> list[str]:
        """Return linear subscriptions that are in no set of the pool."""
        texts = self._stream(_LINEAR).first(self.pool + count)[self.pool :]
        return self._record(f"linear, {count:,} others", texts)

    def mixed_set(self, count: int) -> list[str]:
        """Return a mixed set in which the kinds alternate."""
        third = count // 3
        shares = {_LINEAR: count - 2 * third, _VALUES: third}
        shares |= {_TWIGS[0]: third - third // 2, _TWIGS[1]: third // 2}
        # Each kind is spread evenly over its share of the largest mixed set.
        kinds = [
            self._stream(options).evenly(share, share * max(1, self.pool // count))
            for options, share in shares.items()
        ]
        linear, values, twigs = kinds[0], kinds[1], kinds[2] + kinds[3]
        turns = zip(linear, values, twigs, strict=False)
        texts = [*chain.from_iterable(turns), *linear[third:]]
        assert len(set(texts)) == count, "the subscriptions must be distinct"
        return self._record(f"mixed, {count:,}", texts)

    def alerts(self, count: int) -> list[str]:
        """Return selective subscriptions."""
        return self._record(f"alerts, {count:,}", alert_subscriptions(count))

    def alert_documents(self, count: int) -> list[bytes]:
        return self.record_documents(f"documents of alerts, {count:,}", alert_documents(count))

    def templates(self, count: int) -> list[str]:
        """Return subscriptions with predicates: ten constants each for a tenth of the shapes."""
        shapes = self._shapes(_VALUES, max(1, count // _CONSTANTS))
        texts = [
            _CONSTANT.sub(str(100 + number), shape)
            for shape in shapes
            for number in range(_CONSTANTS)
        ]
        return self._record(f"templates, {count:,}", texts[:count])

    def distinct_shapes(self, count: int) -> list[str]:
        """Return subscriptions with predicates, no two of which differ in constants only."""
        values = self._shapes(_VALUES, count - count // 2)
        return self._record(f"shapes, {count:,}", values + self._shapes(_TWIGS[0], count // 2))

    def _shapes(self, options: SubscriptionOptions, count: int) -> list[str]:
        shapes: dict[str, str] = {}
        wanted = count
        while len(shapes) < count:
            for text in self._stream(options).first(wanted):
                shapes.setdefault(_CONSTANT.sub("0", text), text)
            wanted *= 2
        return list(shapes.values())[:count]

    def documents(self, count: int, first: int = 0) -> list[bytes]:
        if self._documents is None:
            self._documents = Documents(
                self.schema, DocumentOptions(size=DOCUMENT_BYTES), _DOCUMENT_SEED
            )
        bodies = [self._documents[number] for number in range(first, first + count)]
        return self.record_documents(f"documents {first:,} to {first + count - 1:,}", bodies)

    def record_documents(self, name: str, bodies: list[bytes]) -> list[bytes]:
        """Record the fingerprint of documents, and return them."""
        self.fingerprints[name] = fingerprint(bodies)
        return bodies

    def _stream(self, options: SubscriptionOptions) -> _TextStream:
        if options not in self._streams:
            self._streams[options] = _TextStream(self.schema, options)
        return self._streams[options]

    def _record(self, name: str, texts: list[str]) -> list[str]:
        if name not in self.fingerprints:
            self.fingerprints[name] = fingerprint(text.encode() for text in texts)
        return texts
