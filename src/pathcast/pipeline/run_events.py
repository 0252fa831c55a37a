"""The events of a run, which its caller displays or measures."""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.errors import PathcastError
from pathcast.pipeline.batch_log import BatchOutcome
from pathcast.pipeline.subscriptions import RejectedRow

__all__ = [
    "BatchDone",
    "ManyFilesStaged",
    "RunEvent",
    "StrategyChosen",
    "StreamIdle",
    "SubscriptionsLoaded",
    "SubscriptionsRejected",
]


@dataclass(frozen=True, slots=True)
class SubscriptionsLoaded:
    """A version is in use from the next batch on; `skipped` lists its rejected rows."""

    version: str
    subscriptions: int
    skipped: tuple[RejectedRow, ...]


@dataclass(frozen=True, slots=True)
class SubscriptionsRejected:
    """Changed subscriptions could not be compiled; the previous version stays in use.

    Emitted once for each change of the files.
    """

    error: PathcastError


@dataclass(frozen=True, slots=True)
class StrategyChosen:
    """How a version is matched: documents partitioned, or subscriptions in this many fragments."""

    version: str
    partition: str
    fragments: int
    reason: str


@dataclass(frozen=True, slots=True)
class ManyFilesStaged:
    """A batch is about to publish this many files, one per delivery: that takes long."""

    batch: int
    files: int


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A batch is published."""

    batch: int
    outcome: BatchOutcome


@dataclass(frozen=True, slots=True)
class StreamIdle:
    """No batch has run for this many seconds; emitted once until the next batch."""

    seconds: float


RunEvent = (
    SubscriptionsLoaded
    | SubscriptionsRejected
    | StrategyChosen
    | ManyFilesStaged
    | BatchDone
    | StreamIdle
)
