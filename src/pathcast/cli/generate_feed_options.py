"""Words of `pathcast generate feed` -> the rows of a feed, and the style sheet for them."""

from __future__ import annotations

import itertools
from datetime import date
from typing import TYPE_CHECKING, Any

import typer

from pathcast.cli.console import fail

if TYPE_CHECKING:
    from pathcast.generators.feeds.rows import FeedTable
    from pathcast.generators.feeds.stock import StockOptions
    from pathcast.generators.feeds.weather import WeatherOptions
    from pathcast.xslt import Stylesheet

__all__ = ["sheet_of", "table_of"]

_WEATHER = ("day", "cities", "together")
_STOCK = ("symbols", "trades")
_BOTH = ("days", "period", "start", "since", "until")


def table_of(feed: str, given: dict[str, Any], seed: int) -> tuple[FeedTable, bool]:
    """The rows of a feed or a file, and whether those of one time are one message."""
    from pathcast.generators.feeds import stock, weather
    from pathcast.generators.feeds.rows import FeedTable, read_csv

    match feed:
        case "weather":
            _refuse(given, _STOCK, "the weather feed")
            return FeedTable(weather.FIELDS, weather.rows(_weather(given), seed)), False
        case "stock":
            _refuse(given, _WEATHER, "the stock feed")
            return FeedTable(stock.FIELDS, stock.rows(_stock(given), seed)), True
    if not feed.lower().removesuffix(".gz").endswith(".csv"):
        fail(f"there is no feed {feed!r}\n  hint: weather, stock, or a .csv file")
    _refuse(given, (*_WEATHER, *_STOCK, *_BOTH), "a file")
    table = read_csv(feed)
    return table, "symbol" in table.fields


def _refuse(given: dict[str, Any], names: tuple[str, ...], whom: str) -> None:
    for name in names:
        if name in given:
            fail(f"--{'from' if name == 'since' else name} is not for {whom}")


def _weather(given: dict[str, Any]) -> WeatherOptions:
    from pathcast.generators.feeds.weather import WeatherOptions, cities

    changes: dict[str, Any] = {}
    kinds = [_variability(one) for one in given.get("day", ["mixed"])]
    count = given.get("days", len(kinds))
    changes["days"] = tuple(itertools.islice(itertools.cycle(kinds), count))
    if "cities" in given:
        text = given["cities"]
        named = tuple(name.strip() for name in text.split(","))
        changes["cities"] = cities(int(text)) if text.isascii() and text.isdigit() else named
    changes |= {name: given[name] for name in ("period", "together") if name in given}
    return WeatherOptions(**changes, **_times(given, "since", "until"))


def _stock(given: dict[str, Any]) -> StockOptions:
    from pathcast.generators.feeds.stock import StockOptions

    names = ("symbols", "trades", "days", "period")
    changes: dict[str, Any] = {name: given[name] for name in names if name in given}
    return StockOptions(**changes, **_times(given, "opens", "closes"))


def _times(given: dict[str, Any], since: str, until: str) -> dict[str, Any]:
    from pathcast.generators.feeds.rows import parse_time_of_day

    found: dict[str, Any] = {}
    if "start" in given:
        try:
            found["start"] = date.fromisoformat(given["start"])
        except ValueError:
            problem = f"{given['start']!r} is no date such as 2011-08-03"
            raise typer.BadParameter(problem, param_hint="--start") from None
    if "since" in given:
        found[since] = parse_time_of_day(given["since"])
    if "until" in given:
        found[until] = parse_time_of_day(given["until"])
    return found


def _variability(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def sheet_of(name: str | None, feed: str) -> Stylesheet:
    """The sheet of that name or file; without one, that of the feed."""
    from pathcast.generators.feeds.stylesheets import STYLESHEETS, bundled_stylesheet
    from pathcast.xslt import Stylesheet

    if name is None and feed not in STYLESHEETS:
        fail(f"which style sheet?\n  hint: --sheet takes {', '.join(STYLESHEETS)} or a file")
    chosen = feed if name is None else name
    return bundled_stylesheet(chosen) if chosen in STYLESHEETS else Stylesheet.load(chosen)
