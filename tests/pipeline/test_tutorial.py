"""The commands of docs/tutorial.md print what it shows."""

from __future__ import annotations

from pathlib import Path

from tests.project.readme import run

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"


def test_the_tutorial(tmp_path: Path) -> None:
    complaints = run(TUTORIAL.read_text(encoding="utf-8"), tmp_path)
    assert not complaints, "\n\n".join(complaints)
