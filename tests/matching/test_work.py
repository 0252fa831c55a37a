"""Work is counted: hostile sets of subscriptions cost what the docstrings say."""

from __future__ import annotations

import pytest

from pathcast.matching.evaluate import Evaluator
from pathcast.matching.matcher import Matcher
from pathcast.pattern import parse
from pathcast.stream import parse as parse_document


def work(text: str, body: bytes) -> int:
    evaluator = Evaluator(parse_document(body))
    evaluator.holds(parse(text).condition)
    return evaluator.work


def nested(name: str, depth: int, inner: str = "") -> bytes:
    return (f"<{name}>" * depth + inner + f"</{name}>" * depth).encode()


def flat(name: str, count: int) -> bytes:
    return ("<r>" + f"<{name}>1</{name}>" * count + "</r>").encode()


@pytest.mark.parametrize(
    "text",
    [
        "//a[.//a[.//a[.//a[.//b]]]]",
        "//a[not(.//a[not(.//a[not(b)])])]",
        "//a[count(.//a) > 3 or .//b]",
        "//a[descendant::a[3]]/b",
        "//a[contains(.//b, 'x') or @y]",
    ],
)
def test_nested_predicates_stay_linear_times_depth(text: str) -> None:
    small, large = work(text, nested("a", 60)), work(text, nested("a", 240))
    assert large < 20 * small  # sixteen times for a depth four times as large, not 4^5 times


@pytest.mark.parametrize("text", ["//a[. = 2]", "//a[last()]", "//*[a = 7]", "//a[@x or b or c]"])
def test_flat_documents_are_linear(text: str) -> None:
    assert work(text, flat("a", 4000)) < 5 * work(text, flat("a", 1000))


def test_shared_predicates_are_evaluated_once() -> None:
    body = flat("a", 200)
    one, many = Matcher(), Matcher()
    one.add(0, "/r/a[. > 5]")
    for number in range(50):
        many.add(number, f"//a[. > 5] | /x{number}")
        many.add(f"{number}", f"/r[a[. > 5]][not(x{number})]")
    one.match(body)
    many.match(body)
    assert many.stats().join_work < 10 * one.stats().join_work


def test_wildcards_at_any_depth() -> None:
    """`//*//*//*...` of all lengths: active states grow with depth times subscriptions, no faster."""
    matcher = Matcher()
    for length in range(1, 41):
        matcher.add(length, "//*" * length)
    body = nested("a", 60)
    assert len(matcher.match(body)) == 40
    assert matcher.stats().states == 41
    assert matcher.stats().memo <= 62


def test_names_that_never_repeat() -> None:
    """The memo grows with distinct label paths, and is bounded."""
    matcher = Matcher()
    matcher.add("any", "//z")
    for number in range(50):
        body = "".join(f"<n{number}-{k}/>" for k in range(100))
        assert len(matcher.match(f"<r>{body}</r>".encode())) == 0
    stats = matcher.stats()
    assert stats.memo <= 5100
    assert stats.memo_misses <= 5100


def test_ten_thousand_predicates_on_one_node() -> None:
    matcher = Matcher()
    for number in range(10_000):
        matcher.add(number, f"/r/a[. = {number}]")
    assert list(matcher.match(b"<r><a>77</a><a>5</a></r>")) == [5, 77]
    assert matcher.stats().states == 3
    assert matcher.stats().join_work < 10 * 10_000
