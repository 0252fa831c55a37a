"""Lifecycle of a worker process: started on first use, reused, replaced after a failure, stopped.

Threads may share an owner: a lock serialises their requests. After a fork each process starts a
worker of its own. An exception during a request stops the worker, because its pending response
would be taken for the response to the next request.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from pathcast.sandbox.child import ChildProcess

__all__ = ["GRACE_SECONDS", "ProcessOwner", "check_deadline"]

_MAX_DEADLINE_SECONDS: Final = 86_400  # a day; poll() takes milliseconds as a C int
GRACE_SECONDS: Final = 5.0  # beyond the deadline, after which an orphaned worker ends itself


def check_deadline(seconds: float) -> float:
    """Return a valid deadline unchanged; ValueError for any other."""
    if not 0 < seconds <= _MAX_DEADLINE_SECONDS:
        raise ValueError(
            f"a deadline is more than 0 and at most {_MAX_DEADLINE_SECONDS} s, not {seconds}"
        )
    return seconds


class ProcessOwner:
    """Base class of the runners: owns one worker process that runs a module."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._child: ChildProcess | None = None
        self._closed = False
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Stop the worker process; a closed runner cannot be used again."""
        self._reset_after_fork()
        with self._lock:
            self._closed = True
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the lock for a request, and stop the worker if the request raises."""
        self._reset_after_fork()
        with self._lock:
            if self._closed:
                raise ValueError("the runner is closed")
            try:
                yield
            except BaseException:  # KeyboardInterrupt, for instance
                self._stop()
                raise

    def _reset_after_fork(self) -> None:
        if os.getpid() != self._owner:  # another thread may have held the lock during the fork
            self._owner, self._lock = os.getpid(), threading.Lock()

    def _ensure_child(self) -> ChildProcess:
        """Return the worker, started if there is none; OSError if that fails."""
        child = self._child
        if child is not None and child.owner != os.getpid():
            self._stop()
            child = None
        if child is None:
            child = self._child = ChildProcess(self._module)
            self._handshake(child)
        return child

    def _handshake(self, child: ChildProcess) -> None:
        """Configure a new worker; `_ensure_child` lets errors of this pass."""

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()
