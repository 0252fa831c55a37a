"""Sizes of the overlay benchmark; the targets are for the full sizes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "OverlaySizes", "TableReading"]


@dataclass(frozen=True, slots=True)
class TableReading:
    """An interpretation of a published table: a binary tree with subscriptions at each leaf."""

    name: str
    levels: int
    subscriptions_per_leaf: int
    table: str  # of Li 2008
    target: bool = True  # whether the published share is attainable: see `traffic`


@dataclass(frozen=True, slots=True)
class OverlaySizes:
    """The amounts of a run."""

    readings: tuple[TableReading, ...]
    documents: int
    entries: int  # of the tables whose routing time is measured
    paths: int
    rounds: int
    transits: int  # of the large overlay
    stubs: int
    stub_size: int
    subscriptions: int


_SEVEN = TableReading("7 brokers, 1,000 each", 3, 1_000, "2")
_TOTAL = TableReading("127 brokers, 1,024 in all", 7, 16, "3", target=False)
_EACH = TableReading("127 brokers, 1,000 each", 7, 1_000, "3")

FULL = OverlaySizes((_SEVEN, _TOTAL, _EACH), 50, 100_000, 200, 5, 10, 11, 9, 100_000)
QUICK = OverlaySizes((_SEVEN, _TOTAL), 5, 10_000, 20, 3, 5, 5, 4, 5_000)
