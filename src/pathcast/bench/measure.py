"""How fast we are, as a multiple of something else that does comparable work on the same inputs.

Both run in turns: ours, theirs, ours, theirs ... Whatever disturbs the machine for a while then disturbs
both. A round gives one ratio; the figure is the median of them, and the lowest and the highest show how
far it can be trusted. A first round of each is not counted: it fills caches and loads modules.

Time is CPU time of this process, so that other processes cost us little. The garbage collector runs before each turn
and is off during it, for both alike: a collection that the one causes must not fall into the other's time.

>>> ticks = iter([0.0, 4.0, 4.0, 5.0,  5.0, 7.0, 7.0, 8.0])
>>> compared(lambda: None, lambda: None, rounds=2, clock=lambda: next(ticks), warm=False).ratios
(0.25, 0.5)
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Ratio", "compared"]

_SHORTEST = 1e-9  # a clock may not have moved at all


@dataclass(frozen=True, slots=True)
class Ratio:
    """Their time divided by ours, round by round: 2 says that ours is twice as fast."""

    ratios: tuple[float, ...]
    ours: float  # CPU seconds, the median
    theirs: float

    @property
    def figure(self) -> float:
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        return min(self.ratios), max(self.ratios)


def compared(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    rounds: int = 5,
    clock: Callable[[], float] = time.process_time,
    warm: bool = True,
) -> Ratio:
    """Run both in turns, as many rounds as asked for."""
    if rounds < 1:
        raise ValueError(f"there is nothing to learn from {rounds} rounds")
    if warm:
        ours()
        theirs()
    pairs = [(_timed(ours, clock), _timed(theirs, clock)) for _ in range(rounds)]
    return Ratio(
        tuple(other / own for own, other in pairs),
        statistics.median(own for own, _ in pairs),
        statistics.median(other for _, other in pairs),
    )


def _timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        start = clock()
        work()
        return max(clock() - start, _SHORTEST)
    finally:
        if enabled:
            gc.enable()
