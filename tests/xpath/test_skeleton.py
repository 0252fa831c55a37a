"""A skeleton rejects no document that its expression matches, and many that it does not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from pathcast.documents import parse as parse_document
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.xpath import parse
from pathcast.xpath.parser import parse_expression
from pathcast.xpath.skeleton import strengthen, weaken
from pathcast.xpath.text import condition_text
from tests import generate
from tests.oracle import oracle
from tests.strategies import documents, expressions


@given(expressions(), documents())
def test_weaken_and_strengthen_bound_the_expression(text: str, body: bytes) -> None:
    expected = oracle(text, generate.NAMESPACES, body)
    evaluator = Evaluator(parse_document(body))
    expression = parse_expression(text, generate.NAMESPACES)
    if expected:
        assert evaluator.holds(weaken(expression, top=True))
    else:
        assert not evaluator.holds(strengthen(expression, top=True))


@pytest.mark.parametrize(
    ("text", "skeleton"),
    [
        ("/a/b/following-sibling::c/d", "/a[b]/c/d"),
        ("//a[following-sibling::b]", "/descendant-or-self::node()[a]/b"),
        ("//a/preceding::c/d", "//a and //c/d"),
        ("//a[following-sibling::b[2]/c]", "/descendant-or-self::node()[a]/b/c"),
        ("/a/b[preceding-sibling::c = 5]/d", "/a[c[. = 5]]/b/d"),
        ("//a/ancestor::b/c[1]", "//a and //b/c[1]"),
        ("//a[not(following-sibling::b)]/c", "//a/c"),
        ("//a[not(b[following-sibling::c])]", "//a"),
        ("//a[count(following-sibling::b) = 0]", "//a"),
        ("//a[count(following-sibling::b) > 2]", "//a[//b]"),
        ("//a[b + 1 > 3]/c", "//a[b]/c"),
        ("//a[b + 1 != 3]", "//a"),
        ("//a[normalize-space(b) = 'x']", "//a/b"),
        ("//a[normalize-space(b) = '']", "//a"),
        ("//a[substring(b, 2) = c]", "//a/c"),  # both may be empty strings
        ("//a[substring(b, 2) > c]", "//a[b]/c"),
        ("(//a/c)[2]/b", "//a/c/b"),
        ("id('x')/p", "//p"),
        ("not(//a[b + 1 = 2])", "true()"),
        ("not(//a[not(b + 1 = 2)])", "not(//a[not(b)])"),
        ("//a[b = c]", "//a[b]/c"),
        ("//a[position() mod 2 = 0][3]", "//a"),
        ("sum(//a) and //b", "//a and //b"),
        ("//a/namespace::p/..", "//a"),
    ],
)
def test_skeletons(text: str, skeleton: str) -> None:
    assert condition_text(parse(text).tree_pattern, top=True) == skeleton


def test_false_positive_rate() -> None:
    """The index alone rejects many of the documents that do not match a random residual."""
    rng = random.Random(20)
    knobs = generate.Knobs(residual=0.6)
    bodies = [generate.document(rng) for _ in range(40)]
    evaluators = [(body, Evaluator(parse_document(body))) for body in bodies]
    passed = false_positives = rejected = 0
    for _ in range(300):
        text = generate.expression(rng, knobs)
        pattern = parse(text, generate.NAMESPACES)
        if pattern.residual is None:
            continue
        for body, evaluator in evaluators:
            truth = oracle(text, generate.NAMESPACES, body)
            if evaluator.holds(pattern.condition):
                passed += 1
                false_positives += not truth
            else:
                rejected += 1
                assert not truth
    assert passed > 1000
    assert rejected > 1000
    assert false_positives / (false_positives + rejected) < 0.6
