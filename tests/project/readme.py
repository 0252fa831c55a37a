"""Examples in a Markdown text, run as the reader would run them.

Two kinds of fenced block are examples; all others (`text`, `sh`, ...) are only to be read.

- `python`: a session with `>>>` is run as a doctest, anything else is executed and may assert.
- `console`: each line that starts with `$ ` is run by bash, lines that start with `> ` right after it
  continue it (a here-document, say), and what follows is what a terminal shows, stdout and stderr
  together. A line of `...` stands for any lines. A command must succeed, unless the next one is
  `$ echo $?`, which shows how it failed.

A README is read from the top, so its examples are run from the top: in one folder, and the Python
ones in one namespace.
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
    """A fenced block: `line` is that of its first line of code, counted from 1."""

    language: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block and the lines that it is said to print."""

    line: int
    text: str
    output: tuple[str, ...]


def blocks(markdown: str) -> Iterator[Block]:
    """Every fenced block of the text, in order; one that is never closed is an error."""
    opened: tuple[str, str, int] | None = None
    held: list[str] = []
    for number, line in enumerate(markdown.splitlines(), start=1):
        if opened is None:
            if found := _FENCE.match(line):
                opened, held = (found["fence"], found["language"], number + 1), []
        elif line.startswith(opened[0]) and not line.strip(opened[0][0] + " "):
            yield Block(opened[1], opened[2], "\n".join(held) + "\n")
            opened = None
        else:
            held.append(line)
    if opened is not None:
        raise ValueError(f"the block at line {opened[2]} is not closed")


def commands(block: Block) -> list[Command]:
    """The commands of a console block; lines before the first one are an error."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if line.startswith("$ "):
            found.append(Command(number, line[2:], ()))
        elif not found:
            raise ValueError(f"line {number}: output without a command")
        elif (line.startswith("> ") or line == ">") and not found[-1].output:
            found[-1] = Command(found[-1].line, f"{found[-1].text}\n{line[2:]}", ())
        else:
            found[-1] = Command(found[-1].line, found[-1].text, (*found[-1].output, line))
    return found


def shows(expected: tuple[str, ...], actual: str) -> bool:
    """Whether the output is what was promised; spaces at line ends and empty last lines are free."""
    pattern = "".join(
        r"(?:[^\n]*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n"
        for line in _trimmed(list(expected))
    )
    text = "".join(f"{line}\n" for line in _trimmed(actual.splitlines()))
    return re.fullmatch(pattern, text) is not None


def run(markdown: str, folder: Path) -> list[str]:
    """Run all examples in the folder; what is returned are the complaints, empty when all is well."""
    namespace: dict[str, Any] = {"__name__": "__readme__"}
    complaints: list[str] = []
    for block in blocks(markdown):
        match block.language:
            case "python":
                complaints += _run_python(block, folder, namespace)
            case "console":
                complaints += _run_console(block, folder)
    return complaints


def _trimmed(lines: list[str]) -> list[str]:
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
        # The empty lines make the line numbers of a traceback those of the text.
        source = "\n" * (block.line - 1) + block.text
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(source, "README.md", "exec"), namespace)
        except Exception:  # noqa: BLE001 - whatever the example raises is the finding
            return [f"line {block.line}: the Python example fails\n{traceback.format_exc()}"]
    return []


def _run_console(block: Block, folder: Path) -> list[str]:
    complaints: list[str] = []
    found = commands(block)
    status = 0
    for command, following in zip(found, [*found[1:], None], strict=True):
        done = subprocess.run(
            # The subshell hands the last status over, since every command has a shell of its own.
            ["bash", "-c", f"(exit {status})\n{command.text}"],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        status = done.returncode
        where = f"line {command.line}: $ {command.text}\n"
        if not shows(command.output, done.stdout):
            promised = "\n".join(command.output)
            complaints.append(f"{where}--- promised\n{promised}\n--- printed\n{done.stdout}")
        elif status and (following is None or following.text != _NEXT_SHOWS_STATUS):
            complaints.append(f"{where}--- fails with status {status}\n{done.stdout}")
    return complaints


def _environment() -> dict[str, str]:
    """The same terminal everywhere: UTF-8, no colours, a fixed width, our commands first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PATHCAST_")}
    fixed = {"PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
    return kept | fixed
