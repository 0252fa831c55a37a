"""Interleaved timing: the speed of one function as a multiple of another's on the same inputs.

The functions run alternately: ours, theirs, ours, theirs, and so on. A disturbance of the machine
then affects both. A round gives one ratio; the figure is the median, and the lowest and the highest
ratio show its reliability. The first round of each is not counted: it fills caches and loads
modules.

Time is the CPU time of this process, so that other processes have little influence. The garbage
collector runs before each turn and is off during it, so that neither function pays for the other's
garbage.

>>> ticks = iter([0.0, 4.0, 4.0, 5.0,  5.0, 7.0, 7.0, 8.0])
>>> compare(lambda: None, lambda: None, rounds=2, clock=lambda: next(ticks), warm=False).ratios
(0.25, 0.5)
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Ratio", "compare"]

MIN_SECONDS = 1e-9  # a coarse clock may not have advanced


@dataclass(frozen=True, slots=True)
class Ratio:
    """Their time divided by ours, per round: 2 means that ours is twice as fast."""

    ratios: tuple[float, ...]
    ours: float  # CPU seconds, the median
    theirs: float

    @property
    def figure(self) -> float:
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        return min(self.ratios), max(self.ratios)


def compare(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    rounds: int = 5,
    clock: Callable[[], float] = time.process_time,
    warm: bool = True,
) -> Ratio:
    """Time both functions alternately, `rounds` times each."""
    if rounds < 1:
        raise ValueError(f"there is nothing to learn from {rounds} rounds")
    if warm:
        ours()
        theirs()
    pairs = [(_time(ours, clock), _time(theirs, clock)) for _ in range(rounds)]
    return Ratio(
        tuple(other / own for own, other in pairs),
        statistics.median(own for own, _ in pairs),
        statistics.median(other for _, other in pairs),
    )


def _time(work: Callable[[], object], clock: Callable[[], float]) -> float:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        start = clock()
        work()
        return max(clock() - start, MIN_SECONDS)
    finally:
        if enabled:
            gc.enable()
