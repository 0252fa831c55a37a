"""The most memory that a function needs, measured in a process of its own.

parent: peak(function, *arguments) -> python -m pathcast.bench.memory module:function arguments -> a line of JSON

In a process that did other things before, the peak would be theirs. The child imports the function's module,
notes what it occupies by then, runs the function and says how much was resident at most. Arguments and
result go through JSON; the function must be one that can be found by its module and its name.

Linux keeps the peak of a process (VmHWM) from its start. Elsewhere it is `ru_maxrss`, which Linux hands
on from the parent that forked the child and is therefore only second choice.
"""

from __future__ import annotations

import json
import pkgutil
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from pathcast.sandbox.processes import child_environment, peak_memory, python_module_command

__all__ = ["Peak", "peak", "resident_peak"]


@dataclass(frozen=True, slots=True)
class Peak:
    """Bytes: `before` the function ran (the interpreter and what it imports), and at most."""

    before: int
    most: int
    result: object


def peak(function: Callable[..., object], *arguments: object) -> Peak:
    """Run the function in a child; RuntimeError with its last words if it fails."""
    name = f"{function.__module__}:{function.__qualname__}"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        python_module_command(__name__, name, json.dumps(arguments)),
        capture_output=True,
        check=False,
        env=child_environment(),
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        words = " ".join(line.strip() for line in said[-3:]) or "it said nothing"
        raise RuntimeError(f"{name} ended with status {done.returncode}: {words}")
    found = json.loads(done.stdout.splitlines()[-1])
    return Peak(found["before"], found["most"], found["result"])


def resident_peak() -> int:
    """The most bytes that this process has had in memory so far."""
    peak_bytes = peak_memory()
    if peak_bytes is not None:
        return peak_bytes
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _child() -> None:
    name, arguments = sys.argv[1:]
    function = pkgutil.resolve_name(name)
    before = resident_peak()
    result = function(*json.loads(arguments))
    found = {"before": before, "most": resident_peak(), "result": result}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    _child()
