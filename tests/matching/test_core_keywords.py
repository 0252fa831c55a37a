"""Keyword tests: the index against brute force, `contains` and `starts-with` against libxml2."""

from __future__ import annotations

import doctest
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.matching.compiled.core import keywords
from pathcast.matching.compiled.core.keywords import KeywordIndex
from pathcast.matching.matches import Matches
from tests.matching.engines import ENGINES
from tests.oracle import document, expression, holds

KINDS = ("contains", "starts-with")
letters = st.text("abé\N{GRINNING FACE}", max_size=6)
keyword_tests = st.lists(
    st.tuples(st.sampled_from(KINDS), st.just(""), letters.filter(bool)), max_size=12, unique=True
)


def test_doctest() -> None:
    assert doctest.testmod(keywords).failed == 0


@given(keyword_tests, st.lists(st.text("abé\N{GRINNING FACE}", max_size=20), max_size=5))
def test_found_keywords_equal_brute_force(
    tests: list[tuple[str, str, str]], texts: list[str]
) -> None:
    index = KeywordIndex(tests, [8 * number + 4 for number in range(len(tests))])
    assert index.count == len(tests)
    for text in [*texts, *[operand for _, _, operand in tests]]:
        expected = [
            number
            for number, (kind, _, operand) in enumerate(tests)
            if (operand in text if kind == "contains" else text.startswith(operand))
        ]
        assert index.found_in(text) == expected


def test_other_tests_are_left_out() -> None:
    tests = [("string", "=", "a"), ("contains", "", "a"), ("number", "<", (1.0).hex())]
    index = KeywordIndex(tests, [4, 12, 20])
    assert (index.count, index.number("contains", "a"), index.found_in("ba")) == (1, 0, [0])


def test_nested_keywords_are_found_once_each() -> None:
    """A search of all occurrences would take 40 million steps."""
    tests = [("contains", "", "a" * length) for length in range(1, 201)]
    index = KeywordIndex(tests, list(range(200)))
    assert index.found_in("a" * 200_000) == list(range(200))


TEMPLATES = (
    "//{0}[contains(., '{1}')]",
    "//{0}[starts-with(., '{1}')]",
    "/a/{0}[contains(., '{1}')][contains(., '{2}')]",
    "//{0}[contains(., '{1}') and starts-with(@x, '{2}')]",
    "//{0}[contains(., '{1}') or contains(., '{2}')]",
    "//{0}[not(contains(., '{1}'))]",
    "//{0}[@x = '{1}']//c[contains(., '{2}')]",
    "//{0}[@x = '{1}' and not(contains(c, '{2}'))]",
    "//{0}[contains(c, '{1}')]",
    "//{0}[contains(@x, '{1}')]/c[. = '{2}']",
    "//{0}[contains(text(), '{1}')]",
    "//{0}/text()[contains(., '{1}')]",
    "//@x[starts-with(., '{1}')]",
    "//{0}[starts-with(c, '{1}')][2]",
    "//{0}[2][contains(c, '{1}')]",
    "//{0}[contains(c//c, '{1}')]/@x",
    "count(//{0}[contains(., '{1}')]) > 1",
    "//comment()[contains(., '{1}')]",
    "contains(//{0}, '{1}')",
    "//{0}[string-length(.) > 3][contains(., '{1}')]",
)


def random_body(rng: Random) -> bytes:
    def text() -> str:
        return "".join(rng.choices("abé", k=rng.randrange(6)))

    def element(depth: int) -> str:
        name = rng.choice("bc")
        attribute = f" x='{text()}'" if rng.random() < 0.5 else ""
        children = [
            element(depth - 1)
            if depth and rng.random() < 0.4
            else rng.choice((text(), "<!--ab-->"))
            for _ in range(rng.randrange(4))
        ]
        return f"<{name}{attribute}>{''.join(children)}</{name}>"

    return f"<a>{''.join(element(3) for _ in range(4))}</a>".encode()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(4))
def test_random_subscriptions_equal_libxml2(engine: str, seed: int, deep: bool) -> None:
    rng = Random(seed)
    words = ["".join(rng.choices("abé", k=rng.randrange(1, 4))) for _ in range(12)]
    texts = [
        rng.choice(TEMPLATES).format(rng.choice("abc*"), rng.choice(words), rng.choice(words))
        for _ in range(3000 if deep else 300)
    ]
    matcher = Matcher(engine=engine)  # type: ignore[arg-type]
    matcher.add_many(enumerate(texts))
    oracles = [expression(text) for text in texts]
    for _ in range(200 if deep else 20):
        body = random_body(rng)
        tree = document(body)
        expected = [number for number, oracle in enumerate(oracles) if holds(oracle, tree)]
        result: Matches = matcher.match(body)
        assert list(result) == expected


def test_keyword_tests_do_not_start_evaluations() -> None:
    """The index decides 2,000 subscriptions; an equality rules out the condition of others."""
    matcher = Matcher()
    for number in range(1000):
        matcher.add(number, f"//t[contains(., 'w{number} ')]")
        matcher.add(-1 - number, f"//t[@n = {number}][contains(., 'w')][not(@y)]")
    matches = matcher.match(b"<t n='7'>w5 w17 </t>")
    assert sorted(matches) == [-8, 5, 17]
    assert matcher.stats().joins == 1


def test_keywords_survive_a_snapshot(tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add(1, "//t[contains(., 'ab')]")
    matcher.add(2, "//t[starts-with(@x, 'ab')][. = 'c']")
    matcher.save(tmp_path / "snapshot")
    copy = Matcher.load(tmp_path / "snapshot")
    for body in (b"<t>cab</t>", b"<t x='abc'>c</t>", b"<t x='cab'>c</t>"):
        assert list(copy.match(body)) == list(matcher.match(body))
