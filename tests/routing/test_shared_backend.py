"""SharedBackend gives the same answers as one MatcherBackend per router."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathcast.broker.broker import Settings
from pathcast.matching.matcher import MAX_HOPS
from pathcast.routing.advertisement import ANYTHING
from pathcast.routing.backend import Backend
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import Interest
from pathcast.routing.shared_backend import SharedBackend
from pathcast.routing.strategy import strategy
from pathcast.sim import Simulation
from pathcast.sim.topology import random_graph
from pathcast.xpath import parse

STEPS = ["/a", "/b", "/*", "//a", "//b", "//*"]
TEXTS = [
    *(first + second for first in STEPS for second in STEPS),
    *STEPS,
    "//a[b][*]",
    "//a[b]",
    "//*[a]/b",
    "/a[b/a]/b",
    "//a[@x]",
    "//a[@x > 3]",
    "//a[@x > 5]",
    "/a[b or @x]",
]
BODIES = [
    b"<a/>",
    b"<a x='4'><b/></a>",
    b"<b><a x='9'><b><a/></b></a></b>",
    b"<a><b><a/></b><b/></a>",
    b"<c><a/></c>",
]

TOGGLES = st.lists(st.tuples(st.sampled_from(TEXTS), st.booleans()), min_size=1, max_size=40)


class SummaryModel:
    """A summary with the texts that it currently exposes."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.summary = backend.summary()
        self.exposed: set[str] = set()
        self.present: set[str] = set()

    def toggle(self, text: str) -> None:
        interest = self.backend.interest(parse(text))
        name = interest.pattern.text
        (self.summary.remove if name in self.present else self.summary.add)(interest)
        self.present ^= {name}

    def settle(self) -> None:
        change = self.summary.take_changes()
        assert {_text(interest) for interest in change.hidden} <= self.exposed
        assert not {_text(interest) for interest in change.exposed} & self.exposed
        self.exposed -= {_text(interest) for interest in change.hidden}
        self.exposed |= {_text(interest) for interest in change.exposed}


def _text(interest: Interest) -> str:
    return interest.pattern.text


@given(TOGGLES)
def test_summaries_expose_the_same_number_of_roots(
    toggles: list[tuple[str, bool]],
) -> None:
    covering = strategy("no-Adv-with-Cov")
    shared, separate = SummaryModel(SharedBackend(covering)), SummaryModel(MatcherBackend(covering))
    for text, settle in toggles:
        shared.toggle(text)
        separate.toggle(text)
        if settle:
            shared.settle()
            separate.settle()
            # of equivalent patterns either may represent both
            assert len(shared.exposed) == len(separate.exposed)
            assert shared.exposed <= shared.present
    for model in (shared, separate):
        for text in list(model.present):
            model.toggle(text)
        model.settle()
        assert not model.exposed


@given(TOGGLES, st.sampled_from(BODIES))
def test_filters_and_selectors_agree(toggles: list[tuple[str, bool]], body: bytes) -> None:
    plain = strategy("no-Adv-no-Cov")
    backends: list[Backend] = [SharedBackend(plain), MatcherBackend(plain)]
    answers = []
    for backend in backends:
        filter_, selector = backend.filter(), backend.selector()
        entries: set[tuple[Interest, int]] = set()
        names: set[str] = set()
        for text, second_hop in toggles:
            entry = (backend.interest(parse(text)), int(second_hop))
            (filter_.remove if entry in entries else filter_.add)(*entry)
            entries ^= {entry}
            if text in names:
                selector.remove(text)
            else:
                selector.add(text, entry[0])
            names ^= {text}
        assert len(filter_) == len(entries)
        assert len(selector) == len(names)
        answers.append((sorted(filter_.hops(body)), sorted(map(str, selector.match(body)))))
    assert answers[0] == answers[1]


@given(
    st.integers(0, 1_000),
    st.sampled_from(["no-Adv-no-Cov", "with-Adv-no-Cov", "with-Adv-with-Cov"]),
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from(TEXTS)), max_size=12),
)
def test_overlays_deliver_the_same(
    seed: int, name: str, subscriptions: list[tuple[int, str]]
) -> None:
    chosen = strategy(name)
    outcomes = []
    backends: list[Backend] = [SharedBackend(chosen), MatcherBackend(chosen)]
    for backend in backends:
        topology = random_graph(6, seed % 4, seed)
        run = Simulation(topology, Settings(chosen, reliable=False), backend)
        run.announce("b1", "P", ANYTHING)
        run.announce("b4", "Q", ANYTHING)
        for number, (home, text) in enumerate(subscriptions):
            run.subscribe(f"b{home}", f"s{number}", text)
        assert run.run_until_idle()
        for number, body in enumerate(BODIES):
            run.publish("b1", "P", f"p{number}", body)
            run.publish("b4", "Q", f"q{number}", body)
        assert run.run_until_idle()
        delivered = sorted(
            (delivery.document, delivery.subscriber) for delivery in run.metrics.deliveries
        )
        outcomes.append((delivered, run.metrics.crossings))
    assert outcomes[0] == outcomes[1]


def test_a_filter_has_more_hops_than_a_matcher() -> None:
    """A broker on a graph with thousands of origins needs several matchers."""
    backend = MatcherBackend(strategy("no-Adv-no-Cov"))
    entries = backend.filter()
    interest, other = backend.interest(parse("/a")), backend.interest(parse("/b"))
    hops = [0, 1, MAX_HOPS - 1, MAX_HOPS, 3 * MAX_HOPS + 7]
    for hop in hops:
        entries.add(interest, hop)
        entries.add(other, hop + 1_000_000)
    assert sorted(entries.hops(b"<a/>")) == hops
    for hop in hops[2:]:
        entries.remove(interest, hop)
    assert sorted(entries.hops(b"<a/>")) == [0, 1]
    assert len(entries) == 2 + len(hops)
