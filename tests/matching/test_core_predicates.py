"""Value predicates: value classes against brute force, all operators against libxml2."""

from __future__ import annotations

import doctest
import math
from itertools import product
from operator import eq, ge, gt, le, lt, ne
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.matching.compiled.core import predicates
from pathcast.matching.compiled.core.predicates import ValueIndex
from pathcast.xpath.numbers import number
from tests.matching.engines import ENGINES, memos
from tests.oracle import document, expression, holds
from tests.pools import NUMBERS, ODD_VALUES, WORDS

OPS = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
SPELLINGS = (
    *("0", "-0", "00", "0.0", "5", "5.0", "05", "5.", "0.5", ".5", "0.50", "1e3", "1000", "1E3"),
    *("1e400", "-1e400", "NaN", "Infinity", "-5", "- 5", " 5 ", "", " ", "0.1", "1e-1", "abc", "é"),
    *("9007199254740993", "9007199254740992", "4.9e-324", "1e-400", "0e400", "+5", "5 5", "\u0665"),
)
constants = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 5.0, 0.5, 1e3, math.inf])
strings = st.sampled_from(SPELLINGS) | st.text(max_size=3)
labels = range(4, 4000, 8)


@given(
    st.lists(constants, max_size=8), st.lists(strings, max_size=8), st.lists(strings, max_size=8)
)
def test_classes_equal_brute_force(
    numbers: list[float], operands: list[str], values: list[str]
) -> None:
    """A class is (the value's number among the strings, its rank among the constants)."""
    tests = [("number", "<", (constant + 0.0).hex()) for constant in numbers]
    tests += [("string", "!=", operand) for operand in operands if _is_text(operand)]
    index = ValueIndex(tests, list(labels)[: len(tests)])
    distinct = sorted({constant + 0.0 for constant in numbers})
    texts = list(dict.fromkeys(filter(_is_text, operands)))
    for text in [*filter(_is_text, values), *texts, *SPELLINGS, *map(str, numbers)]:
        string, rank = index.value_class(text)
        assert string == (texts.index(text) if text in texts else -1)
        value = number(text)
        if math.isnan(value) or not distinct:
            assert rank == -1
            continue
        below = sum(constant < value for constant in distinct)
        assert rank == 2 * below + (value in distinct)


def _is_text(text: str) -> bool:
    return not any(0xD800 <= ord(character) < 0xE000 for character in text)


def to_literal(value: float) -> str:
    """Return a number as an XPath literal."""
    return format(value, "f") if math.isfinite(value) else "1e400" if value > 0 else "-1e400"


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(OPS)), st.integers(-3, 8).map(lambda n: n / 2)),
        min_size=1,
        max_size=20,
    ),
    st.lists(st.sampled_from([*SPELLINGS, "1", "1.5", "2", "3.5", "-1", "-0.5"]), max_size=6),
)
def test_numeric_tests_equal_brute_force(tests: list[tuple[str, float]], values: list[str]) -> None:
    matcher = Matcher(engine="core")
    for place, (op, constant) in enumerate(tests):
        matcher.add(place, f"/r/a[. {op} {to_literal(constant)}]")
    body = "<r>" + "".join(f"<a>{text}</a>" for text in values) + "</r>"
    expected = [
        place
        for place, (op, constant) in enumerate(tests)
        if any(OPS[op](number(text), constant) for text in values)
    ]
    assert list(matcher.match(body.encode())) == expected


OPERANDS = (
    *("0", "-0", "5", "5.0", "05", "0.5", "1e3", "1000", "1e400", "-1e400", "0e400", "-5", "1.5"),
    *("'5'", "'05'", "''", "'abc'", "' 5 '", "'NaN'", "'é'", "'-0'", "'1e3'", '"it\'s"'),
)
PLACES = (
    *("//a[. {}]", "//a[@x {}]", "//a/@x[. {}]", "//@*[. {}]", "//text()[. {}]", "/r/*[. {}]"),
    *("//a/b[. {}]", "//a[b {}]", "//a[.//b {}][@x]", "//comment()[. {}]", "/r[. {}]"),
)


def values_against_libxml2(rng: Random, count: int, bodies: int) -> int:
    texts = [
        rng.choice(PLACES).format(f"{op} {operand}")
        for op, operand in rng.choices(list(product(OPS, OPERANDS)), k=count)
    ]
    matchers = [Matcher(engine=engine) for engine in ENGINES]
    for matcher in matchers:
        matcher.add_many(enumerate(texts))
    questions = [expression(text) for text in texts]
    pool = [
        text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&apos;")
        for text in (*SPELLINGS, *NUMBERS, *WORDS, *ODD_VALUES)
    ]
    for _ in range(bodies):
        body = "<r>" + "".join(_element(rng, pool) for _ in range(rng.randint(1, 4))) + "</r>"
        tree = document(body.encode())
        expected = [place for place, question in enumerate(questions) if holds(question, tree)]
        for matcher in matchers:
            assert list(matcher.match(body.encode())) == expected, body
    return count * bodies


def _element(rng: Random, pool: list[str]) -> str:
    inside = rng.choice(pool)
    if rng.random() < 0.3:
        inside += f"<b>{rng.choice(pool)}</b>{rng.choice(pool)}"
    if rng.random() < 0.2:
        inside += f"<!--{rng.choice(('5', 'abc', ''))}-->"
    return f"<a x='{rng.choice(pool)}'>{inside}</a>"


def test_all_operators_against_libxml2(deep: bool) -> None:
    for seed in range(100 if deep else 10):
        values_against_libxml2(Random(seed), 150, 30)


def test_many_tests_on_one_node(deep: bool) -> None:
    """Hundreds of tests on the same few nodes: many operands per label path."""
    values_against_libxml2(Random(77), 2500, 60 if deep else 12)


@pytest.mark.parametrize("order", ["rising", "falling", "shuffled"])
def test_range_tests_in_any_order(order: str) -> None:
    constants = list(range(-50, 50))
    if order == "falling":
        constants.reverse()
    elif order == "shuffled":
        Random(1).shuffle(constants)
    matcher = Matcher(engine="core")
    for constant, op in product(constants, OPS):
        matcher.add(f"{op} {constant}", f"/r[. {op} {constant}]")
    for value in ("-51", "-50", "-0.5", "-0", "0", "17", "17.0", "49", "50", "x", "", "1e400"):
        assert set(matcher.match(f"<r>{value}</r>".encode())) == {
            f"{op} {constant}"
            for constant, op in product(constants, OPS)
            if OPS[op](number(value), float(constant))
        }


@pytest.mark.deep
def test_string_and_number_classes_do_not_collide() -> None:
    """Twenty thousand numeric strings and nine thousand constants at one label path."""
    matcher = Matcher(engine="core")
    matcher.add_many((f"s{value}", f"/r[. = '-{value}']") for value in range(1, 20_002))
    matcher.add_many((value, f"/r[. >= {value}]") for value in range(9000))
    for value in range(11_300, 11_500):
        assert list(matcher.match(f"<r>-{value}</r>".encode())) == [f"s{value}"]
    for value in range(6650, 6800):
        assert len(matcher.match(f"<r>{value}</r>".encode())) == value + 1


def test_values_of_one_class_share_a_label_path() -> None:
    """A thousand values in three classes of one test add three label paths."""
    matcher = Matcher(engine="core")
    matcher.add(1, "/r/a[. > 500]")
    for value in range(1000):
        assert len(matcher.match(f"<r><a>{value}</a></r>".encode())) == (value > 500)
    assert sum(len(memo) for memo in memos(matcher)) < 10


def test_examples() -> None:
    assert doctest.testmod(predicates).failed == 0
