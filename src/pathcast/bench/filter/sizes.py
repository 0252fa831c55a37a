"""How much is measured, and how the sets of a part are picked for it.

Targets are for sets of 1,000 up to a million. A quick run leaves out those above `largest`; `divide` makes all of them smaller,
which is for looking whether everything runs.

>>> QUICK.of({1_000: 0.75, 1_000_000: 0.1})
[Size(nominal=1000, count=1000, target=0.75, note='1,000,000 left out')]
>>> Sizes(divide=100).of({1_000: 0.75})[0].note
'the target is for 1,000'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "Size", "Sizes"]


@dataclass(frozen=True, slots=True)
class Size:
    """A set of so many subscriptions, the target for it, and what is to be said of both."""

    nominal: int
    count: int
    target: float
    note: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """The numbers of a run."""

    divide: int = 1
    largest: int = 1_000_000
    documents: int = 400
    rounds: int = 9
    others: int = 2_000  # documents before those that were never seen
    block: int = 200  # of those in a round
    looped: int = 400_000  # evaluations of a loop over XPath objects in a round, about
    passes: int = 5  # over the documents, in a round of churn
    wall: int = 25  # the same, in a round of two processes

    @property
    def pool(self) -> int:
        """Sets up to this size are drawn from so many subscriptions."""
        return 100_000 // self.divide

    def of(self, targets: Mapping[int, float]) -> list[Size]:
        """Those that are measured; the last one says which were left out."""
        kept = {nominal: target for nominal, target in targets.items() if nominal <= self.largest}
        left = [f"{nominal:,} left out" for nominal in targets if nominal not in kept]
        found = []
        for nominal, target in kept.items():
            notes = [f"the target is for {nominal:,}"] if self.divide > 1 else []
            notes += left if nominal == max(kept) else []
            found.append(Size(nominal, nominal // self.divide, target, "; ".join(notes)))
        return found


FULL = Sizes()
QUICK = Sizes(largest=100_000, documents=150, rounds=5, block=60, looped=100_000, wall=20)
