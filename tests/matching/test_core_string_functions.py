"""String functions before value tests: the functions alone, and in subscriptions."""

from __future__ import annotations

import doctest
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.matching.compiled.core import string_functions
from pathcast.matching.compiled.core.string_functions import StringFunctions
from pathcast.matching.engine import EngineName
from pathcast.xpath.tree import StringFunction
from tests.matching.engines import with_limit
from tests.oracle import document, expression, holds

UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
texts = st.text("aAbé \t\n\N{GRINNING FACE}", max_size=12)
calls = st.one_of(st.just(("normalize-space",)), st.tuples(st.just("translate"), texts, texts))


def test_doctest() -> None:
    assert doctest.testmod(string_functions).failed == 0


@given(st.lists(st.lists(calls, min_size=1, max_size=3), max_size=4), texts)
def test_chains_equal_those_in_python(chains: list[list[tuple[str, ...]]], text: str) -> None:
    functions = StringFunctions()
    for chain in chains:
        expected = text
        for name, *arguments in chain:
            expected = StringFunction(name, tuple(arguments))(expected)
        assert functions.call(chain, text) == expected
    assert len(functions) == len({tuple(chain) for chain in chains})


def test_other_functions_are_refused() -> None:
    with pytest.raises(ValueError, match="no string function: upper-case"):
        StringFunctions().call([("upper-case",)], "a")


FUNCTIONS = (
    "translate({0}, 'ABÉ', 'abé')",
    "translate({0}, ' ', '')",
    "translate({0}, 'aéb', 'é')",
    "normalize-space({0})",
    "normalize-space(translate({0}, 'B', ' '))",
    "translate(normalize-space({0}), '1', '2')",
)
TESTS = (
    "contains({0}, '{1}')",
    "starts-with({0}, '{1}')",
    "{0} = '{1}'",
    "{0} != '{1}'",
    "{0} > {2}",
    "{0} <= {2}",
    "{0} = {2}",
    "contains({0}, '{1}') or {0} < {2}",
    "not(contains({0}, '{1}'))",
)
ARGUMENTS = (".", ".", "@x", "c", "text()", "string()", "..")
PATHS = (
    "//{0}[{1}]",
    "/a/{0}[{1}][{2}]",
    "//{0}[{1}]//c[{2}]",
    "//{0}[c][{1}]/@x",
    "//{0}[@x = 'a']/c[{1}]",
    "//{0}/text()[{1}]",
    "//{0}[.//c[{1}]][{2}]",
    "//{0}[. > 5][{1}]",
    "//{0}[2][{1}]",
)


def random_subscription(rng: Random) -> str:
    def test() -> str:
        value = rng.choice(ARGUMENTS)
        for _ in range(rng.randrange(3)):
            value = rng.choice(FUNCTIONS).format(value)
        word = rng.choice(("a", "ab", "b", "é", "aé", "2", "a b"))
        return rng.choice(TESTS).format(value, word, rng.choice((1, 2, 5, 12)))

    return rng.choice(PATHS).format(rng.choice("abc*"), test(), test())


def random_body(rng: Random) -> bytes:
    def text() -> str:
        return "".join(rng.choices("aAbBéÉ  12", k=rng.randrange(5)))

    def element(depth: int) -> str:
        attribute = f" x='{text()}'" if rng.random() < 0.5 else ""
        parts = [
            element(depth - 1) if depth and rng.random() < 0.5 else text()
            for _ in range(rng.randrange(4))
        ]
        name = rng.choice("abc")
        return f"<{name}{attribute}>{''.join(parts)}</{name}>"

    return f"<a>{element(3)}{element(3)}</a>".encode()


@pytest.mark.parametrize(("engine", "limit"), [("core", -1), ("core", 300), ("plain", -1)])
def test_random_subscriptions_equal_libxml2(engine: EngineName, limit: int, deep: bool) -> None:
    """A memo bound of 300 ints is exceeded within every document."""
    rng = Random(limit)
    for _ in range(200 if deep else 10):
        subscriptions = [random_subscription(rng) for _ in range(60)]
        matcher = Matcher(engine=engine)
        if limit >= 0:
            with_limit(matcher, limit)
        matcher.add_many(enumerate(subscriptions))
        oracles = [expression(text) for text in subscriptions]
        for _ in range(10):
            body = random_body(rng)
            tree = document(body)
            expected = [number for number, oracle in enumerate(oracles) if holds(oracle, tree)]
            assert list(matcher.match(body)) == expected
        assert limit < 0 or matcher.stats().memo_flushes


def test_keywords_in_folded_case_do_not_start_evaluations() -> None:
    matcher = Matcher()
    for number in range(1000):
        folded = f"translate(., '{UPPER}', '{LOWER}')"
        matcher.add(number, f"//title[contains({folded}, 'w{number} ')]")
    assert sorted(matcher.match(b"<title>W5 w17 x</title>")) == [5, 17]
    stats = matcher.stats()
    assert (stats.joins, stats.skeletons_passed) == (0, 0)
    assert stats.memory["conditions"] == 0


def test_functions_survive_a_snapshot(tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add(1, "//t[contains(translate(., 'AÉ', 'aé'), 'aé')]")
    matcher.add(2, "//t[normalize-space(@x) = 'a b'][. = 'c']")
    matcher.save(tmp_path / "snapshot")
    copy = Matcher.load(tmp_path / "snapshot")
    for body, expected in (("<t>xAÉ</t>", [1]), ("<t x=' a  b'>c</t>", [2]), ("<t>a</t>", [])):
        assert list(copy.match(body)) == list(matcher.match(body)) == expected
