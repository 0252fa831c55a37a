"""The covering rate, against two twins: pairs by homomorphism, and pairs by all documents that could tell them apart."""

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
from pathcast.generators.subscriptions.covering_rate import (
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
    """Whether there is a homomorphism from p to q."""

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
    """Whether p matches every document that q matches: chains are enough, with gaps a little longer than p's wildcards.

    This is the canonical-model test for containment; it uses neither homomorphisms nor a normal form.
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


def kept(texts: list[str]) -> int:
    """How many are covered by no other; of equivalent ones the first counts."""
    steps = [linear_steps(text) for text in texts]
    found = [one for one in dict.fromkeys(steps) if one is not None]
    return sum(not any(p != q and maps(p, q) for p in found) for q in found)


@given(st.lists(paths, max_size=25))
def test_against_pairs(texts: list[str]) -> None:
    assert uncovered_count(texts) == kept(texts)
    rate = 1 - kept(texts) / len(texts) if texts else 0
    assert covering_rate(texts) == pytest.approx(rate)


@given(paths, paths)
def test_two_against_all_documents(p: str, q: str) -> None:
    one, other = covers(p, q), covers(q, p)
    assert uncovered_count([p, q]) == (1 if one or other else 2)
    assert (linear_steps(p) == linear_steps(q)) == (one and other)


def test_what_generated_ones_cover() -> None:
    options = SubscriptionOptions(max_depth=10, min_depth=5, full=True, descendant=0.3)
    texts = list(subscriptions(bundled_schema("news"), options, 3, 400))
    assert 0 < uncovered_count(texts) == kept(texts) < 400


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("/a", "/a/b"),
        ("//b", "/a/b"),
        ("b", "/a/b/c"),
        ("/a/*", "/a//b"),
        ("/*//b", "//*/b"),
        ("/*/a//*//c", "/a/a/*//c/e/c/d"),  # Li et al. 2008, section 4.2
        ("/a/*//*/d", "/a//b/c/d"),  # the special case of the same section
    ],
)
def test_covered(p: str, q: str) -> None:
    assert uncovered_count([p, q]) == 1
    assert covering_rate([p, q]) == 0.5


@pytest.mark.parametrize(("p", "q"), [("/a", "/b"), ("/a/b", "/a/c"), ("//a/b", "//a//c")])
def test_not_covered(p: str, q: str) -> None:
    assert uncovered_count([p, q]) == 2


def test_more_is_covered_than_by_the_rules_of_the_paper() -> None:
    """Li et al. 2008, section 4.2, say that a part */c cannot cover *//c, but a // in front of the * lets it."""
    p, q = "/*/a//*/c", "/a/a/*//c/b/d"
    assert covers(p, q)
    assert uncovered_count([p, q]) == 1


def test_only_linear_ones_count() -> None:
    assert linear_steps("/a[b]/c") is linear_steps("/a[@x = 1]") is linear_steps("a |b") is None
    assert linear_steps("a/b") == linear_steps("//a/b")
    assert covering_rate(["/a[b]/c", "/a"]) == covering_rate([]) == 0
