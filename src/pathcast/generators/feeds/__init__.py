"""Weather and stock feeds that resemble the real traces of Cao 2012.

    seed -> a process in continuous time (station, stock) -> rows, sampled (weather, stock)
         -> CSV (rows) -> XML messages by a style sheet (stylesheets) -> feeds merged by time (feed)

- `feed`: messages from rows, merging of feeds, and the share of repeated messages.
- `rows`: rows of a feed and their CSV files.
- `station`, `weather`: the weather of a city, and the feed that samples cities.
- `stock`: companies and their trades, and the feed that polls them.
- `stylesheets`: the bundled style sheets.
"""

from pathcast.generators.feeds.feed import (
    Message,
    merge_feeds,
    messages,
    repeated_share,
    stock_feed,
    weather_feed,
)
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.stylesheets import bundled_stylesheet
from pathcast.generators.feeds.weather import WeatherOptions

__all__ = [
    "Message",
    "StockOptions",
    "WeatherOptions",
    "bundled_stylesheet",
    "merge_feeds",
    "messages",
    "repeated_share",
    "stock_feed",
    "weather_feed",
]
