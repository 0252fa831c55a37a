from __future__ import annotations

from collections import Counter

import pytest
from lxml import etree

from pathcast.generators import statistics
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.generators.statistics import (
    DistinctCounter,
    DocumentStatistics,
    MinMaxMean,
    SubscriptionStatistics,
)
from pathcast.generators.subscriptions import PredicateKinds, SubscriptionOptions, subscriptions
from pathcast.xpath.parser import parse_expression
from pathcast.xpath.syntax import Axis, Expr, LocationPath, Number, OperatorChain, TestKind


class Slow:
    """Oracle: counts in the syntax tree."""

    def __init__(self) -> None:
        self.steps = self.wildcards = self.descendants = self.predicates = self.branches = 0
        self.deepest = 0

    def path(self, path: Expr, depth: int) -> None:
        assert isinstance(path, LocationPath)
        for step in path.steps:
            if step.axis is Axis.DESCENDANT_OR_SELF:
                self.descendants += 1
            elif step.axis is Axis.CHILD and step.test.kind in (TestKind.NAME, TestKind.ANY):
                depth += 1
                self.steps += 1
                self.wildcards += step.test.kind is TestKind.ANY
                self.deepest = max(self.deepest, depth)
            for inner in step.predicates:
                if _is_predicate(inner):
                    self.predicates += 1
                else:
                    self.branches += 1
                    self.path(inner, depth)


def _is_predicate(inner: Expr) -> bool:
    if isinstance(inner, OperatorChain | Number):
        return True
    return isinstance(inner, LocationPath) and inner.steps[0].axis is Axis.ATTRIBUTE


ALL = PredicateKinds(position=1.0, existence=1.0)


@pytest.mark.parametrize("name", ["news", "auction", "alert"])
@pytest.mark.parametrize(
    "options",
    [
        SubscriptionOptions(distinct=False, relative=0.3),
        SubscriptionOptions(distinct=False, branch=0.6, branches=4, relative=0.2),
        SubscriptionOptions(distinct=False, predicate=0.7, predicates=2, kinds=ALL),
        SubscriptionOptions(distinct=False, branch=0.5, predicate=0.5, kinds=ALL, relative=0.5),
    ],
)
def test_token_counts_equal_those_of_the_parser(name: str, options: SubscriptionOptions) -> None:
    for text in subscriptions(bundled_schema(name), options, 3, 300):
        statistics, slow = SubscriptionStatistics(), Slow()
        statistics.add(text)
        slow.path(parse_expression(text, {}), 0)
        relative = not text.startswith("/")
        assert (
            statistics.steps,
            statistics.wildcards,
            statistics.descendants,
            statistics.relative,
            statistics.predicates,
            statistics.predicated,
            statistics.branched,
            statistics.depths,
        ) == (
            slow.steps,
            slow.wildcards,
            slow.descendants + relative,
            relative,
            slow.predicates,
            slow.predicates > 0,
            slow.branches > 0,
            Counter({slow.deepest: 1}),
        ), text


@pytest.mark.parametrize(
    ("text", "steps", "stars", "deep", "predicates"),
    [
        ("/a[@href = '//b/*[c]']/d", 2, 0, 0, 1),
        ('/a[@n != "*"]', 1, 0, 0, 1),
        ("/a.b-c_d/é", 2, 0, 0, 0),
        ("/a[text() = 7][2]//*", 2, 1, 1, 2),
        ("*[@a]", 1, 1, 1, 1),
        ("/a/b[. = 7][.//c][./d]", 4, 0, 1, 1),
        ("/div[.//mod[or/and]]", 4, 0, 1, 0),
    ],
)
def test_unusual_texts_are_counted(
    text: str, steps: int, stars: int, deep: int, predicates: int
) -> None:
    statistics = SubscriptionStatistics()
    statistics.add(text)
    counts = (statistics.steps, statistics.wildcards, statistics.descendants, statistics.predicates)
    assert counts == (steps, stars, deep, predicates)


def test_documents_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MAX_PARSED", 20)
    bodies = list(documents(bundled_schema("book"), DocumentOptions(size=1500), 1, 30))
    measured = DocumentStatistics()
    for body in [*bodies, bodies[0]]:
        measured.add(body)
    trees = [etree.fromstring(body) for body in bodies[:20]]
    depths = Counter(
        max(
            int(str(element.xpath("count(ancestor-or-self::*)")).partition(".")[0])
            for element in tree.iter()
        )
        for tree in trees
    )
    elements = [sum(1 for _ in tree.iter()) for tree in trees]
    assert (measured.count, measured.distinct) == (31, len(set(bodies)))
    assert measured.sizes.total == sum(map(len, bodies)) + len(bodies[0])
    assert (measured.sizes.least, measured.sizes.most) == (
        min(map(len, bodies)),
        max(map(len, bodies)),
    )
    assert measured.depths == depths
    assert measured.elements.as_dict() == {
        "least": min(elements),
        "most": max(elements),
        "mean": round(sum(elements) / 20, 2),
    }


def test_statistics_of_no_items() -> None:
    assert (SubscriptionStatistics().distinct, DocumentStatistics().distinct) == (0, 0)
    assert str(MinMaxMean()) == "0 to 0, mean 0.0"


def test_distinct_items_are_counted() -> None:
    counter = DistinctCounter()
    for item in (b"", b"a", b"a", b"b", b""):
        counter.add(item)
    assert (len(counter), counter.distinct) == (5, 3)
