from __future__ import annotations

import gc
import itertools

import pytest

from pathcast.bench.measure import compare


class Clock:
    """A clock that advances only by the work done."""

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

    ratio = compare(ours, theirs, rounds=3, clock=clock, warm=False)
    assert calls == ["ours", "theirs"] * 3
    assert ratio.ratios == (0.25, 0.5, 0.1)
    assert (ratio.figure, ratio.spread) == (0.25, (0.1, 0.5))
    assert (ratio.ours, ratio.theirs) == (4.0, 1.0)


def test_warm_up_round_is_not_counted() -> None:
    clock = Clock()
    costs = iter([1000.0, 2.0, 2.0])

    def ours() -> None:
        clock.now += next(costs)

    def theirs() -> None:
        clock.now += 1.0

    assert compare(ours, theirs, rounds=2, clock=clock).ratios == (0.5, 0.5)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collector_is_off_during_turns_and_restored(enabled: bool) -> None:
    seen: list[bool] = []
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        compare(lambda: seen.append(gc.isenabled()), lambda: seen.append(gc.isenabled()), rounds=1)
        assert gc.isenabled() is enabled
        with pytest.raises(ZeroDivisionError):
            compare(lambda: 1 / 0, lambda: None, rounds=1, warm=False)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert seen[2:] == [False, False]


def test_stopped_clock_causes_no_division_by_zero() -> None:
    assert compare(lambda: None, lambda: None, rounds=1, clock=Clock()).figure == 1.0


def test_zero_rounds_are_rejected() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        compare(lambda: None, lambda: None, rounds=0)
