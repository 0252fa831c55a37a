"""Peak memory of a function, measured in a process of its own.

    parent: measure_peak(function, *arguments)
    child:  python -m pathcast.bench.memory module:function arguments -> a line of JSON

In a process with a history the peak would include that history. The child imports the function's
module, notes its resident size, runs the function and reports the peak. Arguments and result are
JSON; the function must be importable by its module and name.

Linux keeps the peak of a process (VmHWM) from its start. Elsewhere the peak is `ru_maxrss`, which
Linux inherits from the parent that forked the child and is therefore the second choice.
"""

from __future__ import annotations

import json
import pkgutil
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pathcast.sandbox.processes import child_environment, peak_memory, python_module_command

__all__ = ["PeakMemory", "measure_peak", "resident_peak"]

SHOWN_ERROR_LINES = 3


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """Bytes: before the function ran (the interpreter and its imports), and the peak."""

    before: int
    peak: int
    result: Any


def measure_peak(function: Callable[..., object], *arguments: object) -> PeakMemory:
    """Run the function in a child process; raise RuntimeError with its last output if it fails."""
    name = f"{function.__module__}:{function.__qualname__}"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        python_module_command(__name__, name, json.dumps(arguments)),
        capture_output=True,
        check=False,
        env=child_environment(),
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        output = " ".join(line.strip() for line in lines[-SHOWN_ERROR_LINES:]) or "no output"
        raise RuntimeError(f"{name} ended with status {done.returncode}: {output}")
    answer = json.loads(done.stdout.splitlines()[-1])
    return PeakMemory(answer["before"], answer["peak"], answer["result"])


def resident_peak() -> int:
    """Return the peak resident size of this process so far, in bytes."""
    peak_bytes = peak_memory()
    if peak_bytes is not None:
        return peak_bytes
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum if sys.platform == "darwin" else maximum * 1024


def _child() -> None:
    name, arguments = sys.argv[1:]
    function = pkgutil.resolve_name(name)
    before = resident_peak()
    result = function(*json.loads(arguments))
    answer = {"before": before, "peak": resident_peak(), "result": result}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    _child()
