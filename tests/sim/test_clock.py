"""Virtual time: the order of events, limits, and background events."""

from __future__ import annotations

import pytest

from pathcast.errors import RoutingError
from pathcast.sim.clock import Clock


def test_events_run_by_time_and_then_in_the_order_of_scheduling() -> None:
    clock = Clock()
    events: list[str] = []
    for name, time in (("late", 2.0), ("first", 1.0), ("second", 1.0)):
        clock.schedule(time, lambda name=name: events.append(name))  # type: ignore[misc]
    assert clock.run_until_idle(60.0)
    assert events == ["first", "second", "late"]
    assert clock.now == 2.0
    assert not clock.step()


def test_run_advances_to_its_time() -> None:
    clock = Clock()
    clock.schedule(5.0, lambda: None)
    clock.run(3.0)
    assert (clock.now, clock.idle) == (3.0, False)
    clock.run(7.0)
    assert (clock.now, clock.idle) == (7.0, True)
    with pytest.raises(RoutingError, match="6 s has passed, it is 7 s"):
        clock.schedule(6.0, lambda: None)


def test_a_limit_ends_the_wait() -> None:
    clock = Clock()

    def again() -> None:
        clock.schedule(clock.now + 1.0, again)

    again()
    assert not clock.run_until_idle(10.0)
    assert clock.now == 10.0


def test_background_events_run_while_the_owner_is_not_settled() -> None:
    rounds: list[float] = []

    def upkeep() -> None:
        rounds.append(clock.now)
        clock.schedule(clock.now + 1.0, upkeep, background=True)

    clock = Clock(is_settled=lambda: len(rounds) >= 3)
    clock.schedule(1.0, upkeep, background=True)
    assert clock.run_until_idle(60.0)
    assert rounds == [1.0, 2.0, 3.0]
    clock.schedule(3.5, lambda: None)  # a foreground event: no longer idle
    assert clock.run_until_idle(60.0)
    assert clock.now == 3.5
