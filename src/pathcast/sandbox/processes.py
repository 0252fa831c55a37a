"""Command line, environment and memory of child processes that run a module of ours.

A child searches modules where its parent does: `-P` and the absolute `PYTHONPATH` keep the current
working directory out of `sys.path`.

Memory comes from `/proc`, so the functions return None on systems other than Linux.

>>> python_module_command("json.tool", "--indent", "2")[1:]
['-P', '-m', 'json.tool', '--indent', '2']
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["child_environment", "peak_memory", "proc_field", "python_module_command"]


def python_module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module with this interpreter."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """Return this process's environment, with its `sys.path` as `PYTHONPATH`."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def peak_memory(pid: int | None = None) -> int | None:
    """Return the peak resident set size (VmHWM) of a process in bytes, by default of this one.

    `ru_maxrss` would not do: on Linux a child inherits it from the process that forked it.
    """
    return proc_field(Path("/proc", "self" if pid is None else str(pid), "status"), "VmHWM")


def proc_field(path: Path, name: str) -> int | None:
    """Return a `Name: N kB` field of a file in /proc, in bytes; None if there is no such field."""
    try:
        for line in path.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
