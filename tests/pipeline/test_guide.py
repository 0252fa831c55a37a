"""What the guide shows as a session at a terminal does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.readme import blocks, run

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "pipeline.md").read_text(encoding="utf-8")


@pytest.mark.deep
def test_the_sessions(tmp_path: Path) -> None:
    assert [one for one in blocks(GUIDE) if one.language == "console"]
    assert not run(GUIDE, tmp_path)
