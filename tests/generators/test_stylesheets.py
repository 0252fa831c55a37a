"""Bundled style sheets: messages are valid and contain every value of a row."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.feeds import stock, stock_feed, weather, weather_feed
from pathcast.generators.feeds.station import READINGS
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.stylesheets import STYLESHEETS, bundled_stylesheet
from pathcast.generators.feeds.weather import WeatherOptions, cities


@settings(max_examples=10)
@given(
    seed=st.integers(0, 1000),
    kind=st.floats(0, 1),
    month=st.integers(1, 12),
    timed=st.booleans(),
)
def test_weather_messages_are_valid_and_of_the_size_in_section_3_5(
    seed: int, kind: float, month: int, timed: bool
) -> None:
    start = weather.WeatherOptions().start.replace(month=month)
    options = WeatherOptions(cities=cities(5), days=(kind,), start=start, period=1000)
    for message in weather_feed(options, seed, timed=timed):
        assert bundled_schema("weather").faults(message.body) == []
        assert 1400 < len(message.body) < 1700  # about 1580 bytes


@settings(max_examples=5)
@given(seed=st.integers(0, 1000), timed=st.booleans())
def test_stock_messages_are_valid(seed: int, timed: bool) -> None:
    options = StockOptions(symbols=40, period=7000)
    for message in stock_feed(options, seed, timed=timed):
        assert bundled_schema("stock").faults(message.body) == []


def test_every_value_of_a_weather_row_is_in_the_message() -> None:
    (row,) = weather.rows(WeatherOptions(until=1), 1)
    values = dict(zip(weather.FIELDS, row.values, strict=True))
    root = etree.fromstring(
        bundled_stylesheet("weather").transform_rows(weather.FIELDS, [row.values])
    )
    for name in READINGS:
        if name not in ("from", "trend", "code"):
            assert root.findtext(name) == values[name]
    in_message = {
        "city": root.get("city"),
        "country": root.get("country"),
        "station": root.xpath("string(station/@code)"),
        "name": root.findtext("station/name"),
        "latitude": root.findtext("station/position/latitude"),
        "longitude": root.findtext("station/position/longitude"),
        "elevation": root.findtext("station/position/elevation"),
        "from": root.xpath("string(wind/@from)"),
        "trend": root.xpath("string(pressure/@trend)"),
        "code": root.xpath("string(condition/@code)"),
    }
    assert in_message == {name: values[name] for name in in_message}
    assert root.get("observed") is None
    assert values["time"].encode() not in etree.tostring(root)


def test_every_value_of_the_stock_rows_is_in_the_message() -> None:
    rows = [row.values for row in stock.rows(StockOptions(symbols=60, period=30_000), 1)]
    root = etree.fromstring(
        bundled_stylesheet("stock").transform_rows(stock.FIELDS, rows, timed="yes")
    )
    assert root.get("time") == rows[0][0]
    for element, row in zip(root, rows, strict=True):
        values = {child.tag: child.text for child in element}
        values |= {"time": rows[0][0], "sector": element.get("sector")}
        values |= {"move": element.xpath("string(last-trade/@move)")}
        expected = dict(zip(stock.FIELDS, row, strict=True))
        assert values == {name: value for name, value in expected.items() if value}


def test_timed_messages_contain_the_time() -> None:
    options = WeatherOptions(days=(0.0,), until=600)
    bodies = [message.body for message in weather_feed(options, 1, timed=True)]
    assert len(set(bodies)) == 20
    assert b'observed="2011-08-03T00:00:30"' in bodies[1]


def test_xml_special_characters_are_escaped() -> None:
    options = WeatherOptions(cities=("<&\"> 'Zürich' 東京",), until=1)
    (message,) = weather_feed(options, 1)
    assert etree.fromstring(message.body).get("city") == options.cities[0]
    assert bundled_schema("weather").faults(message.body) == []


def test_bundled_stylesheets_are_read_once() -> None:
    for name in STYLESHEETS:
        assert bundled_stylesheet(name) is bundled_stylesheet(name)


def test_unknown_stylesheet() -> None:
    with pytest.raises(WorkloadError, match="there is no style sheet 'news'"):
        bundled_stylesheet("news")
