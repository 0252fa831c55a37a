"""Names and prose follow the rules of `tests.project.language`, in the whole tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.language import duplicate_types, findings, sources

ROOT = Path(__file__).parents[2]
TREES = ("src", "tests", "docs", "scripts")


@pytest.mark.parametrize("tree", [*TREES, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_names_and_prose(tree: str) -> None:
    breaches = [
        breach
        for path in sources(ROOT / tree)
        for breach in findings(path.relative_to(ROOT), path.read_text(encoding="utf-8"))
    ]
    assert breaches == []


def test_type_names_are_unique() -> None:
    assert duplicate_types(ROOT / "src" / "pathcast") == {}


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("m.py", '"""The subscriber is removed and nobody is told."""\n', "word: 'nobody'"),
        ("m.py", "# The broker was told.\n", "word: 'was told'"),
        ("m.py", 'MESSAGE = "sent in vain"\n', "word: 'in vain'"),
        ("m.md", "As in seed 003.\n", "word: 'seed 003'"),
        ("m.py", "def told() -> None: ...\n", "participle: told()"),
        ("m.py", "def rows_loaded() -> None: ...\n", "participle: rows_loaded()"),
        ("m.pyx", "cdef int matched(self) except -1:\n", "participle: matched()"),
        ("m.py", "found = 1\n", "local: found"),
        ("m.py", "def f(what: int) -> None: ...\n", "parameter: what"),
        ("m.pyx", "    cdef int32_t known\n", "local: known"),
        ("m.md", "x" * 101 + "\n", "width: 101 columns"),
        ("m.pyx", "#" + "x" * 100 + "\n", "width: 101 columns"),
    ],
)
def test_planted_breaches_are_reported(name: str, text: str, rule: str) -> None:
    assert [breach for breach in findings(Path(name), text) if rule in breach]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.py", "def load_seed(feed: int) -> bool: ...\n"),
        ("m.py", "class C:\n    @property\n    def closed(self) -> bool: ...\n"),
        ("m.py", "def on_link_closed() -> None: ...\n"),
        ("m.md", "| " + "x" * 120 + " |\n```text\n" + "x" * 120 + "\n```\n"),
        ("m.md", "[x](https://example.org/" + "x" * 120 + ")\n"),
    ],
)
def test_permitted_text_is_not_reported(name: str, text: str) -> None:
    assert findings(Path(name), text) == []
