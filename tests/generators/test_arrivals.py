from __future__ import annotations

import itertools
import math
from statistics import fmean, pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import WorkloadError
from pathcast.generators.arrivals import Arrivals, Bursts, Fixed, Poisson, parse_arrivals
from pathcast.rng import SeededRandom

RATES = st.floats(1e-3, 1e3)
PROCESSES: st.SearchStrategy[Arrivals] = st.one_of(
    RATES.map(Poisson),
    RATES.map(Fixed),
    st.builds(
        lambda rate, size, part: Bursts(rate, size, part / rate),
        RATES,
        st.integers(1, 50),
        st.floats(0, 0.9),
    ),
)


def first(process: Arrivals, count: int, seed: int) -> list[float]:
    return list(itertools.islice(process.times(SeededRandom(seed, "arrivals")), count))


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise([0.0, *times])]


@given(PROCESSES, st.integers(0, 1000))
def test_times_are_positive_and_non_decreasing(process: Arrivals, seed: int) -> None:
    times = first(process, 200, seed)
    assert times[0] > 0
    assert all(gap >= 0 for gap in gaps(times))
    assert times == first(process, 200, seed)


@pytest.mark.parametrize("rate", [0.5, 0.85, 2.0, 4.0, 8.0])  # table 5.4
@pytest.mark.parametrize("seed", [1, 2])
def test_poisson(rate: float, seed: int, deep: bool) -> None:
    """Intervals have mean and deviation 1/rate; a third exceeds 1.1 / rate; no two are equal."""
    count = 200_000 if deep else 10_000
    intervals = gaps(first(Poisson(rate), count, seed))
    bound = 6 / math.sqrt(count)  # six standard errors of the mean
    assert abs(fmean(intervals) * rate - 1) < bound
    assert abs(pvariance(intervals) * rate**2 - 1) < 3 * bound  # the variance of a variance is 8
    for long in (0.1, 0.5, 1.0, 2.0, 3.0):
        share = sum(1 for gap in intervals if gap * rate > long) / count
        assert abs(share - math.exp(-long)) < bound
    follow = fmean((a * rate - 1) * (b * rate - 1) for a, b in itertools.pairwise(intervals))
    assert abs(follow) < bound


def test_arrivals_in_an_interval_are_poisson_distributed() -> None:
    """The variance equals the mean."""
    times = first(Poisson(1.0), 20_000, 3)
    counts = [0] * int(times[-1] // 10)
    for time in times:
        if time < 10 * len(counts):
            counts[int(time // 10)] += 1
    assert 9.5 < fmean(counts) < 10.5
    assert 8.5 < pvariance(counts) < 11.5


@given(st.floats(1e-3, 1e4))
def test_fixed(interval: float) -> None:
    times = first(Fixed(interval), 1000, 1)
    assert times == [interval * number for number in range(1, 1001)]
    assert Fixed(interval).rate == 1 / interval


@pytest.mark.parametrize(("size", "spacing"), [(1, 0.0), (10, 0.0), (10, 0.05), (4, 0.5)])
def test_bursts(size: int, spacing: float) -> None:
    process = Bursts(2.0 if spacing < 0.5 else 1.0, size, spacing)
    count = 4000 * size
    times = first(process, count, 5)
    assert count / times[-1] == pytest.approx(process.rate, rel=0.1)
    intervals = gaps(times)
    inner = [gap for place, gap in enumerate(intervals) if place % size]
    assert all(gap == pytest.approx(spacing, abs=1e-6) for gap in inner)
    pauses = intervals[::size]
    mean = size / process.rate - (size - 1) * spacing
    assert fmean(pauses) == pytest.approx(mean, rel=0.1)
    assert pvariance(pauses) == pytest.approx(mean**2, rel=0.25)


def test_bursts_of_one_are_poisson() -> None:
    assert first(Bursts(2.0, 1), 100, 1) == first(Poisson(2.0), 100, 1)  # halving is exact


def test_times_are_pinned_to_the_last_bit() -> None:
    """The times are the same on every machine."""
    assert first(Poisson(0.85), 3, 1) == [
        0.8393346213582573,
        1.5482062047351728,
        2.2432019640131755,
    ]


@given(PROCESSES)
def test_the_text_of_a_process_parses_to_it(process: Arrivals) -> None:
    again = parse_arrivals(str(process))
    assert again == process
    assert str(again) == str(process)


def test_numbers_have_their_shortest_exact_text() -> None:
    assert str(Poisson(0.1 + 0.2)) == "poisson:0.30000000000000004"
    assert str(Fixed(30.0)) == "fixed:30"
    assert str(Bursts(2.0, 10, 0.1)) == "bursts:2,size=10,spacing=0.1"


@pytest.mark.parametrize("process", [Poisson(1e-9), Fixed(1e9), Bursts(1e-9, 10**9)])
def test_the_slowest_processes_have_finite_times(process: Arrivals) -> None:
    assert all(map(math.isfinite, first(process, 1000, 1)))


@pytest.mark.parametrize("number", [5e-324, 1e-10, 1e10, 1e308])
def test_out_of_range_numbers_are_rejected(number: float) -> None:
    for make in (Poisson, Fixed, lambda rate: Bursts(rate, 2)):
        with pytest.raises(WorkloadError, match="must be from 1e-09 to 1e"):
            make(number)


@pytest.mark.parametrize("digits", [10, 11, 400, 5000])
def test_bursts_slower_than_their_rate_are_rejected(digits: int) -> None:
    with pytest.raises(WorkloadError, match="1000000000"):
        parse_arrivals("bursts:1,size=" + "9" * digits)
    with pytest.raises(WorkloadError, match="1000000000"):
        Bursts(1.0, 10**digits)


@pytest.mark.parametrize(
    ("text", "process"),
    [
        ("poisson:0.85", Poisson(0.85)),
        (" fixed:30 ", Fixed(30.0)),
        ("bursts:2,size=10", Bursts(2.0, 10)),
        ("bursts: 2 , spacing = 0.1 , size = 10", Bursts(2.0, 10, 0.1)),
    ],
)
def test_spellings_of_processes(text: str, process: Arrivals) -> None:
    assert parse_arrivals(text) == process


@pytest.mark.parametrize(
    "text",
    [
        "",
        "poisson",
        "poisson:",
        "poisson:0",
        "poisson:-1",
        "poisson:nan",
        "poisson:inf",
        "poisson:1,2",
        "poisson:fast",
        "fixed:0",
        "weibull:1",
        "bursts:2",
        "bursts:2,size=0",
        "bursts:2,size=1.5",
        "bursts:2,size=²",
        "bursts:2,10",
        "bursts:2,size=3,size=3",
        "bursts:2,size=3,gap=3",
        "bursts:2,size=3,spacing=-1",
        "bursts:2,size=3,spacing=nan",
        "bursts:2,size=1,spacing=1e10",
        "bursts:2,size=10,spacing=0.6",
    ],
)
def test_malformed_texts_have_a_hint(text: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        parse_arrivals(text)
    assert caught.value.kind == "arrivals"


@given(st.text())
def test_any_text_parses_or_raises_workload_error(text: str) -> None:
    for candidate in (text, f"poisson:{text}", f"bursts:1,size={text}"):
        try:
            next(parse_arrivals(candidate).times(SeededRandom(1)))
        except WorkloadError:
            pass
