"""CPU time and memory of a process with all its descendants, as Linux tells them.

CPU time is user and system time of every process that is there now, and of their children that are gone (`cutime`, `cstime`: a worker that
ended is counted with the one that waited for it). It counts in hundredths of a second, for each process.

Memory is the most that a process had resident, ever (`VmHWM`). A worker of Spark is a child of a daemon, which is a child of Java: of
the Python processes it is one whose parent is Python too.

>>> line = "7 (a (b) c) S 1 7 7 0 -1 4194304 900 0 0 0 150 50 30 20 20 0 1 0 100 0"
>>> parsed(line)
Process(pid=7, parent=1, name='a (b) c', seconds=2.5)
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pathcast.errors import PipelineError
from pathcast.sandbox.processes import peak_memory

__all__ = ["Process", "by_kind", "parsed", "tree", "worker_peaks"]

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PPID, _TIMES = 1, slice(11, 15)  # of the fields after the name


class Process(NamedTuple):
    """One of them, with the CPU time of its children that are gone."""

    pid: int
    parent: int
    name: str
    seconds: float


def parsed(line: str) -> Process:
    """What a line of /proc/PID/stat says; the name may have blanks and brackets."""
    head, _, tail = line.rpartition(")")
    pid, _, name = head.partition(" (")
    fields = tail.split()
    return Process(int(pid), int(fields[_PPID]), name, sum(map(int, fields[_TIMES])) / _TICKS)


def tree(root: int) -> list[Process]:
    """A process and all its descendants, the process itself first; PipelineError where there is no /proc."""
    known: dict[int, Process] = {}
    children: defaultdict[int, list[int]] = defaultdict(list)
    for process in _all():
        known[process.pid] = process
        children[process.parent].append(process.pid)
    if root not in known:
        raise PipelineError(
            "processes",
            f"process {root} is not to be found in {_PROC}",
            hint="CPU time and memory of processes are measured on Linux alone",
        )
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(known[pid])
        waiting += children[pid]
    return found


def _all() -> Iterator[Process]:
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            try:
                yield parsed((folder / "stat").read_text(errors="replace"))
            except OSError:  # it has ended meanwhile
                continue


def by_kind(processes: Iterable[Process]) -> Mapping[str, float]:
    """CPU seconds of an application: of its `driver`, which comes first, of `java`, and of the `workers`."""
    seconds = {"driver": 0.0, "java": 0.0, "workers": 0.0}
    for place, process in enumerate(processes):
        kind = "java" if process.name == "java" else "workers" if place else "driver"
        seconds[kind] += process.seconds
    return seconds


def worker_peaks(processes: Iterable[Process]) -> dict[int, int]:
    """The most bytes that each worker of an application has had, by process."""
    known = {process.pid: process for process in processes}
    java = {pid for pid, process in known.items() if process.name == "java"}
    daemons = {pid for pid, one in known.items() if one.parent in java and pid not in java}
    peaks = {pid: peak_memory(pid) for pid, one in known.items() if one.parent in daemons}
    return {pid: peak for pid, peak in peaks.items() if peak is not None}
