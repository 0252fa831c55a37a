"""A small feed for the demonstration: news, weather, stocks and alerts, and people who want some of it.

Everything follows from the seed: the same seed gives the same bytes. Alerts are in a namespace (a
default one, so that an unprefixed XPath misses them). A few documents are broken on purpose, each in
a way that real feeds are: cut off, an ampersand that is not escaped, tags that cross, a wrong encoding.

>>> first, second = feed(2, seed=7), feed(2, seed=7)
>>> list(first) == list(second)
True
>>> [subscription.id for subscription in subscriptions(14, seed=7)][-2:]
['reader-1', 'reader-2']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from pathcast.formats import Subscription

__all__ = ["feed", "subscriptions"]

ALERTS = "urn:pathcast:demo:alerts"
_PEOPLE = ("Ann Lee", "Bo Ek", "Chidi Obi", "Dana Roth", "Emi Sato", "Farid Nasser")
_SECTIONS = ("world", "business", "science", "sport", "culture")
_CITIES = ("Oslo", "Lagos", "Lima", "Osaka", "Riga", "Cork", "Perth")
_SYMBOLS = ("TIN", "ZINC", "COPPER", "TEA", "WOOL", "SALT")
_WORDS = (
    "the harbour council said on Monday that ferries would run again after a week of storms while "
    "prices of copper and tea rose and the museum opened its new wing to a long line of visitors"
).split()
_NOUNS = ("harbour", "ferries", "storms", "prices", "copper", "museum", "visitors")


def feed(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """The names and bytes of `count` documents; two of them (and one in 500) are broken."""
    random = Random(seed)
    broken = set(random.sample(range(count), min(count, 2 + count // 500)))
    for number in range(count):
        kind, make = random.choice(_KINDS)
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n{make(random)}\n'
        name = f"{kind}-{number + 1}.xml"
        yield name, (random.choice(_BREAKS)(body) if number in broken else body.encode())


def _news(random: Random) -> str:
    section, priority = random.choice(_SECTIONS), random.randint(1, 5)
    people = random.sample(_PEOPLE, random.randint(0, 2))
    byline = "".join(f"<person>{person}</person>" for person in people)
    body = "".join(f"<p>{_prose(random)}</p>" for _ in range(random.randint(1, 8)))
    return (
        f'<news section="{section}" priority="{priority}" lang="{random.choice(("en", "no"))}">'
        f"<headline>{_prose(random)}</headline>"
        + (f"<byline>{byline}</byline>" if people else "")
        + f"<body>{body}</body></news>"
    )


def _weather(random: Random) -> str:
    days = []
    for day in range(1, random.randint(2, 6)):
        low = random.randint(-15, 25)
        days.append(
            f'<forecast day="{day}"><low>{low}</low><high>{low + random.randint(2, 18)}</high>'
            f'<wind speed="{random.randint(0, 120)}" from="{random.choice("NESW")}"/></forecast>'
        )
    return f'<weather city="{random.choice(_CITIES)}">{"".join(days)}</weather>'


def _stock(random: Random) -> str:
    quotes = []
    for symbol in random.sample(_SYMBOLS, random.randint(1, 4)):
        change = random.randint(-90, 90) / 10
        quotes.append(
            f'<quote symbol="{symbol}"><price>{random.randint(100, 9999) / 10}</price>'
            f"<change>{change}</change></quote>"
        )
    return f'<stock market="{random.choice(_CITIES)}">{"".join(quotes)}</stock>'


def _alert(random: Random) -> str:
    level = random.choice(("green", "yellow", "orange", "red"))
    areas = "".join(f"<area>{city}</area>" for city in random.sample(_CITIES, 2))
    return (
        f'<alert xmlns="{ALERTS}"><level>{level}</level>{areas}'
        f"<text><![CDATA[{_prose(random)} & more]]></text></alert>"
    )


def _prose(random: Random) -> str:
    start = random.randrange(len(_WORDS) - 12)
    return " ".join(_WORDS[start : start + random.randint(4, 12)])


_KINDS: tuple[tuple[str, Callable[[Random], str]], ...] = (
    ("news", _news),
    ("weather", _weather),
    ("stock", _stock),
    ("alert", _alert),
)
_BREAKS: tuple[Callable[[str], bytes], ...] = (
    lambda body: body[: len(body) * 2 // 3].encode(),
    lambda body: body.replace("</", " R&D </", 1).encode(),
    lambda body: body.replace("</", "</x-", 1).encode(),
    lambda body: (
        body.replace("the", "th\N{LATIN SMALL LETTER E WITH ACUTE}").encode("latin-1") + b"\xe9"
    ),
)


def subscriptions(count: int, seed: int) -> Iterator[Subscription]:
    """`count` subscriptions: the dozen written by hand, then generated ones."""
    yield from _BY_HAND[:count]
    random = Random(f"{seed} readers")
    for number in range(1, count - len(_BY_HAND) + 1):
        yield Subscription(f"reader-{number}", random.choice(_WISHES)(random))


_BY_HAND = (
    Subscription("any-place", "/*[@city or @market]"),
    Subscription("storm-desk", "//forecast[wind/@speed > 90]"),
    Subscription("metals", "/stock/quote[@symbol='TIN' or @symbol='COPPER'][change < -3]"),
    Subscription("fans-of-ann", "/news//byline[person='Ann Lee']"),
    Subscription("front-page", "/news[@priority='1'][byline]/headline"),
    Subscription("long-reads", "/news[count(body/p) > 6]"),
    Subscription("harbour", "/news[not(@section='sport')]//p[contains(., 'harbour')]"),
    Subscription("red-alerts", "//a:alert[a:level='red']", {"a": ALERTS}),
    Subscription("no-prefix", "//alert[level='red']"),  # never: it is in another namespace
    Subscription("wide-days", "//forecast[high - low > 15]"),  # arithmetic: left to libxml2
    Subscription("last-day-wind", "weather/forecast[last()]/wind[@from='N']"),
    Subscription("big-moves", "quote/change[. > 8 or . < -8]"),
)


def _wish_news(random: Random) -> str:
    person = random.choice(_PEOPLE)
    return random.choice(
        (
            f"/news[@section='{random.choice(_SECTIONS)}'][@priority <= {random.randint(1, 4)}]",
            f"//person[.='{person}']",
            f"/news[byline/person='{person}']/body/p[{random.randint(1, 8)}]",
            f"//headline[contains(., '{random.choice(_NOUNS)}')]",
            f"/news[starts-with(headline, '{random.choice(_NOUNS)}')]//p",
        )
    )


def _wish_weather(random: Random) -> str:
    city = random.choice(_CITIES)
    return random.choice(
        (
            f"/weather[@city='{city}']/forecast[high > {random.randint(10, 35)}]",
            f"//forecast[@day='{random.randint(1, 5)}'][low < {random.randint(-10, 5)}]",
            f"/*[@city='{city}']//wind[@from='{random.choice('NESW')}']",
        )
    )


def _wish_stock(random: Random) -> str:
    symbol = random.choice(_SYMBOLS)
    return random.choice(
        (
            f"//quote[@symbol='{symbol}'][price > {random.randint(50, 950)}]",
            f"/stock[@market='{random.choice(_CITIES)}']/quote[change >= {random.randint(-5, 5)}]",
            f"/stock[quote/@symbol='{symbol}'][count(quote) = {random.randint(1, 4)}]",
            f"//*[@symbol='{symbol}']/change",
        )
    )


_WISHES: tuple[Callable[[Random], str], ...] = (_wish_news, _wish_weather, _wish_stock)
