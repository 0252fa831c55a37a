"""Inputs with selective subscriptions: a feed of items, and alerts on their values.

A document is a feed of some 7 KB with twelve items: an id, a ticker, a city, a price, a volume, a
headline and text. An alert has one to three value predicates, as alerting users write them:

    //item[ticker = 'T0417']
    //item[ticker = 'T0417'][price > 61.5]/headline
    /feed/item[@id = 'N31337']
    //item[city = 'C0128'][price > 40.2][price < 44.2]
    //item[city = 'C0128' and volume >= 9640]

Each matches between one and ten of 10,000 documents. Popular tickers and ids repeat among a million
alerts, as they do among users.
"""

from __future__ import annotations

from pathcast.rng import SeededRandom

__all__ = ["alert_documents", "alert_subscriptions"]

_SEED = 1
_ITEMS = 12  # of a document
_TICKERS, _CITIES, _IDS, _WORDS = 20_000, 2_000, 60_000, 20_000
_MAX_PRICE, _PRICE_BAND = 100, 4
_MAX_VOLUME, _HIGH_VOLUME = 10_000, 9_500
_TEXT_WORDS = 60  # of an item


def alert_documents(count: int) -> list[bytes]:
    """Return the documents of a feed."""
    rng = SeededRandom(_SEED, "alert documents")
    return [_document(rng) for _ in range(count)]


def _document(rng: SeededRandom) -> bytes:
    items = "".join([_item(rng) for _ in range(_ITEMS)])
    return f"<feed>{items}</feed>".encode()


def _item(rng: SeededRandom) -> str:
    words = [f"w{rng.below(_WORDS)}" for _ in range(_TEXT_WORDS)]
    return (
        f"<item id='N{rng.below(_IDS)}'><ticker>T{rng.below(_TICKERS):04}</ticker>"
        f"<city>C{rng.below(_CITIES):04}</city><price>{_price(rng)}</price>"
        f"<volume>{rng.below(_MAX_VOLUME)}</volume><headline>{' '.join(words[:8])}</headline>"
        f"<p>{' '.join(words[8:])}</p></item>"
    )


def alert_subscriptions(count: int) -> list[str]:
    """Return alerts; the five kinds alternate."""
    rng = SeededRandom(_SEED, "alerts")
    return [_alert(rng, number % 5) for number in range(count)]


def _alert(rng: SeededRandom, kind: int) -> str:
    ticker, city = f"T{rng.below(_TICKERS):04}", f"C{rng.below(_CITIES):04}"
    match kind:
        case 0:
            return f"//item[ticker = '{ticker}']"
        case 1:
            return f"//item[ticker = '{ticker}'][price > {_price(rng)}]/headline"
        case 2:
            return f"/feed/item[@id = 'N{rng.below(_IDS)}']"
        case 3:
            low = _price(rng)
            return f"//item[city = '{city}'][price > {low}][price < {low + _PRICE_BAND:.1f}]"
        case _:
            volume = rng.between(_HIGH_VOLUME, _MAX_VOLUME)
            return f"//item[city = '{city}' and volume >= {volume}]"


def _price(rng: SeededRandom) -> float:
    return rng.below(_MAX_PRICE * 10) / 10
