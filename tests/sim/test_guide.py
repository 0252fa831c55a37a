"""The examples of the guide work, and the reference describes every statement."""

from __future__ import annotations

from pathlib import Path

from pathcast.sim.scenario.parser import DEPRECATED_STATEMENTS, STATEMENTS
from tests.project.readme import run

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples(tmp_path: Path) -> None:
    assert not run((DOCS / "guide" / "overlay.md").read_text(encoding="utf-8"), tmp_path)


def test_the_reference_describes_every_statement() -> None:
    text = (DOCS / "reference" / "scenario-language.md").read_text(encoding="utf-8")
    present, _, deprecated = text.partition("## Deprecated words")
    for name in STATEMENTS:
        assert f"`{name} " in present or f"`{name}`" in present, name
    for name in DEPRECATED_STATEMENTS:
        assert f"| `{name} " in deprecated or f"| `{name}`" in deprecated, name
        assert f"`{name} " not in present, name
