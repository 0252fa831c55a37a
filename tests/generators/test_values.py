"""Value domains: their values, their frequencies, and invalid parameters."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import WorkloadError
from pathcast.generators.values import MAX_TABLE_LINES, ValueDomain
from pathcast.rng import SeededRandom


def test_the_default_is_the_integers_of_cao_section_3_3_1() -> None:
    assert ValueDomain().domain == tuple(str(value) for value in range(1, 101))
    assert ValueDomain().table == ValueDomain().domain


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**6), st.integers(0, 100))
def test_integers_stay_in_their_range(low: int, span: int, seed: int) -> None:
    values = ValueDomain(low=low, high=low + span)
    rng = SeededRandom(seed)
    assert all(low <= int(values.draw(rng)) <= low + span for _ in range(20))
    assert len(values.domain) == len(set(values.domain)) == min(span + 1, MAX_TABLE_LINES)


@given(st.integers(1, 8000))
def test_vocabularies_have_the_requested_number_of_distinct_words(count: int) -> None:
    words = ValueDomain(kind="words", vocabulary=count).domain
    assert len(words) == len(set(words)) == count
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)


def test_a_longer_vocabulary_starts_with_the_shorter_one() -> None:
    short, long = (
        ValueDomain(kind="words", vocabulary=50),
        ValueDomain(kind="words", vocabulary=5000),
    )
    assert long.domain[:50] == short.domain


@pytest.mark.parametrize("theta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("kind", ["integers", "words"])
def test_the_share_of_each_value_follows_zipf(kind: str, theta: float) -> None:
    values = ValueDomain(
        kind="words" if kind == "words" else "integers", vocabulary=100, theta=theta
    )
    lines = Counter(values.table)
    assert values.table[0] == values.domain[0]
    assert len(values.table) == MAX_TABLE_LINES
    total = sum((rank + 1) ** -theta for rank in range(100))
    for rank, value in enumerate(values.domain):
        share = (rank + 1) ** -theta / total
        assert lines[value] >= 1
        assert lines[value] / MAX_TABLE_LINES == pytest.approx(share, rel=0.01, abs=0.0001)


@pytest.mark.parametrize("theta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "values",
    [ValueDomain(high=10**6), ValueDomain(kind="words", vocabulary=MAX_TABLE_LINES)],
    ids=["integers", "words"],
)
def test_large_domains_follow_zipf_too(values: ValueDomain, theta: float) -> None:
    """Every value, and every prefix of the domain, has its share of the lines to within one."""
    values = dataclasses.replace(values, theta=theta)
    lines = Counter(values.table)
    assert len(values.table) == MAX_TABLE_LINES
    weights = [(rank + 1) ** -theta for rank in range(MAX_TABLE_LINES)]
    total = sum(weights)
    before, expected = 0, 0.0
    for value, weight in zip(values.domain, weights, strict=True):
        share = MAX_TABLE_LINES * weight / total
        assert abs(lines[value] - share) < 1.01
        before, expected = before + lines[value], expected + share
        assert abs(before - expected) < 0.51


def test_draws_follow_the_table() -> None:
    values = ValueDomain(kind="words", vocabulary=10, theta=1.0)
    rng = SeededRandom(5)
    counts = Counter(values.draw(rng) for _ in range(20_000))
    lines = Counter(values.table)
    for word in values.domain:
        assert counts[word] / 20_000 == pytest.approx(lines[word] / MAX_TABLE_LINES, abs=0.01)


def test_own_words_keep_their_order_without_duplicates() -> None:
    assert ValueDomain(kind="words", vocabulary=("sun", "rain & hail", "sun")).domain == (
        "sun",
        "rain & hail",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": 5, "high": 4}, "no integer from 5 to 4"),
        ({"kind": "dates"}, "'dates'"),
        ({"theta": -0.5}, "theta must be from 0 to 10, not -0.5"),
        ({"theta": float("nan")}, "theta"),
        ({"vocabulary": 0}, "1 to 65536 words, not 0"),
        ({"vocabulary": ()}, "1 to 65536 words, not 0"),
        ({"vocabulary": ("fine", "two\nlines")}, r"'two\\nlines' cannot be a value"),
        ({"vocabulary": (" lead",)}, "cannot be a value"),
        ({"vocabulary": ("\x01",)}, "cannot be a value"),
        ({"vocabulary": ("\ud800",)}, "cannot be a value"),
        ({"length": 0}, "1 to 1000 values, not 0"),
    ],
)
def test_invalid_domains_are_rejected(options: dict[str, object], message: str) -> None:
    with pytest.raises(WorkloadError, match=message) as caught:
        ValueDomain(**options)  # type: ignore[arg-type]
    assert caught.value.kind == "values"
