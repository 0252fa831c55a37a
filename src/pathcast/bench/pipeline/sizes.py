"""Sizes of the pipeline benchmark.

A turn has `documents` times `passes` documents. A quick run generates fewer and matches them
several times, so that the constant cost of a job (about a fifth of a second for planning and tasks)
has the same weight as in a full run.

>>> FULL.documents_per_turn == QUICK.documents_per_turn
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FULL", "QUICK", "PipelineSizes"]


@dataclass(frozen=True, slots=True)
class PipelineSizes:
    """The amounts of a run; the targets are for the defaults."""

    documents: int = 20_000
    passes: int = 1
    subscriptions: int = 100_000
    subscribers: int = 5_000
    files: int = 8
    warm: int = 40
    """Small steps that are not counted: Java compiles its code after many repetitions."""
    rounds: int = 7
    sinks: int = 3  # rounds with sinks, which take longer
    batch_sizes: tuple[int, ...] = (1, 100, 1_000)
    """Documents in a batch of the latency part."""
    batch_subscriptions: int = 10_000
    batch_rounds: int = 21
    api_documents: int = 5_000
    planted_batches: int = 10_000
    few_old_files: int = 1_000
    many_old_files: int = 100_000
    idle_seconds: int = 30
    delivered: int = 40  # documents of the outbox part
    held: int = 1_000_000  # subscriptions of the memory part
    sent: int = 400  # documents of the memory part

    @property
    def documents_per_turn(self) -> int:
        return self.documents * self.passes


FULL: Final = PipelineSizes()
QUICK: Final = PipelineSizes(
    documents=4_000,
    passes=5,
    warm=20,
    rounds=3,
    sinks=1,
    batch_rounds=7,
    planted_batches=1_000,
    many_old_files=20_000,
    idle_seconds=10,
    delivered=10,
    held=200_000,
)
