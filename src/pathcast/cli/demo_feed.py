"""A feed for the demonstration: generated news and alerts, the weather and stock quotes, and readers of it.

It is the generators of `workload` at work, mixed by rng, and a few readers who wrote their XPath by hand. Everything
follows from the seed. A few documents are broken on purpose, each in a way that real feeds are: cut off, an ampersand that
is not escaped, tags that cross, a wrong encoding.

>>> first, second = feed(2, seed=7), feed(2, seed=7)
>>> list(first) == list(second)
True
>>> [(one.id, one.subscriber) for one in subscriptions(14, 4, seed=7)][-2:]
[('profile-1', 'reader-1'), ('profile-2', 'reader-2')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathcast.files import Subscription

__all__ = ["feed", "subscriptions"]

# Kinds by how often they come, out of ten.
_MIX = ("news",) * 4 + ("weather",) * 3 + ("stock",) * 2 + ("alert",)
_SIZES = {"news": 3000, "alert": 1500}
_SYMBOLS = 8
_BROKEN = 500  # one in so many, and two more


def feed(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """The names and bytes of `count` documents; two of them (and one in 500) are broken."""
    from pathcast.rng import SeededRandom

    rng = SeededRandom(seed, "demo")
    broken: set[int] = set()
    while len(broken) < min(count, 2 + count // _BROKEN):
        broken.add(rng.below(count))
    streams = {kind: _stream(kind, seed) for kind in dict.fromkeys(_MIX)}
    for number in range(count):
        kind = rng.pick(_MIX)
        body = next(streams[kind])
        if number in broken:
            body = rng.pick(_BREAKS)(body)
        yield f"{kind}-{number + 1}.xml", body


def _stream(kind: str, seed: int) -> Iterator[bytes]:
    """Documents of one kind, without end."""
    from pathcast.generators.bundled import bundled_schema
    from pathcast.generators.documents import DocumentOptions, Documents
    from pathcast.generators.feeds import stock_feed, weather_feed
    from pathcast.generators.feeds.stock import StockOptions
    from pathcast.generators.feeds.weather import WeatherOptions

    if kind in _SIZES:
        made = Documents(bundled_schema(kind), DocumentOptions(size=_SIZES[kind]), seed)
        number = 0
        while True:
            yield made[number]
            number += 1
    day = seed
    while True:  # day after day
        if kind == "weather":
            messages = weather_feed(WeatherOptions(period=600), day)
        else:
            messages = stock_feed(StockOptions(symbols=_SYMBOLS), day)
        for message in messages:
            yield message.body
        day += 1


_BREAKS: tuple[Callable[[bytes], bytes], ...] = (
    lambda body: body[: len(body) * 2 // 3],
    lambda body: body.replace(b"</", b" R&D </", 1),
    lambda body: body.replace(b"</", b"</x-", 1),
    lambda body: body.replace(b"</", b"\xe9</", 1),
)


def subscriptions(count: int, readers: int, seed: int) -> Iterator[Subscription]:
    """`count` subscriptions of so many readers: the dozen written by hand, then generated ones, each of one kind."""
    from pathcast.generators.bundled import bundled_schema
    from pathcast.generators.subscriptions import SubscriptionOptions
    from pathcast.generators.subscriptions import subscriptions as generated

    yield from _BY_HAND[:count]
    if count <= len(_BY_HAND):
        return
    schemas = [bundled_schema(kind) for kind in dict.fromkeys(_MIX)]
    options = SubscriptionOptions(
        min_depth=3, wildcard=0.05, descendant=0.1, branch=0.1, predicate=1.0, distinct=False
    )
    texts = generated(schemas, options, seed, count - len(_BY_HAND))
    for number, text in enumerate(texts):
        reader = f"reader-{number % readers + 1}"
        yield Subscription(f"profile-{number + 1}", text, subscriber=reader)


_BY_HAND = (
    Subscription("any-city", "/*[@city]"),
    Subscription("toronto-sun", "/weather[@city = 'Toronto'][clouds < 50]"),
    Subscription("north-wind", "//wind[@from = 'N' or @from = 'NE'][. > 15]"),
    Subscription("muggy", "/weather[temperature - dew-point < 2]"),  # arithmetic: left to libxml2
    Subscription("bargains", "//stock[rating = 'buy'][pe < 20]"),
    Subscription("falling", "stock/last-trade[@move = 'down']"),
    Subscription("pictures", "//block[media/media.caption]"),
    Subscription("long-reads", "/news[count(.//p) > 6]"),
    Subscription("no-byline", "/news[not(.//byline)]"),
    Subscription("places", "/alert/info[area/geocode]//event"),
    Subscription("what-to-do", "/alert[info/response]"),
    Subscription("misspelt", "//headlin"),  # never: pathcast schema check would have told
)
