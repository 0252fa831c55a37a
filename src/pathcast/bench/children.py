"""How a benchmark starts a process of its own: our interpreter, our modules, nothing of the working directory."""

from __future__ import annotations

import os
import sys

__all__ = ["command", "environment"]


def command(module: str, *arguments: str) -> list[str]:
    """What runs the module; -P keeps the working directory of the moment out of the search for modules."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Ours, so that the child finds modules where we do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
