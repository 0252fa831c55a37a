"""Golden traces: the output of scenarios/NAME.txt is scenarios/NAME.trace, byte for byte.

After an intended change, `PATHCAST_GOLDEN=write` writes the traces; then review the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pathcast.sim.scenario import read_scenario, run_scenario
from tests.cli.running import run

FOLDER = Path(__file__).parent / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.txt"))


def test_there_are_scenarios() -> None:
    assert len(NAMES) > 10
    assert {path.stem for path in FOLDER.glob("*.trace")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_traces(name: str) -> None:
    result = run("simulate", FOLDER / f"{name}.txt", "--trace", "-")
    assert (result.code, result.stderr) == (0, "")
    golden = FOLDER / f"{name}.trace"
    if os.environ.get("PATHCAST_GOLDEN") == "write":
        golden.write_text(result.stdout, encoding="utf-8")
    assert result.stdout == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_canonical_texts_are_stable(name: str) -> None:
    scenario = read_scenario((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    assert read_scenario(str(scenario)) == scenario
    assert str(read_scenario(str(scenario))) == str(scenario)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: str(path.stem))
def test_regressions(path: Path) -> None:
    """Shrunk random scenarios that found an error; the first comment of each names it."""
    assert run_scenario(path.read_text(encoding="utf-8")).failures == ()
