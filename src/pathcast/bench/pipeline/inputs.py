"""Inputs of the pipeline benchmark: documents of 5 to 10 KB and selective subscriptions.

Both use the news schema. Short paths match many documents, so the set for speed has paths of 8 to
10 steps, with p(*) = p(//) = 0.2: a document matches about 0.4% of 100,000. The set for memory is
that of the filter benchmark: all lengths, a million of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pathcast.bench.filter.inputs import FilterInputs
from pathcast.bench.report import fingerprint
from pathcast.files import Subscription
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.schema import Schema

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["PipelineInputs", "build_version"]

_SUBSCRIPTION_SEED, _DOCUMENT_SEED = 1, 2
_DOCUMENT_SIZES = range(5_400, 9_401, 1_000)  # approximate bytes, in rotation
_SELECTIVE = SubscriptionOptions(max_depth=10, min_depth=8, full=True, wildcard=0.2, descendant=0.2)
_POOL = 100_000


@dataclass(slots=True)
class PipelineInputs:
    """Documents and subscriptions, with the fingerprints of those that were used."""

    schema: Schema = field(default_factory=lambda: bundled_schema("news"))
    fingerprints: dict[str, str] = field(default_factory=dict)

    def documents(self, count: int) -> list[bytes]:
        sources = [
            Documents(self.schema, DocumentOptions(size=size), _DOCUMENT_SEED)
            for size in _DOCUMENT_SIZES
        ]
        bodies = [sources[number % len(sources)][number] for number in range(count)]
        self.fingerprints[f"{count:,} documents"] = fingerprint(bodies)
        return bodies

    def selective(self, count: int) -> list[str]:
        """Return subscriptions that match few documents."""
        texts = list(subscriptions(self.schema, _SELECTIVE, _SUBSCRIPTION_SEED, count))
        self.fingerprints[f"{count:,} subscriptions"] = fingerprint(text.encode() for text in texts)
        return texts

    def linear(self, count: int) -> list[str]:
        """Return paths of all lengths."""
        source = FilterInputs(self.schema, min(count, _POOL))
        texts = source.linear(count)
        self.fingerprints |= source.fingerprints
        return texts


def build_version(texts: Sequence[str], folder: Path, subscribers: int | None = None) -> Version:
    """Compile the texts into a folder; `subscribers` share them in rotation."""
    from pathcast.pipeline.versions import compile_version

    return compile_version(_subscriptions(texts, subscribers), folder)


def _subscriptions(texts: Sequence[str], subscribers: int | None) -> Iterator[Subscription]:
    for number, text in enumerate(texts):
        owner = number if subscribers is None else f"reader-{number % subscribers}"
        yield Subscription(number, text, subscriber=owner)
