"""Virtual time: a queue of events, each an action with a time.

Events run in the order of their time, and events of the same time in the order in which they were
scheduled. So a run depends on nothing but the actions.

**Idle.** Foreground events are work that ends: frames in flight, inputs in a queue, retransmission
timers. Background events are periodic upkeep, which schedules itself again for ever. A clock is
idle when no foreground event is pending and `is_settled` holds. The owner of the clock says by
`is_settled` whether upkeep has anything left to change (see `pathcast.sim.network`); without it,
background events alone never keep a clock busy.

>>> clock = Clock()
>>> clock.schedule(2.0, lambda: print("frame at", clock.now))
>>> clock.schedule(1.0, lambda: print("upkeep at", clock.now), background=True)
>>> clock.schedule(9.0, lambda: print("upkeep at", clock.now), background=True)
>>> clock.run_until_idle(60.0), clock.now
upkeep at 1.0
frame at 2.0
(True, 2.0)
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from pathcast.errors import RoutingError

__all__ = ["Clock"]


class Clock:
    """An event queue in virtual time; `now` is in seconds and starts at 0."""

    def __init__(self, is_settled: Callable[[], bool] | None = None) -> None:
        self.now = 0.0
        self._is_settled = is_settled or _always
        self._events: list[tuple[float, int, Callable[[], object], bool]] = []
        self._scheduled = 0
        self._foreground = 0

    @property
    def idle(self) -> bool:
        """Whether only background events are pending, and they have nothing left to change."""
        return not self._foreground and self._is_settled()

    def schedule(
        self, time: float, action: Callable[[], object], *, background: bool = False
    ) -> None:
        """Run an action at a time; raise RoutingError if the time has passed."""
        if time < self.now:
            raise RoutingError("time", f"{time:g} s has passed, it is {self.now:g} s")
        self._scheduled += 1
        self._foreground += not background
        heappush(self._events, (time, self._scheduled, action, background))

    def run(self, until: float) -> None:
        """Run all events up to a time, and advance `now` to it."""
        events = self._events
        while events and events[0][0] <= until:
            self._run_next()
        self.now = max(self.now, until)

    def run_until_idle(self, limit: float) -> bool:
        """Run events until the clock is idle, for at most `limit` seconds; return whether it is.

        `now` is then the time of the last event that ran.
        """
        end = self.now + limit
        events = self._events
        while not self.idle and events and events[0][0] <= end:
            self._run_next()
        return self.idle

    def step(self) -> bool:
        """Run the next event; return False if none is pending."""
        if not self._events:
            return False
        self._run_next()
        return True

    def _run_next(self) -> None:
        self.now, _, action, background = heappop(self._events)
        self._foreground -= not background
        action()


def _always() -> bool:
    return True
