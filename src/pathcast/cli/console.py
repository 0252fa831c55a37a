"""Who may write what where: data on stdout, everything else on stderr.

`Output` writes data: whole lines of UTF-8, flushed one by one when somebody watches. A reader that went
away (`pathcast match ... | head -1`) is no error: the command ends with 141, as if SIGPIPE had ended it.
The signal itself stays ignored, since it would also end us when a helper process dies.

`say` writes messages. What is quoted in them (names, expressions) may come from anywhere, so whatever is
not printable is escaped: no file name gets to drive the terminal.
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

__all__ = ["BAD_CALL", "FAILED", "Output", "fail", "many", "progress", "say"]

FAILED = 1
BAD_CALL = 2
_CLOSED = 141  # 128 + SIGPIPE


class Output:
    """Standard output for data; leaving the block flushes it."""

    def __init__(self) -> None:
        if sys.stdout is None:  # `pathcast ... >&-`
            fail("standard output is closed")
        self.stream = sys.stdout.buffer
        self.watched = sys.stdout.isatty()

    def json(self, value: object) -> None:
        """The value as one line of JSON."""
        line = json.dumps(value, ensure_ascii=False)
        try:
            line.encode()
        except UnicodeEncodeError:  # the name of a file that is not UTF-8: JSON can escape it
            line = json.dumps(value)
        self.text(line)

    def text(self, text: str) -> None:
        """The text and a line end."""
        with _closing():
            self.stream.write(text.encode(errors="backslashreplace") + b"\n")
            if self.watched:
                self.stream.flush()

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _closing():
            self.stream.flush()


@contextlib.contextmanager
def _closing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Whatever is still buffered has nowhere to go, and Python would say so while it ends.
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(_CLOSED) from None
        fail(f"cannot write the output: {error.strerror or error}")


def many(number: int, thing: str) -> str:
    """So many of something."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def say(message: str, style: str = "", console: Console | None = None) -> None:
    """Write a message to stderr; while a progress bar is shown, to that bar's `console`."""
    shown = "".join(
        one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in message
    )
    console = console or Console(stderr=True)
    console.print(Text(shown, style=style), soft_wrap=True)


def fail(message: str) -> NoReturn:
    """Say what is wrong with the call, and end."""
    say(f"pathcast: {message}", "red")
    raise typer.Exit(BAD_CALL)


def progress(label: str, total: int | None, *, with_data: bool = True) -> Progress:
    """A progress bar on stderr; it is there only where it disturbs nobody.

    That is, if stderr is a terminal, and stdout is not the same one `with_data` scrolling through.
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
