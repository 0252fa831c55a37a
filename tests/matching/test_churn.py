"""Churn: subscriptions come and go between documents, and a removed one leaves nothing behind.

A state machine adds, replaces, removes and matches in any order. Each match must equal that of
libxml2, that of a new Matcher with the same subscriptions, and any earlier match of the same
document.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from pathcast import Matcher
from pathcast.errors import DocumentError, SubscriptionError
from pathcast.matching.compiled import tiers
from pathcast.matching.compiled.engine import CompiledEngine
from pathcast.matching.engine import EngineName
from pathcast.xpath import parse
from tests import generate, strategies
from tests.generate import NAMESPACES
from tests.matching.engines import ENGINES, each_engine
from tests.oracle import oracle
from tests.runner import InlineRunner

Id = str | int
engines: st.SearchStrategy[EngineName] = st.sampled_from(ENGINES)
ids = st.integers(0, 5) | st.sampled_from(["0", "1", "a", ""])


def build(subscriptions: Mapping[Id, str], engine: EngineName = "core") -> Matcher:
    matcher = Matcher(runner=InlineRunner(), engine=engine)
    for id, text in subscriptions.items():
        matcher.add(id, text, NAMESPACES, allow_expensive=True)
    return matcher


def count_patterns(subscriptions: Mapping[Id, str]) -> int:
    """Return the number of distinct patterns."""
    patterns = (parse(text, NAMESPACES) for text in subscriptions.values())
    return len({(pattern.text, pattern.namespaces) for pattern in patterns})


class Churn(RuleBasedStateMachine):
    """`live` is the model: the current subscriptions, in the order of their addition."""

    engine: EngineName = "core"
    bodies: Bundle[bytes] = Bundle("bodies")
    added: Bundle[Id] = Bundle("added")

    @initialize()
    def start(self) -> None:
        self.matcher = build({}, self.engine)
        self.live: dict[Id, str] = {}
        self.results: dict[bytes, dict[tuple[tuple[Id, str], ...], list[Id]]] = {}

    @rule(target=added, id=ids, text=strategies.expressions())
    def add(self, id: Id, text: str) -> Id:
        return self.subscribe(id, text)

    @precondition(lambda self: self.live)
    @rule(target=added, id=ids, data=st.data())
    def add_duplicate_pattern(self, id: Id, data: st.DataObject) -> Id:
        return self.subscribe(id, data.draw(st.sampled_from(list(self.live.values()))))

    def subscribe(self, id: Id, text: str) -> Id:
        if id in self.live:
            with pytest.raises(SubscriptionError) as caught:
                self.matcher.add(id, text, NAMESPACES, allow_expensive=True)
            assert caught.value.kind == "duplicate-id"
        else:
            self.matcher.add(id, text, NAMESPACES, allow_expensive=True)
            self.live[id] = text
        return id

    @rule(id=ids)
    def add_invalid(self, id: Id) -> None:
        with pytest.raises(SubscriptionError):
            self.matcher.add(id, "//a[b", NAMESPACES)

    @rule(id=added, text=strategies.expressions())
    def replace(self, id: Id, text: str) -> None:
        if id in self.live:
            self.matcher.replace(id, text, NAMESPACES, allow_expensive=True)
            del self.live[id]  # its number is a new one, after all others
            self.live[id] = text
        else:
            with pytest.raises(KeyError):
                self.matcher.replace(id, text, NAMESPACES, allow_expensive=True)

    @rule(target=added, id=consumes(added))
    def remove(self, id: Id) -> MultipleResults[Id]:
        if id in self.live:
            self.matcher.remove(id)
            del self.live[id]
        else:
            with pytest.raises(KeyError):
                self.matcher.remove(id)
        return multiple()

    @rule(target=bodies, body=strategies.documents())
    def match_new(self, body: bytes) -> bytes:
        self.match(body)
        return body

    @rule(body=bodies)
    def match_again(self, body: bytes) -> None:
        self.match(body)

    @rule()
    def match_malformed_document(self) -> None:
        with pytest.raises(DocumentError):
            self.matcher.match(b"<a><b></a>")

    @rule()
    def settle(self) -> None:
        self.matcher.settle()

    def match(self, body: bytes) -> None:
        matches = self.matcher.match(body)
        ids = list(matches)
        expected = [id for id, text in self.live.items() if oracle(text, NAMESPACES, body)]
        assert ids == expected
        assert len(matches) == len(matches.numbers) == len(expected)
        assert all(id in matches for id in expected)
        assert ids == list(build(self.live, self.engine).match(body))
        earlier = self.results.setdefault(body, {})
        assert earlier.setdefault(tuple(self.live.items()), ids) == ids

    @invariant()
    def equal_patterns_are_one_entry(self) -> None:
        stats = self.matcher.stats()
        assert stats.subscriptions == len(self.live)
        assert stats.patterns == count_patterns(self.live)

    def teardown(self) -> None:
        for id in list(self.live):
            self.matcher.remove(id)
        self.matcher.settle()
        stats = self.matcher.stats()
        assert (stats.subscriptions, stats.patterns) == (0, 0)
        assert stats.states == build({}, self.engine).stats().states, (
            "no state of a removed subscription remains"
        )
        assert not list(self.matcher.match(b"<a><b/></a>"))


class SmallTiersChurn(Churn):
    """Small limits: within a few steps, paths move from bit-parallel matching through the tiers."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        for name, value in (("MIN_MAIN_SIZE", 1), ("MAX_RECENT", 4), ("MAX_NEWEST", 2)):
            self.patch.setattr(tiers, name, value)

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.patch.undo()


class PlainChurn(Churn):
    engine: EngineName = "plain"


TestChurn = Churn.TestCase
TestChurn.settings = settings(stateful_step_count=25)
TestSmallTiersChurn = SmallTiersChurn.TestCase
TestSmallTiersChurn.settings = settings(stateful_step_count=25)
TestPlainChurn = PlainChurn.TestCase
TestPlainChurn.settings = settings(
    stateful_step_count=25, max_examples=settings().max_examples // 5
)


@given(
    st.lists(strategies.expressions(), min_size=1, max_size=5),
    st.lists(strategies.documents(), min_size=2, max_size=4),
    st.randoms(use_true_random=False),
    engines,
)
def test_document_order_does_not_change_matches(
    texts: list[str], bodies: list[bytes], rng: Random, engine: EngineName
) -> None:
    subscriptions: dict[Id, str] = dict(enumerate(texts))
    expected = {body: list(build(subscriptions).match(body)) for body in bodies}
    order = [*bodies, *bodies]
    rng.shuffle(order)
    matcher = build(subscriptions, engine)
    assert [list(matcher.match(body)) for body in order] == [expected[body] for body in order]


@given(st.lists(strategies.expressions(), min_size=1, max_size=5), strategies.documents(), engines)
def test_subscription_order_is_the_order_of_matches(
    texts: list[str], body: bytes, engine: EngineName
) -> None:
    forward: dict[Id, str] = dict(enumerate(texts))
    backward = dict(reversed(forward.items()))
    ids = list(build(forward, engine).match(body))
    assert ids == list(build(backward, engine).match(body))[::-1]


@given(strategies.expressions(), strategies.documents(), st.integers(2, 4), engines)
def test_equal_subscriptions_share_one_entry(
    text: str, body: bytes, copies: int, engine: EngineName
) -> None:
    matcher = build(dict.fromkeys(range(copies), text), engine)
    assert matcher.stats().patterns == 1
    assert list(matcher.match(body)) in ([], list(range(copies)))
    matcher.remove(0)
    assert list(matcher.match(body)) in ([], list(range(1, copies)))


@each_engine
def test_long_churn_equals_a_new_matcher(engine: EngineName, deep: bool) -> None:
    """After seeded churn, the Matcher equals one that never held the removed subscriptions."""
    rng = Random(3)
    bodies = [generate.document(rng) for _ in range(20)]
    matcher = build({}, engine)
    live: dict[Id, str] = {}
    for id in range(3000 if deep else 600):
        live[id] = generate.expression(rng, generate.WHOLE)
        matcher.add(id, live[id], NAMESPACES, allow_expensive=True)
        if len(live) > 100:
            removed = rng.choice(list(live))
            matcher.remove(removed)
            del live[removed]
        if id % 10 == 0:
            body = rng.choice(bodies)
            assert list(matcher.match(body)) == [
                live_id for live_id, text in live.items() if oracle(text, NAMESPACES, body)
            ]
    fresh = build(live, engine)
    for body in bodies:
        assert list(matcher.match(body)) == list(fresh.match(body))
    matcher.settle()  # the compiled engine keeps states of removed subscriptions until then
    fresh.settle()
    stats, expected = matcher.stats(), fresh.stats()
    for field in ("subscriptions", "patterns", "residuals", "expensive", "states"):
        assert getattr(stats, field) == getattr(expected, field), field


def test_vocabulary_of_removed_subscriptions_is_dropped() -> None:
    """Each subscription adds a name or a value of its own; the vocabulary stays bounded."""
    matcher = build({})
    assert isinstance(matcher._engine, CompiledEngine)
    largest = 0
    for number in range(20_000):
        matcher.add(number, f"//n{number}" if number % 2 else f"//a[@id = 'v{number}'][b]")
        if number >= 50:
            matcher.remove(number - 50)
        vocabulary = matcher._engine._vocabulary
        largest = max(largest, len(vocabulary.keys) + len(vocabulary.value_tests))
    assert largest < 5_000
    last = [number for number in range(20_000 - 50, 20_000) if number % 2 == 0][-1]
    assert list(matcher.match(f"<a id='v{last}'><b/><n19999/></a>".encode())) == [last, 19_999]


def test_a_later_namespace_wildcard_matches_names_of_the_main_tier() -> None:
    """The small tier has no codes for the names of the main tier, only for their namespace."""
    matcher = build({1: "//p:a", 2: "//p:a/p:b"})
    body = f"<p:a xmlns:p='{NAMESPACES['p']}'><p:b/></p:a>".encode()
    assert list(matcher.match(body)) == [1, 2]
    matcher.add(4, "//p:a/p:*", NAMESPACES)
    assert list(matcher.match(body)) == [1, 2, 4]
