"""How the tests of the command line run it: in this process, or, where that matters, in its own."""

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
    code: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.stdout.splitlines()]


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run the command in this process."""
    found = CliRunner().invoke(app, [str(one) for one in arguments], input=stdin, env=ENVIRONMENT)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return Result(found.exit_code, found.stdout, found.stderr)


def run_process(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run the command as a process of its own."""
    command = [*COMMAND, *(str(one) for one in arguments)]
    found = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=300)
    return Result(found.returncode, found.stdout.decode(), found.stderr.decode())


def write(folder: Path, **bodies: str) -> None:
    """Write files whose names are the arguments', with `__` for the dot."""
    for name, body in bodies.items():
        (folder / name.replace("__", ".")).write_text(body)
