"""The stubs of the compiled core say what is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# What Cython adds to every module or class, and what stubs have no need to say.
MADE_BY_CYTHON = (
    "__reduce_cython__ is not present",
    "__setstate_cython__ is not present",
    "__test__ is not present",
    "__pyx_capi__ is not present",
    '__init__ is inconsistent, stub does not have *args parameter "args"',
)


CORES = (
    "pathcast.covering.core",
    "pathcast.covering.published_indexes",
    "pathcast.matching.compiled.core",
)


def test_stubs_of_the_core() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases"]
    found = subprocess.run(
        [*command, *CORES],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    said = found.stdout.splitlines()
    wrong = [line for line in said if not any(one in line for one in MADE_BY_CYTHON)]
    assert wrong == []
    assert "error" not in found.stderr


@pytest.mark.parametrize("name", CORES)
def test_every_compiled_module_has_a_stub(name: str) -> None:
    core = Path(__file__).parents[2] / "src" / Path(*name.split("."))
    modules = {path.stem for path in core.rglob("*.pyx")}
    assert modules
    assert modules == {path.stem for path in core.rglob("*.pyi")}
