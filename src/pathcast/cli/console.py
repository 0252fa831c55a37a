"""The console: data on stdout, everything else on stderr.

`Output` writes data: whole lines of UTF-8, flushed one by one on a terminal. A reader that has gone
(`pathcast match ... | head -1`) is no error: the command ends with 141, as if SIGPIPE had ended it.
The signal itself stays ignored, because it would also end the command when a child process dies.

`say` writes messages. They quote names and expressions from untrusted sources, so unprintable
characters are escaped: no file name can control the terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
)
from rich.text import Text

__all__ = ["BAD_CALL", "FAILED", "Output", "fail", "plural", "printable", "progress", "say"]

FAILED = 1
BAD_CALL = 2
CLOSED_STDOUT = 141  # 128 + SIGPIPE


class Output:
    """Standard output for data; leaving the block flushes it."""

    def __init__(self) -> None:
        if sys.stdout is None:  # `pathcast ... >&-`
            fail("standard output is closed")
        self.stream = sys.stdout.buffer
        self.interactive = sys.stdout.isatty()

    def json(self, value: object) -> None:
        """Write the value as one line of JSON."""
        line = json.dumps(value, ensure_ascii=False)
        try:
            line.encode()
        except UnicodeEncodeError:  # a file name that is not UTF-8: JSON can escape it
            line = json.dumps(value)
        self.text(line)

    def text(self, text: str) -> None:
        """Write the text and a line end."""
        with _handle_closed_stdout():
            self.stream.write(text.encode(errors="backslashreplace") + b"\n")
            if self.interactive:
                self.stream.flush()

    def document(self, body: bytes) -> None:
        """Write a document as it is, and a line end unless it has one."""
        with _handle_closed_stdout():
            self.stream.write(body if body.endswith(b"\n") else body + b"\n")

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _handle_closed_stdout():
            self.stream.flush()


@contextlib.contextmanager
def _handle_closed_stdout() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Discard the buffer, or Python reports an error when it exits.
        with contextlib.suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(CLOSED_STDOUT) from None
        fail(f"cannot write the output: {error.strerror or error}")


def plural(number: int, noun: str) -> str:
    """Return a count with its noun, in the plural if needed."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def say(message: str, style: str = "", console: Console | None = None) -> None:
    """Write a message to stderr; while a progress bar is shown, to that bar's `console`."""
    text = "\n".join(printable(line) for line in message.split("\n"))
    console = console or Console(stderr=True)
    console.print(Text(text, style=style), soft_wrap=True)


def printable(text: str) -> str:
    """Return the text with unprintable characters escaped, line ends too."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def fail(message: str) -> NoReturn:
    """Report a bad call and end the command."""
    say(f"pathcast: {message}", "red")
    raise typer.Exit(BAD_CALL)


def progress(label: str, total: int | None, *, with_data: bool = True) -> Progress:
    """Return a progress bar on stderr.

    It is hidden unless stderr is a terminal, and, `with_data`, unless stdout is not: scrolling data
    would overwrite the bar.
    """
    console = Console(stderr=True)
    hidden = not console.is_terminal or (
        with_data and sys.stdout is not None and sys.stdout.isatty()
    )
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
    )
    bar = Progress(*columns, console=console, transient=True, disable=hidden)
    bar.add_task(label, total=total)
    return bar
