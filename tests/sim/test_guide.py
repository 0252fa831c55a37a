"""The guide does what it says, and names every statement."""

from __future__ import annotations

from pathlib import Path

from pathcast.sim.scenario.parser import STATEMENTS
from tests.project.readme import run

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "overlay.md").read_text(encoding="utf-8")


def test_the_examples(tmp_path: Path) -> None:
    assert not run(GUIDE, tmp_path)


def test_every_statement_is_told() -> None:
    language = GUIDE.partition("## The language")[2]
    for name in STATEMENTS:
        assert f"`{name} " in language or f"`{name}`" in language, name
