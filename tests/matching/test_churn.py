"""Subscriptions come and go between documents, and nothing of those that went is left behind.

A state machine adds, removes and matches in any order. After every match the answer must be that of
libxml2, that of a Matcher built afresh from the same subscriptions, and the same again for the same document later.
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


def patterns(subscriptions: Mapping[Id, str]) -> int:
    """How many distinct patterns there are."""
    found = (parse(text, NAMESPACES) for text in subscriptions.values())
    return len({(pattern.text, pattern.namespaces) for pattern in found})


class Churn(RuleBasedStateMachine):
    """`live` is the model: the subscriptions that are there, in the order of their coming."""

    engine: EngineName = "core"
    bodies: Bundle[bytes] = Bundle("bodies")
    added: Bundle[Id] = Bundle("added")

    @initialize()
    def start(self) -> None:
        self.matcher = build({}, self.engine)
        self.live: dict[Id, str] = {}
        self.answers: dict[bytes, dict[tuple[tuple[Id, str], ...], list[Id]]] = {}

    @rule(target=added, id=ids, text=strategies.expressions())
    def add(self, id: Id, text: str) -> Id:
        return self.subscribe(id, text)

    @precondition(lambda self: self.live)
    @rule(target=added, id=ids, data=st.data())
    def add_an_equal_one(self, id: Id, data: st.DataObject) -> Id:
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
    def add_nonsense(self, id: Id) -> None:
        with pytest.raises(SubscriptionError):
            self.matcher.add(id, "//a[b", NAMESPACES)

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
    def meet(self, body: bytes) -> bytes:
        self.match(body)
        return body

    @rule(body=bodies)
    def meet_again(self, body: bytes) -> None:
        self.match(body)

    @rule()
    def meet_what_is_no_document(self) -> None:
        with pytest.raises(DocumentError):
            self.matcher.match(b"<a><b></a>")

    @rule()
    def settle(self) -> None:
        self.matcher.settle()

    def match(self, body: bytes) -> None:
        matches = self.matcher.match(body)
        found = list(matches)
        expected = [id for id, text in self.live.items() if oracle(text, NAMESPACES, body)]
        assert found == expected
        assert len(matches) == len(matches.numbers) == len(expected)
        assert all(id in matches for id in expected)
        assert found == list(build(self.live, self.engine).match(body))
        known = self.answers.setdefault(body, {})
        assert known.setdefault(tuple(self.live.items()), found) == found

    @invariant()
    def equal_patterns_are_one_entry(self) -> None:
        stats = self.matcher.stats()
        assert stats.subscriptions == len(self.live)
        assert stats.patterns == patterns(self.live)

    def teardown(self) -> None:
        for id in list(self.live):
            self.matcher.remove(id)
        self.matcher.settle()
        stats = self.matcher.stats()
        assert (stats.subscriptions, stats.patterns) == (0, 0)
        assert stats.states == build({}, self.engine).stats().states, "states are left behind"
        assert not list(self.matcher.match(b"<a><b/></a>"))


class FreshChurn(Churn):
    """Paths are run as they are first, then in small automata, then in the main one, all within a few steps."""

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
TestFreshChurn = FreshChurn.TestCase
TestFreshChurn.settings = settings(stateful_step_count=25)
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
def test_documents_in_any_order_give_the_same_answers(
    texts: list[str], bodies: list[bytes], rng: Random, engine: EngineName
) -> None:
    subscriptions: dict[Id, str] = dict(enumerate(texts))
    expected = {body: list(build(subscriptions).match(body)) for body in bodies}
    order = [*bodies, *bodies]
    rng.shuffle(order)
    matcher = build(subscriptions, engine)
    assert [list(matcher.match(body)) for body in order] == [expected[body] for body in order]


@given(st.lists(strategies.expressions(), min_size=1, max_size=5), strategies.documents(), engines)
def test_the_order_of_subscriptions_is_only_the_order_of_answers(
    texts: list[str], body: bytes, engine: EngineName
) -> None:
    forward: dict[Id, str] = dict(enumerate(texts))
    backward = dict(reversed(forward.items()))
    found = list(build(forward, engine).match(body))
    assert found == list(build(backward, engine).match(body))[::-1]


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
def test_many_come_and_go(engine: EngineName, deep: bool) -> None:
    """A long life in seeded churn: the Matcher of the end equals one that never saw those that left."""
    rng = Random(3)
    bodies = [generate.document(rng) for _ in range(20)]
    matcher = build({}, engine)
    live: dict[Id, str] = {}
    for id in range(3000 if deep else 600):
        live[id] = generate.expression(rng, generate.WHOLE)
        matcher.add(id, live[id], NAMESPACES, allow_expensive=True)
        if len(live) > 100:
            gone = rng.choice(list(live))
            matcher.remove(gone)
            del live[gone]
        if id % 10 == 0:
            body = rng.choice(bodies)
            assert list(matcher.match(body)) == [
                one for one, text in live.items() if oracle(text, NAMESPACES, body)
            ]
    fresh = build(live, engine)
    for body in bodies:
        assert list(matcher.match(body)) == list(fresh.match(body))
    matcher.settle()  # until then the compiled engine has states of those that left
    fresh.settle()
    ours, theirs = matcher.stats(), fresh.stats()
    assert (ours.subscriptions, ours.patterns, ours.residuals, ours.expensive, ours.states) == (
        *(theirs.subscriptions, theirs.patterns, theirs.residuals, theirs.expensive),
        theirs.states,
    )


def test_names_and_values_of_those_that_left_are_forgotten() -> None:
    """Each brings a name and a value of its own, and leaves again: what is kept follows those that are there."""
    matcher = build({})
    assert isinstance(matcher._engine, CompiledEngine)
    largest = 0
    for number in range(20_000):
        matcher.add(number, f"//n{number}" if number % 2 else f"//a[@id = 'v{number}'][b]")
        if number >= 50:
            matcher.remove(number - 50)
        words = matcher._engine._vocabulary
        largest = max(largest, len(words.keys) + len(words.value_tests))
    assert largest < 5_000
    last = [number for number in range(20_000 - 50, 20_000) if number % 2 == 0][-1]
    assert list(matcher.match(f"<a id='v{last}'><b/><n19999/></a>".encode())) == [last, 19_999]


def test_a_namespace_that_is_asked_for_later() -> None:
    """The small automaton does not know the names that the main one knows, but their namespace."""
    matcher = build({1: "//p:a", 2: "//p:a/p:b"})
    body = f"<p:a xmlns:p='{NAMESPACES['p']}'><p:b/></p:a>".encode()
    assert list(matcher.match(body)) == [1, 2]
    matcher.add(4, "//p:a/p:*", NAMESPACES)
    assert list(matcher.match(body)) == [1, 2, 4]
