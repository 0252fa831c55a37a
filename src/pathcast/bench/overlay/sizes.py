"""How much is measured; the targets are for the full sizes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "Reading", "Sizes"]


@dataclass(frozen=True, slots=True)
class Reading:
    """An overlay of the paper: a binary tree of so many levels, so many subscriptions for each leaf, and what was published for it."""

    name: str
    levels: int
    each: int
    published: str  # which table
    target: bool = True  # whether it can come to the published share: see `traffic`


@dataclass(frozen=True, slots=True)
class Sizes:
    readings: tuple[Reading, ...]
    documents: int
    entries: int  # of tables whose routing time is measured
    paths: int
    rounds: int
    transits: int  # of the large overlay
    stubs: int
    stub_size: int
    subscriptions: int


_SEVEN = Reading("7 brokers, 1,000 each", 3, 1_000, "2")
_TOTAL = Reading("127 brokers, 1,024 in all", 7, 16, "3", target=False)
_EACH = Reading("127 brokers, 1,000 each", 7, 1_000, "3")

FULL = Sizes((_SEVEN, _TOTAL, _EACH), 50, 100_000, 200, 5, 10, 11, 9, 100_000)
QUICK = Sizes((_SEVEN, _TOTAL), 5, 10_000, 20, 3, 5, 5, 4, 5_000)
