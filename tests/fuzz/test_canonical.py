"""Canonical texts in bulk: each parses to the pattern it came from and is equivalent to it.

All random choices are seeded. A failing pair is shrunk before it is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from lxml import etree

from pathcast.errors import SubscriptionError
from pathcast.xpath import Pattern, parse
from tests import generate
from tests.generate import NAMESPACES, Knobs
from tests.oracle import Refused, document, expression, holds, oracle
from tests.shrink import shrink

KINDS = {
    "tree patterns": generate.NATIVE,
    "the whole language": generate.WHOLE,
    "mostly outside tree patterns": Knobs(residual=0.5),
    "odd spelling": Knobs(residual=0.1, odd=0.4),
}
EXPRESSIONS = 2000
DOCUMENTS = 12


def is_unstable(pattern: Pattern) -> bool:
    """Whether the canonical text parses to another pattern."""
    return parse(pattern.text, dict(pattern.namespaces)) != pattern


def is_not_equivalent(text: str, pattern: Pattern, body: bytes) -> bool:
    return oracle(text, NAMESPACES, body) != oracle(pattern.text, dict(pattern.namespaces), body)


def has_wrong_check(text: str, pattern: Pattern, body: bytes) -> bool:
    """Whether the expression for libxml2 differs from the subscription."""
    if pattern.check is None:
        return False
    prefixes = dict(pattern.namespaces) or None
    result = etree.XPath(pattern.check, namespaces=prefixes, regexp=False)(document(body))
    return bool(result) != oracle(text, NAMESPACES, body)


def shrink_report(text: str, body: bytes, is_wrong: Callable[[str, Pattern, bytes], bool]) -> str:
    def differs(text: str, body: bytes) -> bool:
        try:
            expression(text, NAMESPACES)
            return is_wrong(text, parse(text, NAMESPACES), body)
        except (Refused, SubscriptionError):
            return False

    text, body = shrink(text, body, differs)
    pattern = parse(text, NAMESPACES)
    reparsed = parse(pattern.text, dict(pattern.namespaces))
    forms = f"{text!r} -> {pattern.text!r} -> {reparsed.text!r}"
    return f"{forms}, checked by {pattern.check} on {body!r}"


@pytest.mark.parametrize("kind", KINDS)
def test_canonical_texts_are_stable_and_equivalent(kind: str, deep: bool) -> None:
    rng = Random(kind)
    bodies = [generate.document(rng, 10) for _ in range(DOCUMENTS)]
    trees = [document(body) for body in bodies]
    for _ in range(EXPRESSIONS * (10 if deep else 1)):
        text = generate.expression(rng, KINDS[kind])
        pattern = parse(text, NAMESPACES)
        if is_unstable(pattern):
            pytest.fail(shrink_report(text, b"<a/>", lambda _, pattern, __: is_unstable(pattern)))
        original = expression(text, NAMESPACES)
        canonical = expression(pattern.text, dict(pattern.namespaces))
        for body, tree in zip(bodies, trees, strict=True):
            if holds(original, tree) != holds(canonical, tree):
                pytest.fail(shrink_report(text, body, is_not_equivalent))
            if has_wrong_check(text, pattern, body):
                pytest.fail(shrink_report(text, body, has_wrong_check))
