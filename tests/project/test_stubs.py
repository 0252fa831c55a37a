"""The stubs of the compiled modules are complete and correct."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Members that Cython adds to every module or class; stubs omit them.
ADDED_BY_CYTHON = (
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


def test_stubs_match_the_compiled_modules() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases"]
    process = subprocess.run(
        [*command, *CORES],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    lines = process.stdout.splitlines()
    mismatches = [line for line in lines if not any(note in line for note in ADDED_BY_CYTHON)]
    assert mismatches == []
    assert "error" not in process.stderr


@pytest.mark.parametrize("name", CORES)
def test_every_compiled_module_has_a_stub(name: str) -> None:
    core = Path(__file__).parents[2] / "src" / Path(*name.split("."))
    modules = {path.stem for path in core.rglob("*.pyx")}
    assert modules
    assert modules == {path.stem for path in core.rglob("*.pyi")}
