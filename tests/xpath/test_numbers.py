"""Numbers are libxml2's numbers, bit for bit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.xpath.numbers import canonical_number, number

_ROOT = etree.fromstring("<a/>")
_NUMBER = etree.XPath("number($text)")


def same(one: float, two: float) -> bool:
    return one == two or (math.isnan(one) and math.isnan(two))


@given(st.one_of(st.text("0123456789.eE+- \t", max_size=40), st.floats().map(repr)))
def test_number_of_a_string(text: str) -> None:
    assert same(number(text), _NUMBER(_ROOT, text=text))


@given(st.from_regex(r"[0-9]{0,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{0,4})?", fullmatch=True))
def test_spelling_reads_back(text: str) -> None:
    value = number(text)
    if not math.isnan(value):
        again = canonical_number(text)
        assert same(number(again), value)
        assert canonical_number(again) == again


@pytest.mark.parametrize(
    ("lexeme", "expected"),
    [("1.0", "1"), ("007", "7"), (".50", "0.5"), ("5.", "5"), ("1e3", "1000"), ("1e-2", "0.01")],
)
def test_one_spelling(lexeme: str, expected: str) -> None:
    assert canonical_number(lexeme) == expected
