"""The console sessions of the guide print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.readme import blocks, run

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "pipeline.md").read_text(encoding="utf-8")


@pytest.mark.deep
def test_console_blocks_of_the_guide(tmp_path: Path) -> None:
    assert [block for block in blocks(GUIDE) if block.language == "console"]
    assert not run(GUIDE, tmp_path)
