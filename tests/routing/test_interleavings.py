"""Any interleaving of requests, messages and documents, on any overlay, by any strategy.

The guarantees of docs/decisions/0013:

- A subscriber MUST receive a matching document if no message was in transit at some moment after
  the subscription and the advertisement and before the publication, and if it does not cancel
  before the document arrives.
- It MUST NOT receive a document that does not match, that arrives before it subscribes or after it
  cancels, or that it has received already.
- Otherwise it MAY.

When no message is in transit, subscribers receive exactly the documents that libxml2 selects, over
exactly the links that lead to them. Imperfect merging may cross further links, which are counted.
After everything is cancelled all tables are empty.
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

# Publishers of merging strategies send documents of this DTD, whose paths weigh the mergers.
SCHEMA = parse_dtd(small_schema.SCHEMA)
BODIES = tuple(text.encode() for text in SAMPLES)
ADVERTISED: tuple[Advertisement, ...] = (
    ANYTHING,
    Advertisement.of(SCHEMA),
    union([parse_expression(text) for text in ("/a", "/a/b", "/a/b/c", "/a/b/c/e")]),
    union([parse_expression(text) for text in ("/a/d", "/a/d/e", "/a/c", "/a/c/e")]),
)
PATHS = PathDistribution.uniform(SCHEMA)
# An imperfect degree of 0.5: with less, a DTD of ten paths hardly ever has a merger.
NAMES = (*STRATEGIES[:-1], "with-Adv-with-CovIPM(0.5)")

NUMBER = st.integers(0, 1_000)
MOVES = st.one_of(
    st.just(("rest", 0, 0)),  # the simplest, to which others shrink
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
    st.tuples(st.just("idle"), NUMBER, NUMBER),
)
MATCHES = lru_cache(None)(oracle)


@st.composite
def overlays(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Random trees with at most three further links."""
    size = draw(st.integers(2, 7))
    links = {(draw(st.integers(0, node - 1)), node) for node in range(1, size)}
    for first, second in draw(
        st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=3)
    ):
        if first < second < size:
            links.add((first, second))
    return [(f"b{first}", f"b{second}") for first, second in sorted(links)]


class NetworkModel:
    """A network, and a model of the documents that its clients must and may receive."""

    def __init__(self, links: Sequence[tuple[str, str]], name: str) -> None:
        self.strategy = strategy(name)
        self.net = Network(links, self.strategy, lambda: MatcherBackend(self.strategy, PATHS))
        self.brokers = sorted(self.net.routers)
        self.subscriptions: dict[str, tuple[str, str]] = {}
        self.publishers: dict[str, tuple[str, Advertisement]] = {}
        self.settled: set[str] = set()  # subscriptions and publishers that have arrived
        self.must: dict[str, set[str]] = {}
        self.bodies: dict[str, bytes] = {}
        self.seen: dict[tuple[str, str], int] = {}
        self.ids = 0
        self.wasted = 0  # wasted crossings, by the oracle

    def act(self, move: str, first: int, second: int) -> None:
        match move:
            case "subscribe":
                self.ids += 1
                id, broker = f"s{self.ids}", self.brokers[first % len(self.brokers)]
                pool = XPATHS if self.strategy.limit is None else MERGED
                self.subscriptions[id] = (broker, pool[second % len(pool)])
                self.net.register(broker, id, self.subscriptions[id][1])
            case "cancel" if self.subscriptions:
                id = sorted(self.subscriptions)[first % len(self.subscriptions)]
                self.check_deliveries()  # documents that arrived before the cancellation
                broker, _ = self.subscriptions.pop(id)
                self.settled.discard(id)
                self.net.cancel(broker, id)
                for required in self.must.values():
                    required.discard(id)
            case "advertise":
                broker = self.brokers[first % len(self.brokers)]
                name = f"p{second % 2}@{broker}"
                advertised = ADVERTISED[second // 2 % len(ADVERTISED)]
                self.publishers[name] = (broker, advertised)
                self.settled.discard(name)
                self.net.announce(broker, name, advertised)
            case "retract" if self.publishers:
                name = sorted(self.publishers)[first % len(self.publishers)]
                broker, _ = self.publishers.pop(name)
                self.settled.discard(name)
                self.net.retract(broker, name)
            case "publish" if self.publishers:
                self.publish(sorted(self.publishers)[first % len(self.publishers)], second)
            case "step":
                for turn in range(1 + second % 4):
                    busy = self.net.busy()
                    if busy:
                        self.net.step(busy[(first + turn) % len(busy)])
            case "storm":
                self.storm(first, second)
            case "idle":
                self.run_until_idle()
        self.check_deliveries()

    def storm(self, first: int, second: int) -> None:
        """Deliver messages in random order, and publish documents after each."""
        rng = Random(1_000 * first + second)
        for _ in range(12):
            busy = [link for link in self.net.busy() if rng.random() < 0.8]
            if busy:
                self.net.step(rng.choice(busy))
            for name in sorted(self.publishers):
                self.publish(name, rng.randrange(1_000))
            if not self.net.busy():
                break

    def publish(self, name: str, number: int) -> None:
        broker, advertised = self.publishers[name]
        bodies = [body for body in BODIES if advertised.allows(body)]
        body = bodies[number % len(bodies)]
        self.ids += 1
        id = f"d{self.ids}"
        self.bodies[id] = body
        matching = {sub for sub in self.subscriptions if self.matches(sub, id)}
        arrived = name in self.settled or not self.strategy.advertisements
        self.must[id] = matching & self.settled if arrived else set()
        idle = arrived and not self.net.busy() and self.settled.issuperset(self.subscriptions)
        self.net.publish(broker, name, id, body)
        if idle:
            self.net.drain()
            self.check_exact_route(id, broker, matching)

    def matches(self, subscription: str, document: str) -> bool:
        return MATCHES(self.subscriptions[subscription][1], None, self.bodies[document])

    def check_exact_route(self, id: str, broker: str, matching: set[str]) -> None:
        """Assert that a document reached exactly its subscribers, over the links towards them."""
        receivers = {receiver for document, receiver in self.net.delivered if document == id}
        assert receivers == matching
        needed = set()
        for subscription in matching:
            node = self.subscriptions[subscription][0]
            while node != broker:
                parent = self.net.routers[node].trees.parent[broker]
                assert parent is not None
                needed.add((parent, node))
                node = parent
        crossed = {
            (sender, receiver) for sender, receiver, document in self.net.crossed if document == id
        }
        assert crossed == needed if self.strategy.exact else crossed >= needed
        homes = {self.subscriptions[subscription][0] for subscription in matching}
        receiving = {receiver for _, receiver in crossed}
        forwarding = {sender for sender, _ in crossed}
        self.wasted += len(receiving - forwarding - homes)

    def check_deliveries(self) -> None:
        """Assert that each new delivery is to a current, matching subscription, once."""
        for (document, subscriber), times in self.net.delivered.items():
            if self.seen.get((document, subscriber)) != times:
                assert times == 1
                assert subscriber in self.subscriptions
                assert self.matches(subscriber, document)
                self.seen[document, subscriber] = times

    def run_until_idle(self) -> None:
        self.net.drain()
        self.check_deliveries()
        self.settled = {*self.subscriptions, *self.publishers}
        for document, required in self.must.items():
            receivers = {
                receiver for received, receiver in self.net.delivered if received == document
            }
            assert required <= receivers
        self.must.clear()

    def end(self) -> None:
        self.run_until_idle()
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
        """Publish every allowed document once while idle; compare the wasted crossings."""
        before, self.wasted = self.wasted_by_routers(), 0
        for number in range(
            len([body for body in BODIES if self.publishers[name][1].allows(body)])
        ):
            self.publish(name, number)
        assert self.wasted_by_routers() - before == self.wasted

    def wasted_by_routers(self) -> int:
        """Return the wasted crossings that the routers counted."""
        return sum(router.counters.wasted for router in self.net.routers.values())


@settings(max_examples=4 * settings().max_examples)
@given(overlays(), st.sampled_from(NAMES), st.lists(MOVES, min_size=30, max_size=60))
def test_guarantees_hold_in_any_interleaving(
    links: list[tuple[str, str]], name: str, moves: list[tuple[str, int, int]]
) -> None:
    run = NetworkModel(links, name)
    for move in moves:
        run.act(*move)
    run.end()


def test_wasted_crossings_are_counted() -> None:
    """/a/* is the merger of /a/b and /a/c; one document of the publisher has only /a/d."""
    run = NetworkModel([("b1", "b2"), ("b2", "b3")], "with-Adv-with-CovIPM(0.5)")
    for xpath in ("/a/b", "/a/c"):
        run.act("subscribe", 2, MERGED.index(xpath))
    run.act("advertise", 0, 2)
    run.run_until_idle()
    assert [str(interest) for interest in run.net.routers["b3"].sent_interests("b2") or ()] == [
        "/a/*"
    ]
    run.probe("p0@b1")
    assert (run.wasted, run.wasted_by_routers()) == (1, 1)


def test_a_covered_publisher_stays_advertised_when_the_coverer_narrows() -> None:
    """p1 covers p2. When p1 narrows, p2 is advertised first, so no broker drops its interests."""
    run = NetworkModel([("b1", "b2"), ("b2", "b3")], "with-Adv-with-Cov")
    net = run.net
    net.announce("b1", "p1", ANYTHING)
    net.announce("b1", "p2", parse_advertisement("/b"))
    net.register("b3", "s", "/b")
    net.drain()
    net.announce("b1", "p1", parse_advertisement("/a"))
    for link in (
        ("b1", "b2"),
        ("b2", "b3"),
        ("b1", "b2"),
    ):  # the second message is between b2 and b3
        net.step(link)
    while net.queues["b3", "b2"]:
        net.step(("b3", "b2"))
    net.publish("b1", "p2", "d", b"<b/>")
    net.drain()
    assert net.delivered == {("d", "s"): 1}
