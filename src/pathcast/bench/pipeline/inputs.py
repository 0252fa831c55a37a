"""What goes in: documents of 5 to 10 KB, and subscriptions of which a document matches few, both of the news schema.

Short paths match many documents, so the set for speed has paths of 8 to 10 steps, with p(*) = p(//) = 0.2: a document matches about
0.4% of 100,000 such. The set for memory is the one of the benchmark of the filter: all lengths, a million of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pathcast.bench.filter.inputs import Inputs as FilterInputs
from pathcast.bench.report import fingerprint
from pathcast.files import Subscription
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.schema import Schema

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["Inputs", "version_of"]

_TEXTS, _BODIES = 1, 2  # seeds
_SIZES = range(5_400, 9_401, 1_000)  # bytes to come close to, in turns
_FEW = SubscriptionOptions(max_depth=10, min_depth=8, full=True, wildcard=0.2, descendant=0.2)
_POOL = 100_000


@dataclass(slots=True)
class Inputs:
    """Documents and subscriptions, with the fingerprints of those that were handed out."""

    schema: Schema = field(default_factory=lambda: bundled_schema("news"))
    prints: dict[str, str] = field(default_factory=dict)

    def documents(self, count: int) -> list[bytes]:
        made = [Documents(self.schema, DocumentOptions(size=size), _BODIES) for size in _SIZES]
        bodies = [made[number % len(made)][number] for number in range(count)]
        self.prints[f"{count:,} documents"] = fingerprint(bodies)
        return bodies

    def selective(self, count: int) -> list[str]:
        """Those that match few documents."""
        texts = list(subscriptions(self.schema, _FEW, _TEXTS, count))
        self.prints[f"{count:,} subscriptions"] = fingerprint(text.encode() for text in texts)
        return texts

    def linear(self, count: int) -> list[str]:
        """Paths of all lengths."""
        made = FilterInputs(self.schema, min(count, _POOL))
        texts = made.linear(count)
        self.prints |= made.prints
        return texts


def version_of(texts: Sequence[str], folder: Path, subscribers: int | None = None) -> Version:
    """Compile the texts into a folder; with `subscribers`, these have them in turns."""
    from pathcast.pipeline.versions import compile_version

    return compile_version(_numbered(texts, subscribers), folder)


def _numbered(texts: Sequence[str], subscribers: int | None) -> Iterator[Subscription]:
    for number, text in enumerate(texts):
        owner = number if subscribers is None else f"reader-{number % subscribers}"
        yield Subscription(number, text, subscriber=owner)
