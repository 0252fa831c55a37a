"""The feed of `pathcast demo`: weather, weather alerts, stock quotes and stock news.

Weather and quotes are the feeds of `pathcast.generators`; alerts and news are written here, about
the same cities and companies. Subscriptions are those that people write: a dozen by hand, the
others from `_TEMPLATES` with places, companies and thresholds filled in. The seed determines
everything. A few documents are malformed on purpose, as in real feeds: truncated, with an
unescaped ampersand, mismatched tags or a wrong encoding.

>>> first, second = generate_feed(2, seed=7), generate_feed(2, seed=7)
>>> list(first) == list(second)
True
>>> [(row.id, row.subscriber) for row in generate_subscriptions(14, 4, seed=7)][-2:]
[('profile-1', 'reader-1'), ('profile-2', 'reader-2')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pathcast.files import Subscription

if TYPE_CHECKING:
    from pathcast.rng import SeededRandom

__all__ = ["generate_feed", "generate_subscriptions"]

# The kinds of documents, each as often as its share in ten.
_MIX = ("weather",) * 4 + ("alert",) * 2 + ("quotes",) * 1 + ("news",) * 3
_COMPANIES = 40
_QUOTED_COMPANIES = 8  # in a document of quotes
_WEATHER_PERIOD_SECONDS = 600
_DAYS = 30  # of weather and quotes, which then come again
_MALFORMED_INTERVAL = 500  # two documents, and one more in 500, are malformed

_CITIES = (
    *("Toronto", "Ottawa", "Sudbury", "Hamilton", "London", "Kingston", "Windsor", "Barrie"),
    *("Guelph", "Thunder Bay", "Sault Ste. Marie", "North Bay", "Timmins", "Kenora"),
)
_EVENTS = ("storm", "snow", "freezing rain", "heat", "flood", "fog", "fire smoke", "tornado")
_SEVERITIES = ("minor", "minor", "minor", "moderate", "moderate", "severe", "extreme")
_ADVICE = ("stay indoors", "avoid travel", "drink water", "move to higher ground", "drive slowly")
_TOPICS = ("earnings", "merger", "lawsuit", "dividend", "strike", "forecast", "recall")
_SECTORS = ("energy", "finance", "health", "industry", "retail", "technology", "utilities")
_RATINGS = ("strong buy", "buy", "hold", "sell")
_WINDS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
_LANGUAGES = ("en", "en", "en", "fr")


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
    from pathcast.generators.feeds import stock_feed, weather_feed
    from pathcast.generators.feeds.stock import StockOptions, symbols
    from pathcast.generators.feeds.weather import WeatherOptions
    from pathcast.rng import SeededRandom

    rng = SeededRandom(seed, "demo", kind)
    companies = symbols(_COMPANIES, seed)
    stocks = StockOptions(symbols=_QUOTED_COMPANIES, days=_DAYS)
    weather = WeatherOptions(_CITIES, _WEATHER_PERIOD_SECONDS, ("mixed",) * _DAYS)
    while True:
        match kind:
            case "weather":
                yield from (message.body for message in weather_feed(weather, seed))
            case "quotes":
                yield from (message.body for message in stock_feed(stocks, seed))
            case "alert":
                yield _alert(rng)
            case _:
                yield _news(rng, companies)


def _alert(rng: SeededRandom) -> bytes:
    event, severity = rng.pick(_EVENTS), rng.pick(_SEVERITIES)
    cities = sorted({rng.pick(_CITIES) for _ in range(rng.between(1, 4))})
    areas = "".join(f"\n    <area city='{city}'/>" for city in cities)
    hours, wind, level = rng.between(1, 24), rng.between(10, 140), rng.between(1, 90)
    return f"""<alert severity="{severity}" event="{event}">
  <headline>{event.capitalize()} warning for {" and ".join(cities)}</headline>
  <areas>{areas}
  </areas>
  <expected>
    <hours>{hours}</hours>
    <wind unit="km-h">{wind}</wind>
    <precipitation unit="mm">{level}</precipitation>
  </expected>
  <advice>{rng.pick(_ADVICE)}</advice>
</alert>
""".encode()


def _news(rng: SeededRandom, companies: Sequence[str]) -> bytes:
    company, topic, sector = rng.pick(companies), rng.pick(_TOPICS), rng.pick(_SECTORS)
    change = rng.between(-120, 120) / 10
    move = "falls" if change < 0 else "gains"
    rival = ""
    if rng.below(3) == 0:
        rival = f'\n  <company symbol="{rng.pick(companies)}" role="rival"/>'
    paragraphs = "".join(
        f"\n    <p>{company} {rng.pick(_TOPICS)} {rng.pick(_TOPICS)}.</p>"
        for _ in range(rng.between(1, 9))
    )
    analyst = f"\n  <rating by='desk'>{rng.pick(_RATINGS)}</rating>" if rng.below(2) else ""
    return f"""<news lang="{rng.pick(_LANGUAGES)}" topic="{topic}" sector="{sector}">
  <headline>{company} {move} {abs(change)}% on {topic}</headline>
  <company symbol="{company}" role="subject"/>{rival}
  <change unit="percent">{change}</change>{analyst}
  <text>{paragraphs}
  </text>
</news>
""".encode()


_CORRUPTIONS: tuple[Callable[[bytes], bytes], ...] = (
    lambda body: body[: len(body) * 2 // 3],  # truncated
    lambda body: body.replace(b"</", b" R&D </", 1),  # unescaped ampersand
    lambda body: body.replace(b"</", b"</x-", 1),  # mismatched tags
    lambda body: body.replace(b"</", b"\xe9</", 1),  # Latin-1 in UTF-8
)


def generate_subscriptions(count: int, readers: int, seed: int) -> Iterator[Subscription]:
    """Yield `count` subscriptions of `readers` readers: first those of `_HAND_WRITTEN`."""
    from pathcast.generators.feeds.stock import symbols
    from pathcast.rng import SeededRandom

    companies = symbols(_COMPANIES, seed)
    yield from _HAND_WRITTEN[:count]
    rng = SeededRandom(seed, "demo", "subscriptions")
    for number in range(count - len(_HAND_WRITTEN)):
        reader = f"reader-{number % readers + 1}"
        text = rng.pick(_TEMPLATES)(rng, companies)
        yield Subscription(f"profile-{number + 1}", text, subscriber=reader)


_TEMPLATES: tuple[Callable[[SeededRandom, Sequence[str]], str], ...] = (
    lambda rng, _: f"/weather[@city = '{rng.pick(_CITIES)}'][temperature > {rng.between(-20, 35)}]",
    lambda rng, _: f"/weather[@city = '{rng.pick(_CITIES)}'][wind-gust > {rng.between(15, 70)}]",
    lambda rng, _: f"//wind[@from = '{rng.pick(_WINDS)}'][. > {rng.between(5, 60)}]",
    lambda rng, _: f"/weather[clouds < {rng.between(5, 60)}][temperature > {rng.between(10, 30)}]",
    lambda rng, _: f"/weather[pressure/@trend = 'falling'][humidity > {rng.between(60, 99)}]",
    lambda rng, _: f"/alert[areas/area/@city = '{rng.pick(_CITIES)}']",
    lambda rng, _: (
        f"/alert[@severity = '{rng.pick(_SEVERITIES)}']"
        f"[areas/area/@city = '{rng.pick(_CITIES)}'][@event = '{rng.pick(_EVENTS)}']"
    ),
    lambda rng, _: (
        f"/alert[@event = '{rng.pick(_EVENTS)}']/expected[wind > {rng.between(20, 130)}]"
    ),
    lambda rng, _: f"/alert[advice = '{rng.pick(_ADVICE)}'][expected/hours < {rng.between(2, 24)}]",
    lambda rng, companies: f"/news[company/@symbol = '{rng.pick(companies)}']",
    lambda rng, companies: (
        f"/news[company[@role = 'subject']/@symbol = '{rng.pick(companies)}']"
        f"[change < {-rng.between(1, 10)}]"
    ),
    lambda rng, _: f"/news[@topic = '{rng.pick(_TOPICS)}'][@sector = '{rng.pick(_SECTORS)}']",
    lambda rng, companies: (
        f"/news[@lang = 'en'][rating = '{rng.pick(_RATINGS)}']"
        f"/company[@symbol = '{rng.pick(companies)}']"
    ),
    lambda rng, companies: f"//stock[symbol = '{rng.pick(companies)}']/last-trade[@move = 'up']",
    lambda rng, _: f"//stock[@sector = '{rng.pick(_SECTORS)}'][pe < {rng.between(8, 40)}]/symbol",
    lambda rng, _: f"//stock[rating = '{rng.pick(_RATINGS)}'][yield > {rng.between(1, 6)}]",
)

_HAND_WRITTEN = (
    Subscription("toronto-sun", "/weather[@city = 'Toronto'][clouds < 50]"),
    Subscription("north-wind", "//wind[@from = 'N' or @from = 'NE'][. > 15]"),
    Subscription(
        "muggy", "/weather[temperature - dew-point < 2]"
    ),  # arithmetic: a residual, for libxml2
    Subscription("dangerous", "/alert[@severity = 'severe' or @severity = 'extreme']"),
    Subscription("north-alerts", "/alert//area[@city = 'Timmins' or @city = 'Kenora']"),
    Subscription("wide-alerts", "/alert[count(areas/area) > 2]"),
    Subscription("bargains", "//stock[rating = 'buy'][pe < 20]"),
    Subscription("falling", "//stock/last-trade[@move = 'down']"),
    Subscription("rivals", "/news[company/@role = 'rival']/headline"),
    Subscription("crashes", "/news[change < -10]"),
    Subscription("long-reads", "/news[count(.//p) > 6]"),
    Subscription("misspelt", "//headlin"),  # never matches; `pathcast schema check` would report it
)
