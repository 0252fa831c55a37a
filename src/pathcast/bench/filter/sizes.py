"""Sizes of the benchmark, and the sets that a part measures.

Targets are for sets of 1,000 up to a million subscriptions. A quick run omits those above
`largest`. `divide` makes all sets smaller, for tests of the benchmark itself.

>>> QUICK.of({1_000: 0.75, 1_000_000: 0.1})
[TargetSize(nominal=1000, count=1000, target=0.75, note='1,000,000 left out')]
>>> FilterSizes(divide=100).of({1_000: 0.75})[0].note
'the target is for 1,000'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "FilterSizes", "TargetSize"]


@dataclass(frozen=True, slots=True)
class TargetSize:
    """A set of `count` subscriptions with its target and a note for the report."""

    nominal: int
    count: int
    target: float
    note: str


@dataclass(frozen=True, slots=True)
class FilterSizes:
    """The amounts of a run."""

    divide: int = 1
    largest: int = 1_000_000
    documents: int = 400
    rounds: int = 9
    others: int = 2_000  # documents before the unseen ones
    block: int = 200  # unseen documents in a round
    looped: int = 400_000  # approximate evaluations per round of a loop over XPath objects
    passes: int = 5  # over the documents, in a round of churn
    wall: int = 25  # passes over the documents, in a round of two processes

    @property
    def pool(self) -> int:
        """Return the number of subscriptions from which sets up to that size are drawn."""
        return 100_000 // self.divide

    def of(self, targets: Mapping[int, float]) -> list[TargetSize]:
        """Return the sizes to measure; the note of the last one names those left out."""
        measured = {
            nominal: target for nominal, target in targets.items() if nominal <= self.largest
        }
        omitted = [f"{nominal:,} left out" for nominal in targets if nominal not in measured]
        sizes = []
        for nominal, target in measured.items():
            notes = [f"the target is for {nominal:,}"] if self.divide > 1 else []
            notes += omitted if nominal == max(measured) else []
            sizes.append(TargetSize(nominal, nominal // self.divide, target, "; ".join(notes)))
        return sizes


FULL = FilterSizes()
QUICK = FilterSizes(largest=100_000, documents=150, rounds=5, block=60, looped=100_000, wall=20)
