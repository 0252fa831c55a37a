"""Who holds a helper process: starts it when it is needed, keeps it, replaces it, lets it go.

Threads may share a holder, and take turns. After a fork each process has a helper of its own. Whatever
interrupts a turn ends the helper: the answer that is still to come would be taken for that of the next question.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from pathcast.sandbox.child import Child

__all__ = ["GRACE", "Holder", "checked_deadline"]

_LONGEST: Final = 86_400  # seconds: more than a day is no deadline, and poll() cannot count to it
GRACE: Final = 5.0  # seconds after which a helper whose holder is gone ends itself


def checked_deadline(seconds: float) -> float:
    """Seconds that can be a deadline; ValueError if they cannot."""
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"a deadline is more than 0 and at most {_LONGEST} s, not {seconds}")
    return seconds


class Holder:
    """Holds a helper process that runs a module."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._child: Child | None = None
        self._closed = False
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the helper process; what is closed cannot be used again."""
        self._mind_forks()
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
    def _turn(self) -> Iterator[None]:
        self._mind_forks()
        with self._lock:
            if self._closed:
                raise ValueError("the runner is closed")
            try:
                yield
            except BaseException:  # an interrupt, say
                self._stop()
                raise

    def _mind_forks(self) -> None:
        if os.getpid() != self._owner:  # a fork may have copied the lock while somebody held it
            self._owner, self._lock = os.getpid(), threading.Lock()

    def _living(self) -> Child:
        """The helper, started if there is none; OSError if that fails."""
        child = self._child
        if child is not None and child.owner != os.getpid():
            self._stop()
            child = None
        if child is None:
            child = self._child = Child(self._module)
            self._greet(child)
        return child

    def _greet(self, child: Child) -> None:
        """Tell a new helper what it has to know; whatever this raises, `_living` does."""

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()
