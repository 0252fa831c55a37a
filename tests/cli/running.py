"""Runs the command line for tests: in this process, or in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from pathcast.cli.app import app

COMMAND = [sys.executable, "-m", "pathcast"]
ENVIRONMENT = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


@dataclass(frozen=True, slots=True)
class Result:
    """The exit code and the output of a command."""

    code: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[Any]:
        """The lines of stdout, parsed as JSON."""
        return [json.loads(line) for line in self.stdout.splitlines()]


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run the command in this process."""
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin, env=ENVIRONMENT)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Result(result.exit_code, result.stdout, result.stderr)


def run_process(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run the command in a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    process = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=300)
    return Result(process.returncode, process.stdout.decode(), process.stderr.decode())


def write(folder: Path, **bodies: str) -> None:
    """Write files named as the arguments, with `__` for the dot."""
    for name, body in bodies.items():
        (folder / name.replace("__", ".")).write_text(body)
