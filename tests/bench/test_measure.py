from __future__ import annotations

import gc
import itertools

import pytest

from pathcast.bench.measure import compared


class Clock:
    """A clock that only moves when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_rounds_are_interleaved_and_the_figure_is_their_median() -> None:
    clock = Clock()
    calls: list[str] = []
    costs = itertools.cycle([4.0, 2.0, 10.0])

    def ours() -> None:
        calls.append("ours")
        clock.now += next(costs)

    def theirs() -> None:
        calls.append("theirs")
        clock.now += 1.0

    found = compared(ours, theirs, rounds=3, clock=clock, warm=False)
    assert calls == ["ours", "theirs"] * 3
    assert found.ratios == (0.25, 0.5, 0.1)
    assert (found.figure, found.spread) == (0.25, (0.1, 0.5))
    assert (found.ours, found.theirs) == (4.0, 1.0)


def test_the_first_round_is_not_counted() -> None:
    clock = Clock()
    costs = iter([1000.0, 2.0, 2.0])

    def ours() -> None:
        clock.now += next(costs)

    def theirs() -> None:
        clock.now += 1.0

    assert compared(ours, theirs, rounds=2, clock=clock).ratios == (0.5, 0.5)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_off_for_both_and_left_as_it_was(enabled: bool) -> None:
    seen: list[bool] = []
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        compared(lambda: seen.append(gc.isenabled()), lambda: seen.append(gc.isenabled()), rounds=1)
        assert gc.isenabled() is enabled
        with pytest.raises(ZeroDivisionError):
            compared(lambda: 1 / 0, lambda: None, rounds=1, warm=False)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert seen[2:] == [False, False]


def test_a_clock_that_stands_still_gives_no_division_by_zero() -> None:
    assert compared(lambda: None, lambda: None, rounds=1, clock=Clock()).figure == 1.0


def test_no_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        compared(lambda: None, lambda: None, rounds=0)
