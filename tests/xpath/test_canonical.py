"""The equivalences that docs/reference/language.md lists for users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pathcast.xpath import parse

_TABLE = Path(__file__).parents[2] / "docs" / "reference" / "language.md"
_NAMESPACES = {"p": "urn:p"}


def rows() -> list[tuple[str, str]]:
    section = (
        _TABLE.read_text(encoding="utf-8").partition("## Canonical form")[2].partition("\n## ")[0]
    )
    found = []
    for line in section.splitlines():
        if not line.startswith("| `"):
            continue
        written, canonical = (
            re.findall("`([^`]+)`", cell) for cell in re.split(r" \| (?!//)", line)[:2]
        )
        if len(canonical) == 1:
            found += [(text, canonical[0]) for text in written]
        else:
            found += zip(written, canonical, strict=False)
    return found


def test_the_table_was_read() -> None:
    assert len(rows()) > 20


@pytest.mark.parametrize(("text", "canonical"), rows())
def test_documented_equivalence(text: str, canonical: str) -> None:
    pattern = parse(text, _NAMESPACES)
    assert pattern.text == canonical
    assert parse(pattern.text, dict(pattern.namespaces)) == pattern


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("//a[b][1]", "//a[1][b]"),
        ("//a[1]", "/descendant::a[1]"),
        ("count(//a[b]) > 1", "count(//a/b) > 1"),
        ("//a[not(b = 1)]", "//a[b != 1]"),
        ("//a[b and c]", "//a[b or c]"),
        ("string(//a) = 'x'", "//a = 'x'"),
        ("//a", "//p:a"),
    ],
)
def test_what_must_stay_apart(one: str, two: str) -> None:
    assert parse(one, _NAMESPACES) != parse(two, _NAMESPACES)


def test_prefixes_do_not_matter() -> None:
    one = parse("//x:a/y:b", {"x": "urn:1", "y": "urn:2"})
    two = parse("//q:a/p:b", {"p": "urn:2", "q": "urn:1", "unused": "urn:3"})
    assert one == two
    assert one.text == "//n1:a/n2:b"
