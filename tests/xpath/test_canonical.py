"""The equivalences that docs/reference/language.md lists for users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from pathcast.xpath import parse
from tests.generate import NAMESPACES
from tests.strategies import sideways_expressions

_TABLE = Path(__file__).parents[2] / "docs" / "reference" / "language.md"
_NAMESPACES = {"p": "urn:p"}


def documented_pairs() -> list[tuple[str, str]]:
    section = (
        _TABLE.read_text(encoding="utf-8").partition("## Canonical form")[2].partition("\n## ")[0]
    )
    pairs = []
    for line in section.splitlines():
        if not line.startswith("| `"):
            continue
        written, canonical = (
            re.findall("`([^`]+)`", cell) for cell in re.split(r" \| (?!//)", line)[:2]
        )
        if len(canonical) == 1:
            pairs += [(text, canonical[0]) for text in written]
        else:
            pairs += zip(written, canonical, strict=False)
    return pairs


def test_table_is_not_empty() -> None:
    assert len(documented_pairs()) > 20


@pytest.mark.parametrize(("text", "canonical"), documented_pairs())
def test_documented_equivalence(text: str, canonical: str) -> None:
    pattern = parse(text, _NAMESPACES)
    assert pattern.text == canonical
    assert parse(pattern.text, dict(pattern.namespaces)) == pattern


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("//a[b][1]", "//a[1][b]"),
        ("//a[1]", "/descendant::a[1]"),
        ("count(//a[b]) > 1", "count(//a/b) > 1"),
        ("//a[not(b = 1)]", "//a[b != 1]"),
        ("//a[b and c]", "//a[b or c]"),
        ("string(//a) = 'x'", "//a = 'x'"),
        ("//a", "//p:a"),
        ("//a/following-sibling::b[1]", "//b[1]/preceding-sibling::a"),
        ("//a/preceding-sibling::b[1][c]", "//a/preceding-sibling::b[c][1]"),
        ("//a/preceding-sibling::*[1]", "//a/preceding-sibling::*[last()]"),
        ("/descendant::a[../b][1]", "//a[../b][1]"),
        ("//a[normalize-space(.) = 'x']", "//a[. = 'x']"),
        (
            "//a[translate(normalize-space(.), 'a', 'b') = 'x']",
            "//a[normalize-space(translate(., 'a', 'b')) = 'x']",
        ),
    ],
)
def test_patterns_that_differ(first: str, second: str) -> None:
    assert parse(first, _NAMESPACES) != parse(second, _NAMESPACES)


@given(sideways_expressions())
def test_canonical_text_parses_to_an_equal_pattern(text: str) -> None:
    pattern = parse(text, NAMESPACES)
    again = parse(pattern.text, dict(pattern.namespaces))
    assert again == pattern
    assert again.text == pattern.text


def test_prefixes_do_not_matter() -> None:
    first = parse("//x:a/y:b", {"x": "urn:1", "y": "urn:2"})
    second = parse("//q:a/p:b", {"p": "urn:2", "q": "urn:1", "unused": "urn:3"})
    assert first == second
    assert first.text == "//n1:a/n2:b"
