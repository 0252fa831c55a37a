"""The feed of `pathcast demo`: news, alerts, weather and stock quotes, and subscriptions to them.

The documents are those of `pathcast.generators`, mixed at random; a dozen subscriptions are written
by hand, the others are generated. The seed determines everything. A few documents are malformed on
purpose, as in real feeds: truncated, with an unescaped ampersand, mismatched tags or a wrong
encoding.

>>> first, second = generate_feed(2, seed=7), generate_feed(2, seed=7)
>>> list(first) == list(second)
True
>>> [(row.id, row.subscriber) for row in generate_subscriptions(14, 4, seed=7)][-2:]
[('profile-1', 'reader-1'), ('profile-2', 'reader-2')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathcast.files import Subscription

__all__ = ["generate_feed", "generate_subscriptions"]

# The kinds of documents, each as often as its share in ten.
_MIX = ("news",) * 4 + ("weather",) * 3 + ("stock",) * 2 + ("alert",)
_SIZES_BYTES = {"news": 3000, "alert": 1500}
_STOCK_SYMBOLS = 8
_WEATHER_PERIOD_SECONDS = 600
_MALFORMED_INTERVAL = 500  # two documents, and one more in 500, are malformed


def generate_feed(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of `count` documents; two, and one in 500, are malformed."""
    from pathcast.rng import SeededRandom

    rng = SeededRandom(seed, "demo")
    malformed: set[int] = set()
    while len(malformed) < min(count, 2 + count // _MALFORMED_INTERVAL):
        malformed.add(rng.below(count))
    streams = {kind: _stream(kind, seed) for kind in dict.fromkeys(_MIX)}
    for number in range(count):
        kind = rng.pick(_MIX)
        body = next(streams[kind])
        if number in malformed:
            body = rng.pick(_CORRUPTIONS)(body)
        yield f"{kind}-{number + 1}.xml", body


def _stream(kind: str, seed: int) -> Iterator[bytes]:
    """Yield documents of one kind, without end."""
    from pathcast.generators.bundled import bundled_schema
    from pathcast.generators.documents import DocumentOptions, Documents
    from pathcast.generators.feeds import stock_feed, weather_feed
    from pathcast.generators.feeds.stock import StockOptions
    from pathcast.generators.feeds.weather import WeatherOptions

    if kind in _SIZES_BYTES:
        documents = Documents(bundled_schema(kind), DocumentOptions(size=_SIZES_BYTES[kind]), seed)
        number = 0
        while True:
            yield documents[number]
            number += 1
    day = seed
    while True:
        if kind == "weather":
            messages = weather_feed(WeatherOptions(period=_WEATHER_PERIOD_SECONDS), day)
        else:
            messages = stock_feed(StockOptions(symbols=_STOCK_SYMBOLS), day)
        for message in messages:
            yield message.body
        day += 1


_CORRUPTIONS: tuple[Callable[[bytes], bytes], ...] = (
    lambda body: body[: len(body) * 2 // 3],  # truncated
    lambda body: body.replace(b"</", b" R&D </", 1),  # unescaped ampersand
    lambda body: body.replace(b"</", b"</x-", 1),  # mismatched tags
    lambda body: body.replace(b"</", b"\xe9</", 1),  # Latin-1 in UTF-8
)


def generate_subscriptions(count: int, readers: int, seed: int) -> Iterator[Subscription]:
    """Yield `count` subscriptions of `readers` readers: first those of `_HAND_WRITTEN`."""
    from pathcast.generators.bundled import bundled_schema
    from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions

    yield from _HAND_WRITTEN[:count]
    if count <= len(_HAND_WRITTEN):
        return
    schemas = [bundled_schema(kind) for kind in dict.fromkeys(_MIX)]
    options = SubscriptionOptions(
        min_depth=3, wildcard=0.05, descendant=0.1, branch=0.1, predicate=1.0, distinct=False
    )
    texts = subscriptions(schemas, options, seed, count - len(_HAND_WRITTEN))
    for number, text in enumerate(texts):
        reader = f"reader-{number % readers + 1}"
        yield Subscription(f"profile-{number + 1}", text, subscriber=reader)


_HAND_WRITTEN = (
    Subscription("any-city", "/*[@city]"),
    Subscription("toronto-sun", "/weather[@city = 'Toronto'][clouds < 50]"),
    Subscription("north-wind", "//wind[@from = 'N' or @from = 'NE'][. > 15]"),
    Subscription(
        "muggy", "/weather[temperature - dew-point < 2]"
    ),  # arithmetic: a residual, for libxml2
    Subscription("bargains", "//stock[rating = 'buy'][pe < 20]"),
    Subscription("falling", "stock/last-trade[@move = 'down']"),
    Subscription("pictures", "//block[media/media.caption]"),
    Subscription("long-reads", "/news[count(.//p) > 6]"),
    Subscription("no-byline", "/news[not(.//byline)]"),
    Subscription("places", "/alert/info[area/geocode]//event"),
    Subscription("what-to-do", "/alert[info/response]"),
    Subscription("misspelt", "//headlin"),  # never matches; `pathcast schema check` would report it
)
