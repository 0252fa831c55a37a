"""Feeds: a style sheet turns rows into messages, in time order.

A message is the XML of one row (weather: a city's report) or of all rows of one moment (stock:
every symbol), with that moment. Several feeds are merged by time, as for figure 3.10 of Cao 2012.
The pause between two messages is the difference of their times.

`repeated_share` is the share of messages that occurred before, byte for byte: the hit ratio of an
unbounded cache (table 3.8).

>>> calm = weather_feed(WeatherOptions(days=("calm",)), seed=1)
>>> 0.8 < repeated_share(message.body for message in calm) < 0.9
True
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from pathcast.generators.feeds import stock, weather
from pathcast.generators.feeds.rows import FeedRow, FeedTable
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.stylesheets import bundled_stylesheet
from pathcast.generators.feeds.weather import WeatherOptions
from pathcast.xslt import Stylesheet

__all__ = ["Message", "merge_feeds", "messages", "repeated_share", "stock_feed", "weather_feed"]


@dataclass(frozen=True, slots=True)
class Message:
    """An XML message; `at` is its time in seconds, as in `FeedRow`, and `feed` its origin."""

    at: int
    feed: str
    body: bytes


def messages(
    table: FeedTable,
    stylesheet: Stylesheet,
    *,
    feed: str,
    grouped: bool = False,
    timed: bool = False,
) -> Iterator[Message]:
    """Yield one message per row, or (`grouped`) per run of rows with the same time.

    `timed` is a parameter of the style sheet, which then writes the time into the message.
    """
    parameters = {"timed": "yes"} if timed else {}
    for at, rows in _groups(table.rows, grouped):
        yield Message(
            at,
            feed,
            stylesheet.transform_rows(table.fields, [row.values for row in rows], **parameters),
        )


def _groups(rows: Iterable[FeedRow], grouped: bool) -> Iterator[tuple[int, Iterable[FeedRow]]]:
    if grouped:
        yield from itertools.groupby(rows, key=lambda row: row.at)
    else:
        for row in rows:
            yield row.at, (row,)


def weather_feed(
    options: WeatherOptions, seed: int, *, stylesheet: Stylesheet | None = None, timed: bool = False
) -> Iterator[Message]:
    """Yield a message for each report of a city, valid under weather.dtd."""
    table = FeedTable(weather.FIELDS, weather.rows(options, seed))
    return messages(table, stylesheet or bundled_stylesheet("weather"), feed="weather", timed=timed)


def stock_feed(
    options: StockOptions, seed: int, *, stylesheet: Stylesheet | None = None, timed: bool = False
) -> Iterator[Message]:
    """Yield a message for each poll of the market, valid under stock.dtd."""
    table = FeedTable(stock.FIELDS, stock.rows(options, seed))
    chosen = stylesheet or bundled_stylesheet("stock")
    return messages(table, chosen, feed="stock", grouped=True, timed=timed)


def merge_feeds(*feeds: Iterable[Message]) -> Iterator[Message]:
    """Merge feeds by time; of messages with one time, those of an earlier argument come first."""
    return heapq.merge(*feeds, key=lambda message: message.at)


def repeated_share(bodies: Iterable[bytes]) -> float:
    """Return the share of messages equal to an earlier one; 0 if there are none."""
    seen: set[bytes] = set()
    count = 0
    for body in bodies:
        seen.add(blake2b(body, digest_size=16).digest())
        count += 1
    return 1 - len(seen) / count if count else 0.0
