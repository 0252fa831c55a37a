"""Runs Spark work in a thread, so that a signal never interrupts a call to Java.

A KeyboardInterrupt in the middle of a call would leave its answer in the connection, and the next
call, which ends the session, would read it as its own. So the main thread only waits: it shows
progress, and handles SIGINT and SIGTERM.

The first signal sets the event that the work gets. Work that is to be cancelled also loses its
Spark jobs, and the command ends with 128 plus the number of the signal, unless the work was just
complete. A second signal ends the process at once; Java notices that and ends itself.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

import typer

from pathcast.cli.console import say

__all__ = ["run_interruptibly"]

_POLL_SECONDS = 0.25
ResultT = TypeVar("ResultT")


def run_interruptibly(
    work: Callable[[threading.Event], ResultT],
    *,
    cancel: bool = True,
    on_stop: Callable[[], None] = lambda: None,
    on_wait: Callable[[], None] = lambda: None,
) -> ResultT:
    """Return the result of `work`, or raise its error.

    With `cancel`, a signal cancels the Spark jobs. The main thread calls `on_stop` after the first
    signal, and `on_wait` a few times a second.
    """
    from pathcast.pipeline.session import cancel_jobs

    results: list[ResultT] = []
    errors: list[BaseException] = []
    stopping = threading.Event()

    def perform() -> None:
        try:
            results.append(work(stopping))
        except BaseException as error:  # raised again in the main thread  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=perform, daemon=True)
    with _count_signals(stopping) as signals:
        thread.start()
        is_told = False
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
            on_wait()
            if signals and not is_told:
                is_told = True
                on_stop()
            if signals and cancel:
                cancel_jobs()  # repeatedly: the next job may just begin
    if not errors:
        return results[0]
    if signals and cancel:
        say("pathcast: interrupted", "yellow")
        raise typer.Exit(128 + signals[0])
    raise errors[0]


@contextmanager
def _count_signals(stopping: threading.Event) -> Iterator[list[int]]:
    """Yield the signals so far; the first sets the event, the second ends the process."""
    signals: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        if signals:
            os._exit(128 + number)
        signals.append(number)
        stopping.set()

    handlers = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
