"""What every helper process does first: answers go where questions came from, and nothing else does."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO

__all__ = ["serve"]


def serve(loop: Callable[[BinaryIO, BinaryIO], None]) -> None:
    """Read questions and write answers until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # What anything prints must not end up among the answers.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        loop(sys.stdin.buffer, answers)
