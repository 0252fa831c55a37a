"""Feeds as real-life traces: the weather of cities, the prices of stocks.

seed -> a process that moves by itself (station, stock) -> rows, looked at now and then (weather, stock)
     -> CSV (rows) -> XML messages by a style sheet (stylesheets) -> feeds, mixed by time (feed)
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
