"""Comparison of the engines with libxml2 on random pairs of subscriptions and documents.

Bulk tests: each Matcher has some hundred random subscriptions and matches many random documents,
all seeded. The normal run compares over a million pairs, the deep run over ten million, most of
them with the compiled engine. A difference is shrunk before it is reported. The hypothesis tests
compare fewer pairs and shrink better.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import SubscriptionError
from pathcast.matching import explain
from pathcast.matching.engine import EngineName
from pathcast.xpath import Cost, parse
from tests import generate, strategies
from tests.generate import NAMESPACES, Knobs
from tests.matching.engines import ENGINES, each_engine
from tests.oracle import Refused, document, expression, holds, oracle
from tests.runner import InlineRunner
from tests.shrink import shrink

SUBSCRIPTIONS = 250  # per Matcher
DOCUMENTS = 100  # per Matcher
SHAPES = ((2, 2), (8, 6), (14, 6), (14, 6), (14, 20), (40, 4))  # (elements, levels)
MAX_DIFFERENCES = 5  # reported before a test stops

# The number of Matchers per kind of subscription and engine: over a million pairs in total.
KINDS: dict[str, tuple[Knobs, dict[EngineName, int]]] = {
    "tree patterns": (generate.NATIVE, {"core": 15, "plain": 3}),
    "deep predicates": (Knobs(relative=0.1, depth=4), {"core": 3, "plain": 1}),
    "other axes": (generate.SIDEWAYS, {"core": 8, "plain": 2}),
    "odd spelling": (Knobs(residual=0.05, odd=0.4), {"core": 5, "plain": 1}),
    "the whole language": (generate.WHOLE, {"core": 8, "plain": 2}),
    "mostly outside tree patterns": (Knobs(residual=0.6), {"core": 3, "plain": 1}),
}
PAIRS = SUBSCRIPTIONS * DOCUMENTS * sum(sum(counts.values()) for _, counts in KINDS.values())


def matcher_of(texts: list[str], engine: EngineName = "core") -> Matcher:
    matcher = Matcher(runner=InlineRunner(), engine=engine)
    for number, text in enumerate(texts):
        matcher.add(number, text, NAMESPACES, allow_expensive=True)
    return matcher


def differs(text: str, body: bytes, engine: EngineName) -> bool:
    try:
        expected = oracle(text, NAMESPACES, body)
        return list(matcher_of([text], engine).match(body)) != ([0] if expected else [])
    except (Refused, SubscriptionError):
        return False


def report(text: str, body: bytes, expected: bool, engine: EngineName) -> str:
    verdict = f"libxml2 says {'match' if expected else 'no match'}"
    if not differs(text, body, engine):
        return f"{text!r} on {body!r}: {verdict}; alone in a Matcher it agrees"
    text, body = shrink(text, body, partial(differs, engine=engine))
    return f"{text!r} on {body!r}: libxml2 says {oracle(text, NAMESPACES, body)}"


def differences(
    texts: list[str], bodies: list[bytes], hits: list[int], engine: EngineName = "core"
) -> Iterator[str]:
    """Yield the differences between a Matcher of all texts and libxml2; add matches to `hits`."""
    matcher = matcher_of(texts, engine)
    queries = [expression(text, NAMESPACES) for text in texts]
    reported: set[int] = set()
    for body in bodies:
        tree = document(body)
        expected = [number for number, query in enumerate(queries) if holds(query, tree)]
        matches = matcher.match(body)
        assert not matches.errors
        hits[0] += len(expected)
        if list(matches) != expected:
            for number in sorted({int(id) for id in matches}.symmetric_difference(expected)):
                if number not in reported:
                    reported.add(number)
                    yield report(texts[number], body, number in expected, engine)


@each_engine
@pytest.mark.parametrize("kind", KINDS)
def test_random_pairs_equal_libxml2(
    kind: str, engine: EngineName, deep: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    knobs, counts = KINDS[kind]
    matchers = counts[engine]
    pairs = 0
    hits = [0]
    reports: list[str] = []
    for number in range(matchers * (10 if deep else 1)):
        rng = Random(f"{kind} {engine} {number}")
        texts = [generate.expression(rng, knobs) for _ in range(SUBSCRIPTIONS)]
        bodies = [generate.document(rng, *rng.choice(SHAPES)) for _ in range(DOCUMENTS)]
        reports += islice(differences(texts, bodies, hits, engine), MAX_DIFFERENCES)
        pairs += len(texts) * len(bodies)
        assert len(reports) < MAX_DIFFERENCES, "\n".join(reports)
    assert not reports, "\n".join(reports)
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}, {engine}: {pairs:,} pairs, {hits[0] / pairs:.1%} match ")
    assert pairs == SUBSCRIPTIONS * DOCUMENTS * matchers * (10 if deep else 1)
    assert 0.1 < hits[0] / pairs < 0.6, "pairs with one and the same result prove nothing"


def test_random_pairs_are_over_a_million() -> None:
    assert PAIRS > 1_000_000
    assert sum(counts["core"] for _, counts in KINDS.values()) * 4 > 3 * PAIRS / (
        SUBSCRIPTIONS * DOCUMENTS
    ), "most pairs are for the compiled engine"


@given(st.lists(strategies.native_expressions(), min_size=1, max_size=4), strategies.documents())
def test_tree_patterns_equal_libxml2(texts: list[str], body: bytes) -> None:
    expected = by_oracle(texts, body)
    for engine in ENGINES:
        assert list(matcher_of(texts, engine).match(body)) == expected, engine


@given(st.lists(strategies.expressions(), min_size=1, max_size=4), strategies.documents())
def test_whole_language_equals_libxml2(texts: list[str], body: bytes) -> None:
    expected = by_oracle(texts, body)
    for engine in ENGINES:
        assert list(matcher_of(texts, engine).match(body)) == expected, engine


def by_oracle(texts: list[str], body: bytes) -> list[int]:
    return [number for number, text in enumerate(texts) if oracle(text, NAMESPACES, body)]


def test_explanations_equal_libxml2() -> None:
    rng = Random(9)
    for _ in range(1500):
        text = generate.expression(rng, rng.choice((generate.NATIVE, generate.WHOLE)))
        body = generate.document(rng, 8)
        if parse(text, NAMESPACES).cost is Cost.EXPENSIVE:
            continue
        explanation = explain(text, body, NAMESPACES)
        assert explanation.matched == oracle(text, NAMESPACES, body), (text, body)
        assert str(explanation)
        assert explanation.matched or explanation.reasons, (text, body)
