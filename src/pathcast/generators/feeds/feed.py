"""Feeds: rows through a style sheet -> messages in the order of their times.

A message is the XML that a sheet makes of one row (weather: a city's report) or of all rows of one moment (stock:
every symbol), with that moment. Messages of several feeds are mixed by time, as for figure 3.10 of Cao 2012; the
pause between two messages is the difference of their times.

`repeated_share` is the share of messages that had occurred before, byte for byte: the hit ratio of a cache without limits
(table 3.8).

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
    """`at` is the time in seconds, as in `FeedRow`; `feed` says where it comes from."""

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
    """One message a row, or (`grouped`) one for all rows of the same time that follow each other.

    `timed` is handed to the sheet, whose business it is to write the time into the message.
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
    """A message for each report of a city, valid under weather.dtd."""
    table = FeedTable(weather.FIELDS, weather.rows(options, seed))
    return messages(table, stylesheet or bundled_stylesheet("weather"), feed="weather", timed=timed)


def stock_feed(
    options: StockOptions, seed: int, *, stylesheet: Stylesheet | None = None, timed: bool = False
) -> Iterator[Message]:
    """A message for each poll of the market, valid under stock.dtd."""
    table = FeedTable(stock.FIELDS, stock.rows(options, seed))
    chosen = stylesheet or bundled_stylesheet("stock")
    return messages(table, chosen, feed="stock", grouped=True, timed=timed)


def merge_feeds(*feeds: Iterable[Message]) -> Iterator[Message]:
    """All messages by time; of the same time, those of an earlier feed come first."""
    return heapq.merge(*feeds, key=lambda message: message.at)


def repeated_share(bodies: Iterable[bytes]) -> float:
    """The share of messages that are equal to one before; 0 where there are none."""
    seen: set[bytes] = set()
    count = 0
    for body in bodies:
        seen.add(blake2b(body, digest_size=16).digest())
        count += 1
    return 1 - len(seen) / count if count else 0.0
