"""Examples in a Markdown text, run as the reader would run them.

Two kinds of fenced block are examples; all others (`text`, `sh`, ...) are not run.

- `python`: a session with `>>>` is run as a doctest, anything else is executed and may assert.
- `console`: bash runs each line that starts with `$ `. Lines that start with `> ` right after it
  continue the command (a here-document, say). The lines after that are the expected output, stdout
  and stderr together; a line of `...` stands for any lines. A command must succeed, unless the next
  one is `$ echo $?`, which shows its status.

Examples run in the order of the text: in one folder, and the Python examples in one namespace.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Block", "Command", "blocks", "commands", "run", "shows"]

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})[ ]*(?P<language>[\w-]*)[^\n`]*$")
_NEXT_SHOWS_STATUS = "echo $?"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is the number of its first line of code, counted from 1."""

    language: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and the output that the text shows for it."""

    line: int
    text: str
    output: tuple[str, ...]


def blocks(markdown: str) -> Iterator[Block]:
    """Yield the fenced blocks of the text in order; raise ValueError for an unclosed one."""
    opened: tuple[str, str, int] | None = None
    code: list[str] = []
    for number, line in enumerate(markdown.splitlines(), start=1):
        if opened is None:
            if fence := _FENCE.match(line):
                opened, code = (fence["fence"], fence["language"], number + 1), []
        elif line.startswith(opened[0]) and not line.strip(opened[0][0] + " "):
            yield Block(opened[1], opened[2], "\n".join(code) + "\n")
            opened = None
        else:
            code.append(line)
    if opened is not None:
        raise ValueError(f"the block at line {opened[2]} is not closed")


def commands(block: Block) -> list[Command]:
    """Return the commands of a console block; raise ValueError for output before the first."""
    parsed: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if line.startswith("$ "):
            parsed.append(Command(number, line[2:], ()))
        elif not parsed:
            raise ValueError(f"line {number}: output without a command")
        elif (line.startswith("> ") or line == ">") and not parsed[-1].output:
            parsed[-1] = Command(parsed[-1].line, f"{parsed[-1].text}\n{line[2:]}", ())
        else:
            parsed[-1] = Command(parsed[-1].line, parsed[-1].text, (*parsed[-1].output, line))
    return parsed


def shows(expected: tuple[str, ...], actual: str) -> bool:
    """Return whether output is as expected, up to spaces at line ends and empty last lines."""
    pattern = "".join(
        r"(?:[^\n]*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n"
        for line in _trim(list(expected))
    )
    text = "".join(f"{line}\n" for line in _trim(actual.splitlines()))
    return re.fullmatch(pattern, text) is not None


def run(markdown: str, folder: Path) -> list[str]:
    """Run all examples in the folder; return a complaint for each that fails."""
    namespace: dict[str, Any] = {"__name__": "__readme__"}
    complaints: list[str] = []
    for block in blocks(markdown):
        match block.language:
            case "python":
                complaints += _run_python(block, folder, namespace)
            case "console":
                complaints += _run_console(block, folder)
    return complaints


def _trim(lines: list[str]) -> list[str]:
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _run_python(block: Block, folder: Path, namespace: dict[str, Any]) -> list[str]:
    printed = io.StringIO()
    with contextlib.chdir(folder):
        if ">>>" in block.text:
            parser = doctest.DocTestParser()
            test = parser.get_doctest(block.text, namespace, "README", "README.md", block.line - 1)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, out=printed.write, clear_globs=False)
            namespace.update(test.globs)
            return [printed.getvalue()] if runner.failures else []
        # The empty lines give tracebacks the line numbers of the text.
        source = "\n" * (block.line - 1) + block.text
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(source, "README.md", "exec"), namespace)
        except Exception:  # noqa: BLE001 - any exception of the example is a failure
            return [f"line {block.line}: the Python example fails\n{traceback.format_exc()}"]
    return []


def _run_console(block: Block, folder: Path) -> list[str]:
    complaints: list[str] = []
    block_commands = commands(block)
    status = 0
    for command, following in zip(block_commands, [*block_commands[1:], None], strict=True):
        process = subprocess.run(
            # Each command has its own shell; the subshell sets $? to the last status.
            ["bash", "-c", f"(exit {status})\n{command.text}"],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        status = process.returncode
        location = f"line {command.line}: $ {command.text}\n"
        if not shows(command.output, process.stdout):
            expected = "\n".join(command.output)
            complaints.append(f"{location}--- expected\n{expected}\n--- printed\n{process.stdout}")
        elif status and (following is None or following.text != _NEXT_SHOWS_STATUS):
            complaints.append(f"{location}--- fails with status {status}\n{process.stdout}")
    return complaints


def _environment() -> dict[str, str]:
    """Return an environment with a fixed terminal, in which this installation comes first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PATHCAST_")}
    fixed = {"PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
    return inherited | fixed
