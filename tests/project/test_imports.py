"""The import direction of ARCHITECTURE.md holds (the contracts are in pyproject.toml)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_import_direction() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
        *("--config", "pyproject.toml", "--no-cache", "--no-logo"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_the_package_loads_no_heavy_modules() -> None:
    """The errors and the version are available without the engine and without lxml."""
    program = (
        "import sys, pathcast, pathcast.errors\n"
        "assert pathcast.__version__\n"
        "heavy = {'lxml', 'rich', 'typer', 'pyarrow', 'pathcast.matching', 'pathcast.covering'}\n"
        "heavy &= sys.modules.keys()\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"import pathcast loads {done.stderr}"
