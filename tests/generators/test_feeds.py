from __future__ import annotations

import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.generators.feeds import (
    Message,
    merge_feeds,
    messages,
    repeated_share,
    stock,
    stock_feed,
    weather,
    weather_feed,
)
from pathcast.generators.feeds.rows import read_csv, write_csv
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.stylesheets import bundled_stylesheet
from pathcast.generators.feeds.weather import WeatherOptions


@pytest.mark.parametrize(("kind", "low", "high"), [("calm", 82, 88), ("changeable", 44, 52)])
def test_the_shares_of_table_3_8_in_bytes(kind: str, low: float, high: float) -> None:
    feed = weather_feed(WeatherOptions(days=(kind,)), 11)
    assert low < 100 * repeated_share(message.body for message in feed) < high


def test_weather_and_stock_mixed_by_time_as_in_figure_3_10() -> None:
    window = WeatherOptions(since=34_200, until=57_601)
    mixed = list(merge_feeds(weather_feed(window, 1), stock_feed(StockOptions(symbols=3), 1)))
    assert [message.at for message in mixed] == sorted(message.at for message in mixed)
    counts = {
        name: sum(1 for message in mixed if message.feed == name) for name in ("weather", "stock")
    }
    assert counts == {"weather": 781, "stock": 79}
    assert [message.feed for message in mixed[:3]] == ["weather", "stock", "weather"]
    assert mixed[-1].at - mixed[0].at == 23_400
    roots = {(message.feed, message.body.split(b"\n")[1].split()[0]) for message in mixed}
    assert roots == {("weather", b"<weather"), ("stock", b"<stocks")}


def test_feeds_are_streamed() -> None:
    """The first message of a year does not generate the others."""
    year = WeatherOptions(days=("calm",) * 365)
    first = next(merge_feeds(weather_feed(year, 1), stock_feed(StockOptions(days=250), 1)))
    assert first == next(weather_feed(WeatherOptions(days=("calm",)), 1))


def test_a_market_without_trades_repeats_its_message() -> None:
    still = list(stock_feed(StockOptions(symbols=5, trades=0), 1))
    assert len(still) == 79
    assert repeated_share(message.body for message in still) == pytest.approx(78 / 79)
    timed = stock_feed(StockOptions(symbols=5, trades=0), 1, timed=True)
    assert repeated_share(message.body for message in timed) == 0


def test_messages_from_a_csv_file_equal_those_of_the_feed() -> None:
    """Rows -> CSV -> rows -> XML equals rows -> XML."""
    for fields, rows, grouped, feed in (
        (
            weather.FIELDS,
            weather.rows(WeatherOptions(until=600), 1),
            False,
            weather_feed(WeatherOptions(until=600), 1),
        ),
        (
            stock.FIELDS,
            stock.rows(StockOptions(symbols=3), 1),
            True,
            stock_feed(StockOptions(symbols=3), 1),
        ),
    ):
        name = "stock" if grouped else "weather"
        out = io.StringIO()
        write_csv(out, fields, rows)
        table = read_csv(io.StringIO(out.getvalue()))
        from_file = messages(table, bundled_stylesheet(name), feed=name, grouped=grouped)
        assert list(from_file) == list(feed)


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d"])))
def test_repeated_share_against_a_linear_search(bodies: list[bytes]) -> None:
    before = sum(1 for number, body in enumerate(bodies) if body in bodies[:number])
    assert repeated_share(bodies) == pytest.approx(before / len(bodies) if bodies else 0)


@given(st.lists(st.lists(st.integers(0, 20)), max_size=4))
def test_merging_is_a_stable_sort(times: list[list[int]]) -> None:
    feeds = [
        [Message(at, f"f{number}", b"%d" % place) for place, at in enumerate(sorted(feed))]
        for number, feed in enumerate(times)
    ]
    expected = sorted(itertools.chain(*feeds), key=lambda message: message.at)
    assert list(merge_feeds(*feeds)) == expected
