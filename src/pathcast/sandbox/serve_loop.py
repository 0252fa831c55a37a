"""Common start of the worker programs: signals, and standard output reserved for responses."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO

__all__ = ["serve"]


def serve(loop: Callable[[BinaryIO, BinaryIO], None]) -> None:
    """Run `loop(requests, responses)` on standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the parent
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # Redirect anything that libraries print, so that it does not mix with the responses.
    with os.fdopen(os.dup(1), "wb") as responses:
        os.dup2(2, 1)
        loop(sys.stdin.buffer, responses)
