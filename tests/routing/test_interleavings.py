"""Any interleaving of subscribing, cancelling, advertising, retracting and publishing, on any overlay, by any strategy.

What a subscriber must, may and must not get (docs/decisions/0013):

- it MUST get a document that matches if at some moment before the document was published, and after it had subscribed and the publisher had
  advertised, nothing was on its way, and if it does not cancel before the document has arrived;
- it MUST NOT get what does not match, what arrives before it subscribes or after it has cancelled, or anything twice;
- else it MAY.

When nothing is on its way it gets exactly what libxml2 says, over exactly the links that lead to somebody who wants it; in strategies that
merge imperfectly other links may be crossed, which is counted. After everything is cancelled nothing is left in any table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pathcast.covering.merging import PathDistribution
from pathcast.routing.advertisement import (
    ANYTHING,
    Advertisement,
    parse_advertisement,
    parse_expression,
    union,
)
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.strategy import STRATEGIES, strategy
from pathcast.schema import parse_dtd
from tests.oracle import oracle
from tests.routing import small_schema
from tests.routing.network import Network
from tests.routing.small_schema import MERGED, SAMPLES, XPATHS

# Publishers of merging strategies send what this DTD allows: its paths are those by which mergers are judged.
SCHEMA = parse_dtd(small_schema.SCHEMA)
BODIES = tuple(text.encode() for text in SAMPLES)
ADVERTISED: tuple[Advertisement, ...] = (
    ANYTHING,
    Advertisement.of(SCHEMA),
    union([parse_expression(one) for one in ("/a", "/a/b", "/a/b/c", "/a/b/c/e")]),
    union([parse_expression(one) for one in ("/a/d", "/a/d/e", "/a/c", "/a/c/e")]),
)
PATHS = PathDistribution.uniform(SCHEMA)
# Half of what a merger lets through may be in vain: with less, a DTD of ten paths would hardly see a merger.
NAMES = (*STRATEGIES[:-1], "with-Adv-with-CovIPM(0.5)")

NUMBER = st.integers(0, 1_000)
MOVES = st.one_of(
    st.just(("rest", 0, 0)),  # what all others shrink to
    st.tuples(st.just("subscribe"), NUMBER, NUMBER),
    st.tuples(st.just("cancel"), NUMBER, NUMBER),
    st.tuples(st.just("advertise"), NUMBER, NUMBER),
    st.tuples(st.just("retract"), NUMBER, NUMBER),
    st.tuples(st.just("publish"), NUMBER, NUMBER),
    st.tuples(st.just("publish"), NUMBER, NUMBER),
    st.tuples(st.just("step"), NUMBER, NUMBER),
    st.tuples(st.just("step"), NUMBER, NUMBER),
    st.tuples(st.just("storm"), NUMBER, NUMBER),
    st.tuples(st.just("storm"), NUMBER, NUMBER),
    st.tuples(st.just("quiet"), NUMBER, NUMBER),
)
MATCHES = lru_cache(None)(oracle)


@st.composite
def overlays(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Trees, and now and then some links more."""
    size = draw(st.integers(2, 7))
    links = {(draw(st.integers(0, at - 1)), at) for at in range(1, size)}
    for one, other in draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=3)):
        if one < other < size:
            links.add((one, other))
    return [(f"b{one}", f"b{other}") for one, other in sorted(links)]


class Run:
    """A network, and a model of what its clients may expect."""

    def __init__(self, links: Sequence[tuple[str, str]], name: str) -> None:
        self.strategy = strategy(name)
        self.net = Network(links, self.strategy, lambda: MatcherBackend(self.strategy, PATHS))
        self.brokers = sorted(self.net.routers)
        self.subscriptions: dict[str, tuple[str, str]] = {}
        self.publishers: dict[str, tuple[str, Advertisement]] = {}
        self.settled: set[str] = set()  # subscriptions and publishers that everybody knows of
        self.must: dict[str, set[str]] = {}
        self.bodies: dict[str, bytes] = {}
        self.seen: dict[tuple[str, str], int] = {}
        self.ids = 0
        self.vain = 0  # documents that were sent where nobody wanted them

    def act(self, move: str, one: int, other: int) -> None:
        match move:
            case "subscribe":
                self.ids += 1
                id, broker = f"s{self.ids}", self.brokers[one % len(self.brokers)]
                pool = XPATHS if self.strategy.limit is None else MERGED
                self.subscriptions[id] = (broker, pool[other % len(pool)])
                self.net.register(broker, id, self.subscriptions[id][1])
            case "cancel" if self.subscriptions:
                id = sorted(self.subscriptions)[one % len(self.subscriptions)]
                self.look()  # what has arrived by now was in time
                broker, _ = self.subscriptions.pop(id)
                self.settled.discard(id)
                self.net.cancel(broker, id)
                for wanted in self.must.values():
                    wanted.discard(id)
            case "advertise":
                broker = self.brokers[one % len(self.brokers)]
                name = f"p{other % 2}@{broker}"
                advertised = ADVERTISED[other // 2 % len(ADVERTISED)]
                self.publishers[name] = (broker, advertised)
                self.settled.discard(name)
                self.net.announce(broker, name, advertised)
            case "retract" if self.publishers:
                name = sorted(self.publishers)[one % len(self.publishers)]
                broker, _ = self.publishers.pop(name)
                self.settled.discard(name)
                self.net.retract(broker, name)
            case "publish" if self.publishers:
                self.publish(sorted(self.publishers)[one % len(self.publishers)], other)
            case "step":
                for turn in range(1 + other % 4):
                    busy = self.net.busy()
                    if busy:
                        self.net.step(busy[(one + turn) % len(busy)])
            case "storm":
                self.storm(one, other)
            case "quiet":
                self.quiet()
        self.look()

    def storm(self, one: int, other: int) -> None:
        """Whatever is on its way arrives, one by one, and somebody publishes after each."""
        chance = Random(1_000 * one + other)
        for _ in range(12):
            busy = [link for link in self.net.busy() if chance.random() < 0.8]
            if busy:
                self.net.step(chance.choice(busy))
            for name in sorted(self.publishers):
                self.publish(name, chance.randrange(1_000))
            if not self.net.busy():
                break

    def publish(self, name: str, number: int) -> None:
        broker, advertised = self.publishers[name]
        bodies = [body for body in BODIES if advertised.allows(body)]
        body = bodies[number % len(bodies)]
        self.ids += 1
        id = f"d{self.ids}"
        self.bodies[id] = body
        wanted = {one for one in self.subscriptions if self.matches(one, id)}
        known = name in self.settled or not self.strategy.advertisements
        self.must[id] = wanted & self.settled if known else set()
        calm = known and not self.net.busy() and self.settled.issuperset(self.subscriptions)
        self.net.publish(broker, name, id, body)
        if calm:
            self.net.drain()
            self.exactly(id, broker, wanted)

    def matches(self, subscription: str, document: str) -> bool:
        return MATCHES(self.subscriptions[subscription][1], None, self.bodies[document])

    def exactly(self, id: str, broker: str, wanted: set[str]) -> None:
        assert {one for document, one in self.net.delivered if document == id} == wanted
        needed = set()
        for one in wanted:
            here = self.subscriptions[one][0]
            while here != broker:
                parent = self.net.routers[here].trees.parent[broker]
                assert parent is not None
                needed.add((parent, here))
                here = parent
        crossed = {(here, there) for here, there, one in self.net.crossed if one == id}
        assert crossed == needed if self.strategy.exact else crossed >= needed
        homes = {self.subscriptions[one][0] for one in wanted}
        ends = {there for _, there in crossed} - {here for here, _ in crossed} - homes
        self.vain += len(ends)

    def look(self) -> None:
        """Whoever has got something new is subscribed now, wants it, and gets it once."""
        for (document, subscriber), times in self.net.delivered.items():
            if self.seen.get((document, subscriber)) != times:
                assert times == 1
                assert subscriber in self.subscriptions
                assert self.matches(subscriber, document)
                self.seen[document, subscriber] = times

    def quiet(self) -> None:
        self.net.drain()
        self.look()
        self.settled = {*self.subscriptions, *self.publishers}
        for document, wanted in self.must.items():
            assert wanted <= {one for found, one in self.net.delivered if found == document}
        self.must.clear()

    def end(self) -> None:
        self.quiet()
        for name in sorted(self.publishers):
            self.probe(name)
        for id, (broker, _) in self.subscriptions.items():
            self.net.cancel(broker, id)
        for name, (broker, _) in self.publishers.items():
            self.net.retract(broker, name)
        self.net.drain()
        assert [
            router.leftovers() for router in self.net.routers.values() if router.leftovers()
        ] == []

    def probe(self, name: str) -> None:
        """One more of each document that a publisher may send, while nothing else happens."""
        before, self.vain = self.counted(), 0
        for number in range(len([one for one in BODIES if self.publishers[name][1].allows(one)])):
            self.publish(name, number)
        assert self.counted() - before == self.vain

    def counted(self) -> int:
        """Documents that have come to brokers in vain, by what these say themselves."""
        return sum(router.counters.wasted for router in self.net.routers.values())


@settings(max_examples=4 * settings().max_examples)
@given(overlays(), st.sampled_from(NAMES), st.lists(MOVES, min_size=30, max_size=60))
def test_everybody_gets_what_is_theirs(
    links: list[tuple[str, str]], name: str, moves: list[tuple[str, int, int]]
) -> None:
    run = Run(links, name)
    for move in moves:
        run.act(*move)
    run.end()


def test_what_goes_in_vain_is_counted() -> None:
    """/a/* stands for /a/b and /a/c; of the documents that a publisher may send one has neither, and something else below a."""
    run = Run([("b1", "b2"), ("b2", "b3")], "with-Adv-with-CovIPM(0.5)")
    for xpath in ("/a/b", "/a/c"):
        run.act("subscribe", 2, MERGED.index(xpath))
    run.act("advertise", 0, 2)
    run.quiet()
    assert [str(one) for one in run.net.routers["b3"].sent_interests("b2") or ()] == ["/a/*"]
    run.probe("p0@b1")
    assert (run.vain, run.counted()) == (1, 1)


def test_what_a_covered_publisher_sends_is_wanted_all_the_time() -> None:
    """p1 advertised all that p2 does; when it advertises less, p2 is told of first, so that nobody believes for a while that it has gone."""
    run = Run([("b1", "b2"), ("b2", "b3")], "with-Adv-with-Cov")
    net = run.net
    net.announce("b1", "p1", ANYTHING)
    net.announce("b1", "p2", parse_advertisement("/b"))
    net.register("b3", "s", "/b")
    net.drain()
    net.announce("b1", "p1", parse_advertisement("/a"))
    for link in (("b1", "b2"), ("b2", "b3"), ("b1", "b2")):  # the second word is between b2 and b3
        net.step(link)
    while net.queues["b3", "b2"]:
        net.step(("b3", "b2"))
    net.publish("b1", "p2", "d", b"<b/>")
    net.drain()
    assert net.delivered == {("d", "s"): 1}
