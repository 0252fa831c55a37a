"""How much is measured.

A turn is `documents` times `passes` documents: a quick run makes fewer, and has them matched several times, so that the part of the cost
that does not grow with documents (a job, its plan and its tasks take a fifth of a second) weighs as much as in a full one.

>>> FULL.turn == QUICK.turn
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FULL", "QUICK", "Sizes"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The numbers of a run; the targets are for those that are here."""

    documents: int = 20_000
    passes: int = 1
    subscriptions: int = 100_000
    subscribers: int = 5_000
    files: int = 8
    warm: int = 40
    """Small steps that are not counted: Java needs many until it has compiled what it runs."""
    rounds: int = 7
    sinks: int = 3  # rounds with sinks, which take longer
    held: int = 1_000_000  # subscriptions that are spread
    sent: int = 400  # documents that are sent to them

    @property
    def turn(self) -> int:
        return self.documents * self.passes


FULL: Final = Sizes()
QUICK: Final = Sizes(documents=4_000, passes=5, warm=20, rounds=3, sinks=1, held=200_000)
