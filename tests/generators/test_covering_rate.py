"""The covering rate against two oracles: pairwise homomorphisms, and canonical models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.generators.bundled import bundled_schema
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from tests.generators.covering_rate import (
    covering_rate,
    linear_steps,
    uncovered_count,
)

Steps = tuple[tuple[bool, str], ...]

paths = st.lists(
    st.tuples(st.sampled_from(["/", "/", "//"]), st.sampled_from(["a", "b", "*"])),
    min_size=1,
    max_size=4,
).map(lambda steps: "".join(axis + name for axis, name in steps))


def maps(p: Steps, q: Steps) -> bool:
    """Return whether there is a homomorphism from p to q."""

    @cache
    def ends(i: int, j: int) -> bool:
        """Whether the first i + 1 steps of p can be mapped, the last of them to step j of q."""
        (deep, test), (far, name) = p[i], q[j]
        if test not in ("*", name):
            return False
        if deep:
            return i == 0 or any(ends(i - 1, k) for k in range(j))
        return not far and (j == 0 if i == 0 else j > 0 and ends(i - 1, j - 1))

    return any(ends(len(p) - 1, j) for j in range(len(q)))


def covers(p: str, q: str) -> bool:
    """Return whether p matches every document that q matches, by canonical models.

    Chains suffice, with gaps a little longer than p's runs of wildcards. The test uses neither
    homomorphisms nor a normal form.
    """
    compiled = etree.XPath(f"boolean({p})")
    steps = [(axis == "//", name) for axis, name in re.findall(r"(//?)([^/]+)", q)]
    return all(compiled(document) for document in _models(steps, p.count("*") + 2))


def _models(
    steps: list[tuple[bool, str]], longest: int
) -> Iterator[etree._ElementTree[etree._Element]]:
    for gaps in product(*(range(longest) if deep else (0,) for deep, _ in steps)):
        names: list[str] = []
        for gap, (_, name) in zip(gaps, steps, strict=True):
            names += ["z"] * gap + ["z" if name == "*" else name]
        opened = "".join(f"<{name}>" for name in names)
        closed = "".join(f"</{name}>" for name in reversed(names))
        yield etree.fromstring(opened + closed).getroottree()


def count_roots(texts: list[str]) -> int:
    """Return how many no other path covers; of equivalent ones the first counts."""
    steps = [linear_steps(text) for text in texts]
    distinct_paths = [path for path in dict.fromkeys(steps) if path is not None]
    return sum(not any(p != q and maps(p, q) for p in distinct_paths) for q in distinct_paths)


@given(st.lists(paths, max_size=25))
def test_rate_equals_that_of_pairwise_homomorphisms(texts: list[str]) -> None:
    assert uncovered_count(texts) == count_roots(texts)
    rate = 1 - count_roots(texts) / len(texts) if texts else 0
    assert covering_rate(texts) == pytest.approx(rate)


@given(paths, paths)
def test_pairs_agree_with_canonical_models(p: str, q: str) -> None:
    forward, backward = covers(p, q), covers(q, p)
    assert uncovered_count([p, q]) == (1 if forward or backward else 2)
    assert (linear_steps(p) == linear_steps(q)) == (forward and backward)


def test_rate_of_generated_subscriptions() -> None:
    options = SubscriptionOptions(max_depth=10, min_depth=5, full=True, descendant=0.3)
    texts = list(subscriptions(bundled_schema("news"), options, 3, 400))
    assert 0 < uncovered_count(texts) == count_roots(texts) < 400


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("/a", "/a/b"),
        ("//b", "/a/b"),
        ("b", "/a/b/c"),
        ("/a/*", "/a//b"),
        ("/*//b", "//*/b"),
        ("/*/a//*//c", "/a/a/*//c/e/c/d"),  # Li 2008, section 4.2
        ("/a/*//*/d", "/a//b/c/d"),  # the special case of that section
    ],
)
def test_first_path_covers_second(p: str, q: str) -> None:
    assert uncovered_count([p, q]) == 1
    assert covering_rate([p, q]) == 0.5


@pytest.mark.parametrize(("p", "q"), [("/a", "/b"), ("/a/b", "/a/c"), ("//a/b", "//a//c")])
def test_neither_path_covers_the_other(p: str, q: str) -> None:
    assert uncovered_count([p, q]) == 2


def test_covering_beyond_the_rules_of_li_2008() -> None:
    """Li 2008, section 4.2: a part */c cannot cover *//c; but a // before the * lets it."""
    p, q = "/*/a//*/c", "/a/a/*//c/b/d"
    assert covers(p, q)
    assert uncovered_count([p, q]) == 1


def test_only_linear_paths_count() -> None:
    assert linear_steps("/a[b]/c") is linear_steps("/a[@x = 1]") is linear_steps("a |b") is None
    assert linear_steps("a/b") == linear_steps("//a/b")
    assert covering_rate(["/a[b]/c", "/a"]) == covering_rate([]) == 0
