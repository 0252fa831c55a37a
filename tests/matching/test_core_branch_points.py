"""A branch point that one node reached needs no join; with several nodes, the join decides."""

from __future__ import annotations

from random import Random

import pytest

from pathcast import Matcher
from tests.oracle import oracle

# Documents that contain all label paths of the twig, at one node or at different ones.
CASES = {
    "branches below two siblings": ("//a[b][c]", "<r><a><b/></a><a><c/></a></r>", False),
    "both branches below the second": ("//a[b][c]", "<r><a><b/></a><a><b/><c/></a></r>", True),
    "single branch point": ("//a[b][c]", "<r><a><b/><c/></a></r>", True),
    "below the inner of two": ("//a[.//b][c]", "<r><a><a><c/><x><b/></x></a></a></r>", True),
    "branches below nested elements": ("//a[.//b][c]", "<r><a><c/><d/><a><d/></a></a></r>", False),
    "all below the outer of two": ("//a[.//b][.//c]", "<r><a><a><b/></a><a><c/></a></a></r>", True),
    "absolute branch": ("//a/b[//c]", "<r><a><b/></a><c/></r>", True),
    "values of one node": ("//a[@x = 1][@y = 2]", "<r><a x='1' y='2'/></r>", True),
    "values of two nodes": ("//a[@x = 1][@y = 2]", "<r><a x='1'/><a y='2'/></r>", False),
    "value and child": ("//a[. = 'v'][b]", "<r><a>v<b/></a><a><b/></a></r>", True),
    "value elsewhere": ("//a[. = 'v'][b]", "<r><a>v</a><a>w<b/></a></r>", False),
}


@pytest.mark.parametrize("name", CASES)
def test_label_paths_do_not_decide(name: str) -> None:
    text, document, expected = CASES[name]
    matcher = Matcher(engine="core")
    matcher.add(name, text)
    assert oracle(text, None, document.encode()) is expected
    assert list(matcher.match(document.encode())) == ([name] if expected else [])


def test_random_twigs_on_narrow_alphabets(deep: bool) -> None:
    """Few names and deep nesting: label paths with one instance beside paths with many."""
    rng = Random(11)
    matcher = Matcher(engine="core")
    texts = {number: _twig(rng) for number in range(400)}
    for number, text in texts.items():
        matcher.add(number, text)
    for _ in range(300 if deep else 60):
        body = f"<r>{_element(rng, 0)}{_element(rng, 0)}</r>".encode()
        expected = [number for number, text in texts.items() if oracle(text, None, body)]
        assert list(matcher.match(body)) == expected


def _twig(rng: Random) -> str:
    def path() -> str:
        steps = rng.randint(1, 2)
        return "".join(rng.choice(["/", "//"]) + rng.choice("abc*") for _ in range(steps))

    branches = "".join(f"[.{path()}]" for _ in range(rng.randint(1, 3)))
    return f"{path()}{branches}{path() if rng.random() < 0.5 else ''}"


def _element(rng: Random, depth: int) -> str:
    name = rng.choice("aabbcx")
    children = rng.randint(0, 3) if depth < 5 else 0
    inside = "".join(_element(rng, depth + 1) for _ in range(children))
    return f"<{name}>{inside}</{name}>"
