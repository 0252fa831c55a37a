from __future__ import annotations

import itertools
from datetime import date, timedelta
from hashlib import blake2b
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathcast.errors import WorkloadError
from pathcast.generators.feeds.rows import DAY_SECONDS, FeedRow, parse_time_of_day
from pathcast.generators.feeds.stock import FIELDS, StockOptions, rows, symbols


def by_field(row: FeedRow) -> dict[str, str]:
    return dict(zip(FIELDS, row.values, strict=True))


def cents(text: str) -> int:
    dollars, point, part = text.partition(".")
    assert point
    assert len(part) == 2
    return int(dollars + part)


def test_79_polls_of_100_symbols_as_in_section_3_5() -> None:
    day = list(rows(StockOptions(), 1))
    polls = [list(group) for _, group in itertools.groupby(day, key=lambda row: row.at)]
    assert len(polls) == 79
    assert {len(poll) for poll in polls} == {100}
    names = [row.values[1] for row in polls[0]]
    assert len(set(names)) == 100
    assert all([row.values[1] for row in poll] == names for poll in polls)
    assert day[0].values[0] == "2011-08-03T09:30:00"
    assert day[-1].values[0] == "2011-08-03T16:00:00"


@settings(max_examples=20)
@given(seed=st.integers(0, 10**9), days=st.integers(1, 3), trades=st.integers(0, 500))
def test_quotes_are_consistent(seed: int, days: int, trades: int) -> None:
    options = StockOptions(symbols=8, days=days, trades=trades, period=1800)
    for row in rows(options, seed):
        now = by_field(row)
        last, before = cents(now["last-trade"]), cents(now["pre-close"])
        tick = 1 if last < 5_000 else 2 if last < 20_000 else 5
        assert last % tick == 0
        assert last >= 100
        assert cents(now["bid"]) <= last <= cents(now["ask"])
        assert cents(now["bid"]) < cents(now["ask"])
        assert now["move"] == ("up" if last > before else "down" if last < before else "same")
        earned = cents(now["eps"])
        if earned > 0:
            assert float(now["pe"]) == pytest.approx(last / earned, abs=0.011)
        else:
            assert not now["pe"]
            assert not now["dividend"]
        assert bool(now["dividend"]) == bool(now["yield"])
        if now["dividend"]:
            paid = 100 * cents(now["dividend"]) / last
            assert float(now["yield"]) == pytest.approx(paid, abs=0.011)
        # An integral number of shares times the price.
        assert int(now["market-cap"]) * 100 % last < 100 * last
        assert int(now["avg-volume"]) > 0


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), period=st.integers(60, 400), times=st.integers(2, 7))
def test_the_market_does_not_depend_on_the_period(seed: int, period: int, times: int) -> None:
    often, seldom = (
        list(rows(StockOptions(symbols=4, period=seconds, days=2), seed))
        for seconds in (period, period * times)
    )
    moments = {row.at for row in seldom}
    assert [row for row in often if row.at in moments] == seldom


def test_a_symbol_does_not_depend_on_the_number_of_symbols() -> None:
    few, many = (list(rows(StockOptions(symbols=count), 3)) for count in (5, 50))
    names = {row.values[1] for row in few}
    assert [row for row in many if row.values[1] in names] == few


def test_a_day_follows_the_day_before() -> None:
    """Tomorrow's previous close is today's close, even if no poll hit it."""
    options = StockOptions(symbols=30, days=2, period=7000)
    seen = StockOptions(symbols=30, days=2, period=300)
    closes = {
        row.values[1]: by_field(row) for row in rows(seen, 1) if row.at % DAY_SECONDS == 57_600
    }
    second = [by_field(row) for row in rows(options, 1)][-30:]
    first = {
        row.values[1]: by_field(row)
        for row in rows(seen, 1)
        if row.at % DAY_SECONDS == 57_600 and row.values[0].startswith("2011-08-03")
    }
    for now in second:
        assert now["pre-close"] == first[now["symbol"]]["last-trade"]
    assert closes.keys() == first.keys()


def test_weekends_are_skipped() -> None:
    options = StockOptions(symbols=1, days=4, start=date(2011, 8, 5))  # a Friday
    days = list(dict.fromkeys(row.values[0][:10] for row in rows(options, 1)))
    assert days == ["2011-08-05", "2011-08-08", "2011-08-09", "2011-08-10"]
    saturday = rows(StockOptions(symbols=1, start=date(2011, 8, 6)), 1)
    assert next(saturday).values[0].startswith("2011-08-08")


@given(start=st.dates(max_value=date(9990, 1, 1)), days=st.integers(1, 12))
def test_days_are_consecutive_weekdays(start: date, days: int) -> None:
    later = (start + timedelta(days=number) for number in range(20))
    expected = list(itertools.islice((day for day in later if day.weekday() < 5), days))
    feed = rows(StockOptions(symbols=1, days=days, start=start, trades=0, period=DAY_SECONDS), 1)
    assert [row.values[0][:10] for row in feed] == [day.isoformat() for day in expected]


def test_the_last_week_of_the_calendar() -> None:
    options = StockOptions(symbols=1, days=5, start=date(9999, 12, 27), period=DAY_SECONDS)
    assert [row.values[0][:10] for row in rows(options, 1)][-1] == "9999-12-31"


def test_the_shortest_market_closes() -> None:
    options = StockOptions(symbols=2, days=2, opens=34_200, closes=34_201, period=1)
    assert len(list(rows(options, 1))) == 2 * 2 * 2


def test_prices_are_a_random_walk_without_drift() -> None:
    moves = []
    for seed in range(3):
        last = [by_field(row) for row in rows(StockOptions(period=23_400), seed)][-100:]
        for now in last:
            before = cents(now["pre-close"])
            moves.append((cents(now["last-trade"]) - before) / before)
    assert 0.005 < fmean(abs(move) for move in moves) < 0.04
    assert abs(fmean(moves)) < 0.005


def test_more_trades_mean_more_changes() -> None:
    def changes(trades: int) -> int:
        shown = [row.values[1:] for row in rows(StockOptions(symbols=20, trades=trades), 1)]
        return len(set(shown))

    assert changes(0) == 20
    assert changes(0) < changes(20) < changes(60) < changes(400) <= 20 * 79


def test_the_seed_determines_the_bytes() -> None:
    lines = [",".join(row.values) for row in rows(StockOptions(), 1)]
    assert lines == [",".join(row.values) for row in rows(StockOptions(), 1)]
    assert lines[4000] == (
        "2011-08-03T12:50:00,LAKU,utilities,56.36,up,56.28,56.32,56.36,56.38,58.54,11005000,25423996000,27.90,2.02,,,sell"
    )
    assert blake2b("\n".join(lines).encode(), digest_size=8).hexdigest() == "a0b9dfb7e49b9a0b"


def test_symbols_are_distinct_and_do_not_depend_on_their_number() -> None:
    many = symbols(5000, 1)
    assert len(set(many)) == 5000
    assert symbols(10, 1) == many[:10]
    assert symbols(10, 2) != many[:10]
    assert all(len(name) == 4 and name.isalpha() and name.isupper() for name in many)


def test_other_hours() -> None:
    options = StockOptions(
        symbols=1, opens=parse_time_of_day("10:00"), closes=parse_time_of_day("10:30"), period=60
    )
    times = [row.values[0][-8:] for row in rows(options, 1)]
    assert len(times) == 31
    assert (times[0], times[-1]) == ("10:00:00", "10:30:00")


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("symbols", {"symbols": 0}),
        ("symbols", {"symbols": 5001}),
        ("period", {"period": 0}),
        ("days", {"days": 0}),
        ("trades", {"trades": -1}),
        ("time", {"opens": 10, "closes": 9}),
        ("time", {"opens": 34_200, "closes": 34_200}),
        ("time", {"closes": DAY_SECONDS}),
        ("start", {"start": date.max, "days": 2}),
        ("start", {"start": date(9999, 12, 27), "days": 6}),  # a Monday
    ],
)
def test_impossible_options(kind: str, wrong: dict[str, object]) -> None:
    with pytest.raises(WorkloadError) as caught:
        StockOptions(**wrong)  # type: ignore[arg-type]
    assert caught.value.kind == kind
