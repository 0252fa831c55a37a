"""Number conversion equals that of libxml2, bit for bit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.xpath.numbers import canonical_number, number

_ROOT = etree.fromstring("<a/>")
_NUMBER = etree.XPath("number($text)")


def same(first: float, second: float) -> bool:
    return first == second or (math.isnan(first) and math.isnan(second))


@given(st.one_of(st.text("0123456789.eE+- \t", max_size=40), st.floats().map(repr)))
def test_number_of_a_string(text: str) -> None:
    assert same(number(text), _NUMBER(_ROOT, text=text))


@given(st.from_regex(r"[0-9]{0,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{0,4})?", fullmatch=True))
def test_canonical_number_has_the_same_value(text: str) -> None:
    value = number(text)
    if not math.isnan(value):
        canonical = canonical_number(text)
        assert same(number(canonical), value)
        assert canonical_number(canonical) == canonical


@pytest.mark.parametrize(
    ("lexeme", "expected"),
    [("1.0", "1"), ("007", "7"), (".50", "0.5"), ("5.", "5"), ("1e3", "1000"), ("1e-2", "0.01")],
)
def test_canonical_number(lexeme: str, expected: str) -> None:
    assert canonical_number(lexeme) == expected
