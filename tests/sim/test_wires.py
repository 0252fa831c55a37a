"""Wires: latency, bandwidth, cuts and faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.rng import SeededRandom
from pathcast.sim.wires import Faults, Wire


def wire(bandwidth: float | None = None, **faults: float) -> Wire:
    result = Wire(0.01, bandwidth, SeededRandom(1, "wire"))
    result.faults = Faults(**faults)
    return result


def test_latency_and_bandwidth() -> None:
    link = wire(bandwidth=1_000.0)
    assert link.carry(100, 0.0) == [0.11]
    assert link.carry(100, 0.0) == pytest.approx([0.21])  # after the first
    assert link.carry(100, 5.0) == pytest.approx([5.11])
    assert (link.frames, link.bytes) == (3, 300)


def test_a_cut_wire_carries_nothing() -> None:
    link = wire()
    link.cut = True
    assert link.carry(1, 0.0) == []
    assert link.lost == 1


def test_certain_faults() -> None:
    assert wire(lose=1.0).carry(1, 0.0) == []
    assert wire(duplicate=1.0).carry(1, 0.0) == [0.01, 0.01]
    (late,) = wire(delay=1.0, max_delay=2.0).carry(1, 0.0)
    assert 0.01 < late <= 2.01
    (later,) = wire(reorder=1.0).carry(1, 0.0)
    assert 0.01 < later <= 0.04


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 10_000)), max_size=30))
def test_a_wire_without_faults_keeps_the_order(sent: list[tuple[float, int]]) -> None:
    link = wire(bandwidth=50_000.0)
    now, arrived = 0.0, []
    for pause, size in sent:
        now += pause
        arrived += link.carry(size, now)
    assert arrived == sorted(arrived)
    assert len(arrived) == len(sent)


def test_a_delayed_frame_does_not_hold_up_later_ones_without_faults() -> None:
    link = wire(delay=1.0, max_delay=1.0)
    link.carry(1, 0.0)
    link.faults = Faults()
    assert link.carry(1, 0.0) == [0.01]


def test_the_rate_of_losses() -> None:
    link = wire(lose=0.3)
    for number in range(10_000):
        link.carry(1, float(number))
    assert 2_700 < link.lost < 3_300


def test_a_seed_determines_the_faults() -> None:
    def arrivals() -> list[list[float]]:
        link = wire(lose=0.2, duplicate=0.2, reorder=0.2, delay=0.2)
        return [link.carry(1, float(number)) for number in range(100)]

    assert arrivals() == arrivals()
