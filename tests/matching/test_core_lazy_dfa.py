"""The lazy DFA respects its memo bound, and the bound does not change the matches.

A small bound flushes the memo between documents, and stops caching within one. Both happen here all
the time, for paths, values and twigs. Memory is in bytes, as `LazyDfa.memory` reports it.
"""

from __future__ import annotations

from random import Random

import pytest

from pathcast import Matcher
from pathcast.xpath import Cost, parse
from tests import generate
from tests.generate import NAMESPACES
from tests.matching.engines import memos, with_limit
from tests.matching.test_core_twigs import TwigGenerator, tree
from tests.oracle import document, expression, holds

LIMITS = (0, 60, 200, 500, 2000)


def path(rng: Random) -> str:
    steps = "".join(rng.choice(("/", "//")) + rng.choice("abc*") for _ in range(rng.randint(1, 5)))
    return steps + rng.choice(("", "", "/@x", "//@*", "//text()"))


def value(rng: Random) -> str:
    place = rng.choice(("//a[. {}]", "//b[@x {}]", "//@x[. {}]", "/*/*[. {}]", "//a//text()[. {}]"))
    return place.format(f"{rng.choice(('=', '!=', '<', '>='))} {rng.choice(('5', '3', '1', '0'))}")


def twig(rng: Random) -> str:
    return TwigGenerator(rng, "abc").twig()


def any_kind(rng: Random) -> str:
    return rng.choice((path, value, twig, native))(rng)


def native(rng: Random) -> str:
    while True:
        text = generate.expression(rng, generate.NATIVE)
        if parse(text, NAMESPACES).cost is not Cost.EXPENSIVE:
            return text


SETS = {"paths": path, "values": value, "twigs": twig, "mixed": any_kind}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("kind", SETS)
def test_matches_do_not_depend_on_the_bound(kind: str, limit: int, deep: bool) -> None:
    rng = Random(f"{kind} {limit}")
    for _ in range(10 if deep else 1):
        texts = [SETS[kind](rng) for _ in range(80)]
        matcher = with_limit(Matcher(engine="core"), limit)
        for number, text in enumerate(texts):
            matcher.add(number, text, NAMESPACES, hop=number % 100)
        questions = [expression(text, NAMESPACES) for text in texts]
        for round in range(30):
            body = tree(rng, "abc", rng.choice((3, 12, 40)), rng.choice((2, 5, 9)))
            where = document(body)
            expected = [number for number, query in enumerate(questions) if holds(query, where)]
            assert list(matcher.match(body)) == expected, body
            assert list(matcher.match_hops(body)) == expected, body
            if round == 20:
                matcher.settle()
        (memo,) = memos(matcher)
        assert memo.flushes > 0 or limit > 500


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("kind", SETS)
def test_memory_is_bounded(kind: str, hops: bool) -> None:
    """At most 16 bytes per int of the bound, plus the paths of open elements.

    The documents have thousands of distinct label paths, each document more than fit.
    """
    rng = Random(5)
    limit = 20_000
    matcher = with_limit(Matcher(engine="core"), limit)
    for number in range(200):
        matcher.add(number, SETS[kind](rng), NAMESPACES, hop=number * 20 if hops else None)
    matcher.settle()
    for _ in range(4):
        body = tree(rng, "abc", 6000, 12)
        if hops:
            matcher.match_hops(body)
        else:
            matcher.match(body)
        assert sum(memo.memory for memo in memos(matcher)) < 16 * limit + 200_000
    assert matcher.stats().memo_flushes > 1


def test_memory_beyond_the_bound_does_not_grow_with_the_document() -> None:
    """Beyond the bound only open elements need memory: four times the paths, no more bytes."""
    used = []
    for count in (2000, 8000):
        matcher = with_limit(Matcher(engine="core"), 1000)
        matcher.add_many((f"{name}", f"//{name}//n1//n2") for name in "abc")
        matcher.add_many((number, f"//n{number}/x", None, number % 4096) for number in range(9000))
        matcher.settle()
        body = "<r>" + "".join(f"<n{n}><x/></n{n}>" for n in range(count)) + "</r>"
        assert len(matcher.match(body.encode())) == count
        assert len(matcher.match_hops(body.encode())) == min(count, 4096)
        (memo,) = memos(matcher)
        used.append(memo.memory)
    assert used[1] < 2 * used[0]


def test_a_repeated_document_misses_nothing() -> None:
    rng = Random(3)
    matcher = Matcher(engine="core")
    matcher.add_many((number, any_kind(rng), NAMESPACES) for number in range(100))
    matcher.settle()
    body = tree(rng, "abc", 50, 8)
    first = list(matcher.match(body))
    (memo,) = memos(matcher)
    misses, work, memory = memo.misses, memo.work, memo.memory
    for _ in range(5):
        assert list(matcher.match(body)) == first
    assert (memo.misses, memo.work, memo.memory) == (misses, work, memory)
    assert memo.flushes == 0
