"""The cost of a broker's routing decision, against `match_hops` on the same entries."""

from __future__ import annotations

from itertools import islice

from pathcast.bench.measure import Ratio, compare
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.generators.presets import PRESETS
from pathcast.matching import Matcher
from pathcast.routing.advertisement import ANYTHING
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import Advertise, Publication, Subscribe
from pathcast.routing.router import Router
from pathcast.routing.strategy import Strategy
from pathcast.xpath import parse

__all__ = ["decision_ratio"]

_NEIGHBOURS = 8
_DOCUMENT_BYTES = 10_240


def decision_ratio(entries: int, count: int, rounds: int) -> Ratio:
    """Return the engine's time divided by the broker's: 0.5 means half as fast."""
    texts = list(islice(PRESETS["li2008-a"].texts(seed=1, count=entries), entries))
    plain = Strategy(advertisements=True, covering=False)
    backend = MatcherBackend(plain)
    names = [f"n{number}" for number in range(_NEIGHBOURS)]
    router = Router("here", ["up", *names], plain, backend)
    router.on_message("up", Advertise("far", "P", ("up", "far"), ANYTHING))
    matcher = Matcher()
    for number, text in enumerate(texts):
        hop = number % _NEIGHBOURS
        router.on_message(names[hop], Subscribe(backend.interest(parse(text))))
        matcher.add(number, text, hop=hop)
    options = DocumentOptions(max_depth=10, size=_DOCUMENT_BYTES)
    bodies = list(documents(bundled_schema("news"), options, seed=3, count=count))
    messages = [Publication(f"d{n}", "far", "P", body) for n, body in enumerate(bodies)]

    def decide() -> None:
        for message in messages:
            router.decide(message, "up")

    def match() -> None:
        for body in bodies:
            list(matcher.match_hops(body))

    return compare(decide, match, rounds=rounds)
