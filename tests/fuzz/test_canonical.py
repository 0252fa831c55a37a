"""Canonical texts in bulk: each parses to the pattern it came from and means what the subscription meant.

Seeded, so that a failure comes back; what fails is made small before it is shown.
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


def turns(pattern: Pattern) -> bool:
    """Does its text parse to something else?"""
    return parse(pattern.text, dict(pattern.namespaces)) != pattern


def means_another_thing(text: str, pattern: Pattern, body: bytes) -> bool:
    return oracle(text, NAMESPACES, body) != oracle(pattern.text, dict(pattern.namespaces), body)


def is_checked_wrongly(text: str, pattern: Pattern, body: bytes) -> bool:
    """Does the expression that libxml2 is to evaluate differ from the subscription?"""
    if pattern.check is None:
        return False
    prefixes = dict(pattern.namespaces) or None
    asked = etree.XPath(pattern.check, namespaces=prefixes, regexp=False)(document(body))
    return bool(asked) != oracle(text, NAMESPACES, body)


def smallest(text: str, body: bytes, wrong: Callable[[str, Pattern, bytes], bool]) -> str:
    def differs(text: str, body: bytes) -> bool:
        try:
            expression(text, NAMESPACES)
            return wrong(text, parse(text, NAMESPACES), body)
        except (Refused, SubscriptionError):
            return False

    text, body = shrink(text, body, differs)
    pattern = parse(text, NAMESPACES)
    again = parse(pattern.text, dict(pattern.namespaces))
    return f"{text!r} -> {pattern.text!r} -> {again.text!r}, checked by {pattern.check} on {body!r}"


@pytest.mark.parametrize("kind", KINDS)
def test_canonical_forms(kind: str, deep: bool) -> None:
    rng = Random(kind)
    bodies = [generate.document(rng, 10) for _ in range(DOCUMENTS)]
    trees = [document(body) for body in bodies]
    for _ in range(EXPRESSIONS * (10 if deep else 1)):
        text = generate.expression(rng, KINDS[kind])
        pattern = parse(text, NAMESPACES)
        if turns(pattern):
            pytest.fail(smallest(text, b"<a/>", lambda _, pattern, __: turns(pattern)))
        asked = expression(text, NAMESPACES)
        canonical = expression(pattern.text, dict(pattern.namespaces))
        for body, tree in zip(bodies, trees, strict=True):
            if holds(asked, tree) != holds(canonical, tree):
                pytest.fail(smallest(text, body, means_another_thing))
            if is_checked_wrongly(text, pattern, body):
                pytest.fail(smallest(text, body, is_checked_wrongly))
