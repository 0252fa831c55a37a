"""The options of `pathcast generate feed`, and the feed's rows and style sheet that they select."""

from __future__ import annotations

import itertools
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import fail
from pathcast.cli.generate_common import ArrivalsOption
from pathcast.cli.option_groups import given_options, option_group

if TYPE_CHECKING:
    from pathcast.generators.feeds.rows import FeedTable
    from pathcast.generators.feeds.stock import StockOptions
    from pathcast.generators.feeds.weather import WeatherOptions
    from pathcast.xslt import Stylesheet

__all__ = ["FeedOptions", "MessageOptions"]

_WEATHER_ONLY = ("day", "cities", "together")
_STOCK_ONLY = ("symbols", "trades")
_COMMON = ("days", "period", "start", "since", "until")


@option_group
class FeedOptions:
    """The parameters of the weather and stock feeds."""

    day: Annotated[
        list[str] | None,
        typer.Option(
            "--day",
            metavar="KIND",
            help="Weather: the kind of a day: calm, mixed, changeable, or a variability from 0 to"
            " 1; repeatable, one per day; default mixed.",
        ),
    ] = None
    days: Annotated[
        int | None,
        typer.Option("--days", min=1, help="How many days; the kinds of --day take turns."),
    ] = None
    period: Annotated[
        int | None,
        typer.Option(
            "--period",
            metavar="SECONDS",
            help="Time between reports; default 30 for weather, 300 for stock.",
        ),
    ] = None
    cities: Annotated[
        str | None,
        typer.Option(
            "--cities", metavar="N|NAME,...", help="Weather: how many cities, or which; default 3."
        ),
    ] = None
    together: Annotated[
        bool,
        typer.Option("--together", help="Weather: all cities report every time, not in turn."),
    ] = False
    symbols: Annotated[
        int | None, typer.Option("--symbols", help="Stock: how many companies; default 100.")
    ] = None
    trades: Annotated[
        int | None,
        typer.Option("--trades", help="Stock: mean trades per company and day; default 200."),
    ] = None
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="DATE", help="The first day; default 2011-08-03."),
    ] = None
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="First time of each day, such as 9:30."),
    ] = None
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="End time of each day, such as 16:00."),
    ] = None

    def load_table(self, feed: str, seed: int) -> tuple[FeedTable, bool]:
        """Return the rows of a feed or a file, and whether rows of the same time are one message.

        An option that does not apply to the feed ends the command.
        """
        from pathcast.generators.feeds import stock, weather
        from pathcast.generators.feeds.rows import FeedTable, read_csv

        options = given_options(self)
        if not self.together:
            del options["together"]
        match feed:
            case "weather":
                _reject(options, _STOCK_ONLY, "the weather feed")
                rows = weather.rows(_weather_options(options), seed)
                return FeedTable(weather.FIELDS, rows), False
            case "stock":
                _reject(options, _WEATHER_ONLY, "the stock feed")
                return FeedTable(stock.FIELDS, stock.rows(_stock_options(options), seed)), True
        if not feed.lower().removesuffix(".gz").endswith(".csv"):
            fail(f"there is no feed {feed!r}\n  hint: weather, stock, or a .csv file")
        _reject(options, (*_WEATHER_ONLY, *_STOCK_ONLY, *_COMMON), "a file")
        table = read_csv(feed)
        return table, "symbol" in table.fields


@option_group
class MessageOptions:
    """How rows become messages."""

    sheet: Annotated[
        str | None,
        typer.Option(
            "--sheet",
            metavar="FILE",
            help="The XSLT style sheet: a file, or weather or stock; default the feed's own.",
        ),
    ] = None
    timed: Annotated[
        bool,
        typer.Option("--timed", help="Put the time into each message, so that all are distinct."),
    ] = False
    arrivals: ArrivalsOption = None

    def has_values(self) -> bool:
        """Return whether any of the options was given."""
        return bool(self.sheet or self.timed or self.arrivals)

    def load_stylesheet(self, feed: str) -> Stylesheet:
        """Return the style sheet of `--sheet`, or else that of the feed."""
        from pathcast.generators.feeds.stylesheets import STYLESHEETS, bundled_stylesheet
        from pathcast.xslt import Stylesheet

        if self.sheet is None and feed not in STYLESHEETS:
            fail(f"which style sheet?\n  hint: --sheet takes {', '.join(STYLESHEETS)} or a file")
        name = feed if self.sheet is None else self.sheet
        return bundled_stylesheet(name) if name in STYLESHEETS else Stylesheet.load(name)


def _reject(options: dict[str, Any], names: tuple[str, ...], feed: str) -> None:
    for name in names:
        if name in options:
            fail(f"--{'from' if name == 'since' else name} is not for {feed}")


def _weather_options(options: dict[str, Any]) -> WeatherOptions:
    from pathcast.generators.feeds.weather import WeatherOptions, cities

    changes: dict[str, Any] = {}
    kinds = [_variability(kind) for kind in options.get("day", ["mixed"])]
    day_count = options.get("days", len(kinds))
    changes["days"] = tuple(itertools.islice(itertools.cycle(kinds), day_count))
    if "cities" in options:
        text = options["cities"]
        names = tuple(name.strip() for name in text.split(","))
        changes["cities"] = cities(int(text)) if text.isascii() and text.isdigit() else names
    changes |= {name: options[name] for name in ("period", "together") if name in options}
    return WeatherOptions(**changes, **_time_options(options, "since", "until"))


def _stock_options(options: dict[str, Any]) -> StockOptions:
    from pathcast.generators.feeds.stock import StockOptions

    names = ("symbols", "trades", "days", "period")
    changes: dict[str, Any] = {name: options[name] for name in names if name in options}
    return StockOptions(**changes, **_time_options(options, "opens", "closes"))


def _time_options(options: dict[str, Any], since_field: str, until_field: str) -> dict[str, Any]:
    from pathcast.generators.feeds.rows import parse_time_of_day

    fields: dict[str, Any] = {}
    if "start" in options:
        try:
            fields["start"] = date.fromisoformat(options["start"])
        except ValueError:
            problem = f"{options['start']!r} is no date such as 2011-08-03"
            raise typer.BadParameter(problem, param_hint="--start") from None
    if "since" in options:
        fields[since_field] = parse_time_of_day(options["since"])
    if "until" in options:
        fields[until_field] = parse_time_of_day(options["until"])
    return fields


def _variability(text: str) -> str | float:
    """Return a number as such; a name is that of a kind of day."""
    try:
        return float(text)
    except ValueError:
        return text
