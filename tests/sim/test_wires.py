"""What happens to frames on a wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.rng import SeededRandom
from pathcast.sim.wires import Faults, Wire


def wire(bandwidth: float | None = None, **faults: float) -> Wire:
    found = Wire(0.01, bandwidth, SeededRandom(1, "wire"))
    found.faults = Faults(**faults)
    return found


def test_latency_and_bandwidth() -> None:
    one = wire(bandwidth=1_000.0)
    assert one.carry(100, 0.0) == [0.11]
    assert one.carry(100, 0.0) == pytest.approx([0.21])  # after the first
    assert one.carry(100, 5.0) == pytest.approx([5.11])
    assert (one.frames, one.bytes) == (3, 300)


def test_a_cut_wire_carries_nothing() -> None:
    one = wire()
    one.cut = True
    assert one.carry(1, 0.0) == []
    assert one.lost == 1


def test_certain_faults() -> None:
    assert wire(lose=1.0).carry(1, 0.0) == []
    assert wire(duplicate=1.0).carry(1, 0.0) == [0.01, 0.01]
    (late,) = wire(delay=1.0, max_delay=2.0).carry(1, 0.0)
    assert 0.01 < late <= 2.01
    (later,) = wire(reorder=1.0).carry(1, 0.0)
    assert 0.01 < later <= 0.04


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 10_000)), max_size=30))
def test_without_faults_the_order_is_kept(sent: list[tuple[float, int]]) -> None:
    one = wire(bandwidth=50_000.0)
    now, arrived = 0.0, []
    for pause, size in sent:
        now += pause
        arrived += one.carry(size, now)
    assert arrived == sorted(arrived)
    assert len(arrived) == len(sent)


def test_what_was_on_its_way_when_faults_end_does_not_make_the_order_worse() -> None:
    one = wire(delay=1.0, max_delay=1.0)
    one.carry(1, 0.0)
    one.faults = Faults()
    assert one.carry(1, 0.0) == [0.01]


def test_shares_are_as_asked() -> None:
    one = wire(lose=0.3)
    for number in range(10_000):
        one.carry(1, float(number))
    assert 2_700 < one.lost < 3_300


def test_the_same_chance_gives_the_same_fate() -> None:
    def fates() -> list[list[float]]:
        one = wire(lose=0.2, duplicate=0.2, reorder=0.2, delay=0.2)
        return [one.carry(1, float(number)) for number in range(100)]

    assert fates() == fates()
