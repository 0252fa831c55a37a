from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from datetime import date
from hashlib import blake2b
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathcast.errors import WorkloadError
from pathcast.generators.feeds import repeated_share, weather_feed
from pathcast.generators.feeds.rows import DAY_SECONDS, FeedRow, format_time
from pathcast.generators.feeds.station import DayWeather, Station, StationSite, _saturation
from pathcast.generators.feeds.weather import CITIES, DAYS, FIELDS, WeatherOptions, cities, rows
from pathcast.rng import SeededRandom

SEEDS = range(8)
# Cao 2012, table 3.8: hit ratio of an unbounded cache, in percent, on August 3, 4 and 5.
PAPER = {"mixed": 50.92, "changeable": 47.90, "calm": 84.74}


def by_field(row: FeedRow) -> dict[str, str]:
    return dict(zip(FIELDS, row.values, strict=True))


@functools.cache
def share(kind: str | float, period: int, seed: int, places: tuple[str, ...] = CITIES) -> float:
    """Oracle of `repeated_share`: rows without their time, in percent.

    The bundled style sheet maps different readings to different bytes, which
    test_a_message_is_repeated_when_its_row_is verifies.
    """
    options = WeatherOptions(cities=places, days=(kind,), period=period)
    seen, again, count = set(), 0, 0
    for row in rows(options, seed):
        again += row.values[1:] in seen
        seen.add(row.values[1:])
        count += 1
    return 100 * again / count


def mean(kind: str | float, period: int, seeds: Sequence[int] = SEEDS) -> float:
    return fmean(share(kind, period, seed) for seed in seeds)


@pytest.mark.parametrize(("kind", "percent"), PAPER.items())
def test_the_shares_of_table_3_8(kind: str, percent: float, deep: bool) -> None:
    seeds = range(100) if deep else SEEDS
    for seed in seeds:
        assert abs(share(kind, 30, seed) - percent) < 4.0
    assert abs(mean(kind, 30, seeds) - percent) < 1.5


def test_a_day_at_30_seconds_has_about_3000_messages_as_in_table_3_8() -> None:
    assert sum(1 for _ in rows(WeatherOptions(), 1)) == 2880


@pytest.mark.parametrize("kind", DAYS)
def test_the_share_falls_with_the_period_as_in_figure_3_7(kind: str) -> None:
    shares = [mean(kind, period, range(4)) for period in (15, 30, 60, 300)]
    for shorter, longer in itertools.pairwise(shares):
        assert shorter > longer + 5


def test_the_share_falls_with_the_variability() -> None:
    shares = [mean(number / 5, 30, range(3)) for number in range(6)]
    for calmer, livelier in itertools.pairwise(shares):
        assert calmer > livelier + 3
    assert shares[0] > 95
    assert shares[-1] < 45


def test_repetition_varies_over_the_day_as_in_figure_3_11() -> None:
    """The paper's days range from 20% to 76% between 9:30 and 16:00; ours vary less."""
    parts = []
    for hour in range(0, 24, 3):
        options = WeatherOptions(since=hour * 3600, until=(hour + 3) * 3600)
        bodies = ["|".join(row.values[1:]).encode() for row in rows(options, 1)]
        parts.append(repeated_share(bodies))
    assert max(parts) > min(parts) + 0.2


def test_a_message_is_repeated_when_its_row_is() -> None:
    options = WeatherOptions(days=("calm",), until=DAY_SECONDS // 4)
    bodies: dict[tuple[str, ...], bytes] = {}
    for row, message in zip(rows(options, 3), weather_feed(options, 3), strict=True):
        assert bodies.setdefault(row.values[1:], message.body) == message.body
    assert len(set(bodies.values())) == len(bodies)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 1000),
    period=st.integers(20, 400),
    times=st.integers(2, 7),
    kind=st.floats(0, 1),
)
def test_the_weather_does_not_depend_on_the_period(
    seed: int, period: int, times: int, kind: float
) -> None:
    """A longer period samples a subset of the rows of a shorter one."""
    often, seldom = (
        list(rows(WeatherOptions(days=(kind,), period=seconds, together=True, until=20_000), seed))
        for seconds in (period, period * times)
    )
    moments = {row.at for row in seldom}
    assert [row for row in often if row.at in moments] == seldom


@settings(max_examples=10)
@given(
    seed=st.integers(0, 1000),
    period=st.integers(500, 3000),
    times=st.integers(2, 40),
    days=st.lists(st.floats(0, 1), min_size=2, max_size=4),
    until=st.integers(1000, DAY_SECONDS),
)
def test_a_day_does_not_depend_on_the_sampling_of_earlier_days(
    seed: int, period: int, times: int, days: list[float], until: int
) -> None:
    """With a longer period, in turn, or in a window, the rows are a subset of the full feed."""
    kinds = tuple(days)
    every_row = set(rows(WeatherOptions(days=kinds, period=period, together=True), seed))
    longer = min(period * times, DAY_SECONDS // period * period)
    for options in (
        WeatherOptions(days=kinds, period=longer, together=True),
        WeatherOptions(days=kinds, period=longer),
        WeatherOptions(days=kinds, period=period, until=until),
    ):
        assert set(rows(options, seed)) <= every_row


def test_the_third_day_at_15_seconds_and_at_5_minutes() -> None:
    often, seldom = (
        list(rows(WeatherOptions(days=("changeable",) * 3, together=True, period=period), 1))
        for period in (15, 300)
    )
    assert [row for row in often if row.at % 300 == 0] == seldom


def test_cities_in_turn_report_a_third_of_the_rows() -> None:
    apart = list(rows(WeatherOptions(), 5))
    together = list(rows(WeatherOptions(together=True), 5))
    assert len(together) == 3 * len(apart)
    assert together[0:3] == [apart[0], *together[1:3]]
    assert set(apart) < set(together)
    assert [by_field(row)["city"] for row in apart[:4]] == [
        "Toronto",
        "Ottawa",
        "Sudbury",
        "Toronto",
    ]


def test_a_window_of_the_day_is_a_part_of_the_full_day() -> None:
    full_day = list(rows(WeatherOptions(together=True), 2))
    part = list(rows(WeatherOptions(together=True, since=34_200, until=57_601), 2))
    assert len(part) == 3 * (23_400 // 30 + 1)
    assert set(part) < set(full_day)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**9),
    kind=st.floats(0, 1),
    month=st.integers(1, 12),
    count=st.integers(1, 5),
)
def test_readings_are_consistent(seed: int, kind: float, month: int, count: int) -> None:
    options = WeatherOptions(
        cities=cities(count), days=(kind, kind), start=date(2011, month, 3), period=300
    )
    for row in rows(options, seed):
        now = by_field(row)
        temperature, dew = float(now["temperature"]), float(now["dew-point"])
        assert dew <= temperature
        assert 0 <= int(now["humidity"]) <= 100
        assert (int(now["humidity"]) == 100) == (dew == temperature) or temperature - dew <= 0.5
        assert 0 <= int(now["wind"]) <= int(now["wind-gust"])
        assert 940 <= float(now["pressure"]) <= 1060
        assert 0 <= int(now["clouds"]) <= 100
        assert 0 <= int(now["uv"]) <= 11
        assert float(now["visibility"]) > 0
        assert -45 <= temperature <= 45
        assert abs(int(now["feels-like"]) - temperature) < 25
        assert (float(now["rainfall"]) > 0) == (
            now["code"] in ("drizzle", "rain", "storm", "snow", "sleet")
        )
        if float(now["rainfall"]):
            assert int(now["clouds"]) >= 75
        if int(now["wind"]) <= 3:
            assert now["from"] == "variable"


def test_afternoons_are_warmer_than_nights_and_uv_is_by_day() -> None:
    nights, days = [], []
    for seed in range(10):
        for row in rows(WeatherOptions(period=300), seed):
            now, hour = by_field(row), row.at % DAY_SECONDS / 3600
            if 3 <= hour < 6:
                nights.append(float(now["temperature"]))
            if 14 <= hour < 17:
                days.append(float(now["temperature"]))
            # Readings change at events only, so the UV index may lag after sunset.
            if hour < 6:
                assert now["uv"] == "0"
    assert fmean(days) > fmean(nights) + 5


def test_july_is_warmer_than_january() -> None:
    def of(month: int) -> float:
        options = WeatherOptions(start=date(2011, month, 3), period=600)
        return fmean(
            float(by_field(row)["temperature"]) for s in range(4) for row in rows(options, s)
        )

    assert of(7) > of(1) + 15


def test_weather_continues_over_midnight() -> None:
    first = list(rows(WeatherOptions(days=("calm", "calm"), together=True), 4))
    before, after = first[2879 * 3 : 2880 * 3], first[2880 * 3 : 2881 * 3]
    for old, new in zip(before, after, strict=True):
        assert after[0].values[0] == "2011-08-04T00:00:00"
        kept = ("temperature", "dew-point", "wind", "pressure", "clouds")
        same = [by_field(old)[field] == by_field(new)[field] for field in kept]
        assert sum(same) >= len(kept) - 1


def test_days_of_different_kinds_in_one_feed() -> None:
    feed = rows(WeatherOptions(days=("calm", "changeable")), 6)
    shares = []
    for _, day in itertools.groupby(feed, key=lambda row: row.at // DAY_SECONDS):
        texts = ["|".join(row.values[1:]).encode() for row in day]
        assert len(texts) == 2880
        shares.append(100 * repeated_share(texts))
    assert abs(shares[0] - PAPER["calm"]) < 4
    assert abs(shares[1] - PAPER["changeable"]) < 5


def test_the_seed_determines_the_bytes() -> None:
    first, again, other = (list(rows(WeatherOptions(until=9000), seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


PINNED = """\
2011-08-03T16:40:00,Sudbury,CA,SUD003,Sudbury Weather Station,46.62,-80.80,348,\
20.5,19,Clear,clear,70,15.0,18,N,29,1017.0,steady,12.0,4,10,0.0
2011-08-03T16:40:30,Toronto,CA,TOR001,Toronto Weather Station,43.68,-79.63,173,\
23.5,22,Fair,fair,66,17.0,20,NE,29,1016.5,steady,16.0,3,25,0.0"""


def test_rows_are_pinned() -> None:
    """Bytes must not change by accident, since earlier runs must be reproducible."""
    lines = [",".join(row.values) for row in rows(WeatherOptions(), 1)]
    assert lines[2000:2002] == PINNED.splitlines()
    digest = blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
    assert digest == "28523b34b71e02c6"


def test_time_fields_equal_the_times_of_rows() -> None:
    sampled = list(rows(WeatherOptions(until=300, period=60), 1))
    assert [row.values[0] for row in sampled] == [format_time(row.at) for row in sampled]
    assert [row.values[0][-8:] for row in sampled] == [f"00:0{minute}:00" for minute in range(5)]


def test_the_last_day_of_the_calendar() -> None:
    options = WeatherOptions(start=date(9999, 12, 30), days=("calm", "calm"), period=DAY_SECONDS)
    assert [row.values[0][:10] for row in rows(options, 1)] == ["9999-12-30", "9999-12-31"]


def test_a_station_does_not_depend_on_the_others() -> None:
    alone = list(rows(WeatherOptions(cities=("Ottawa",), period=90), 1))
    among = list(rows(WeatherOptions(together=True, period=90), 1))
    shown = [row.values[8:] for row in among if row.values[1] == "Ottawa"]
    assert [row.values[8:] for row in alone] == shown


def test_saturation_equals_published_tables() -> None:
    """Over water, within a percent: 611 Pa at 0, 2339 at 20, 4247 at 30, 287 at -10 degrees."""
    for degrees, pascals in ((0, 611), (20, 2339), (30, 4247), (-10, 287)):
        assert abs(_saturation(2 * degrees) / 10 - pascals) < pascals / 100


def test_variability_sets_the_number_of_events() -> None:
    for variability in (0.0, 0.5, 1.0):
        events = 0
        for seed in range(5):
            station = Station(StationSite("Ottawa", 4532, -7567, 114))
            day = DayWeather.of(SeededRandom(seed, "day"), variability, 8)
            station.begin(day, SeededRandom(seed, "events"))
            due = -1.0
            for second in range(0, DAY_SECONDS, 2):
                station.read(second)
                events += station._next_event != due
                due = station._next_event
        assert events / 5 == pytest.approx(20 + 1000 * variability, rel=0.2)


def test_names_of_cities() -> None:
    assert cities(2) == ("Toronto", "Ottawa")
    many = cities(500)
    assert len(set(many)) == 500
    assert many[:3] == CITIES
    assert sum(1 for _ in rows(WeatherOptions(cities=many, period=600), 1)) == 144


def test_codes_of_stations_are_distinct_and_simple() -> None:
    options = WeatherOptions(cities=("Zürich", "東京", "Zurich"), period=60, until=180)
    codes = [by_field(row)["station"] for row in rows(options, 1)]
    assert codes == ["ZRI001", "X002", "ZUR003"]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("cities", {"cities": ()}),
        ("cities", {"cities": ("Ottawa", "Ottawa")}),
        ("cities", {"cities": ("Ott\x00awa",)}),
        ("cities", {"cities": (" ",)}),
        ("period", {"period": 0}),
        ("period", {"period": DAY_SECONDS + 1}),
        ("days", {"days": ()}),
        ("days", {"days": ("sunny",)}),
        ("days", {"days": (1.5,)}),
        ("days", {"days": (float("nan"),)}),
        ("time", {"since": 10, "until": 10}),
        ("time", {"until": DAY_SECONDS + 1}),
        ("time", {"since": -1}),
        ("start", {"start": date.max, "days": ("calm", "calm")}),
    ],
)
def test_impossible_options(kind: str, wrong: dict[str, object]) -> None:
    with pytest.raises(WorkloadError) as caught:
        WeatherOptions(**wrong)  # type: ignore[arg-type]
    assert caught.value.kind == kind


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_impossible_counts_of_cities(count: int) -> None:
    with pytest.raises(WorkloadError):
        cities(count)
