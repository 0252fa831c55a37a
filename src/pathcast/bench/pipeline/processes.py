"""CPU time and memory of a process with its descendants, from Linux's /proc.

CPU time is user and system time of every running process, and of its terminated children
(`cutime`, `cstime`: an ended worker counts for the process that waited for it). The resolution is a
hundredth of a second per process.

Memory is the peak resident size (`VmHWM`). A Spark worker is a child of a daemon, which is a child
of Java: a worker is a Python process whose parent is a Python process.

>>> line = "7 (a (b) c) S 1 7 7 0 -1 4194304 900 0 0 0 150 50 30 20 20 0 1 0 100 0"
>>> parse_stat(line)
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

__all__ = ["Process", "by_kind", "parse_stat", "process_tree", "worker_peaks"]

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PPID, _TIMES = 1, slice(11, 15)  # of the fields after the name


class Process(NamedTuple):
    """A process, with its CPU time and that of its terminated children."""

    pid: int
    parent: int
    name: str
    seconds: float


def parse_stat(line: str) -> Process:
    """Parse a line of /proc/PID/stat; the name may contain blanks and brackets."""
    head, _, tail = line.rpartition(")")
    pid, _, name = head.partition(" (")
    fields = tail.split()
    return Process(int(pid), int(fields[_PPID]), name, sum(map(int, fields[_TIMES])) / _TICKS)


def process_tree(root: int) -> list[Process]:
    """Return a process and its descendants, itself first; PipelineError without /proc."""
    by_pid: dict[int, Process] = {}
    children: defaultdict[int, list[int]] = defaultdict(list)
    for process in _all():
        by_pid[process.pid] = process
        children[process.parent].append(process.pid)
    if root not in by_pid:
        raise PipelineError(
            "processes",
            f"process {root} is not in {_PROC}",
            hint="CPU time and memory of processes are measured on Linux only",
        )
    tree, pending = [], [root]
    while pending:
        pid = pending.pop()
        tree.append(by_pid[pid])
        pending += children[pid]
    return tree


def _all() -> Iterator[Process]:
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            try:
                yield parse_stat((folder / "stat").read_text(errors="replace"))
            except OSError:  # the process has ended
                continue


def by_kind(processes: Iterable[Process]) -> Mapping[str, float]:
    """Return an application's CPU seconds by kind: `driver` (the first), `java`, `workers`."""
    seconds = {"driver": 0.0, "java": 0.0, "workers": 0.0}
    for index, process in enumerate(processes):
        kind = "java" if process.name == "java" else "workers" if index else "driver"
        seconds[kind] += process.seconds
    return seconds


def worker_peaks(processes: Iterable[Process]) -> dict[int, int]:
    """Return the peak resident bytes of each worker of an application, by process id."""
    by_pid = {process.pid: process for process in processes}
    java = {pid for pid, process in by_pid.items() if process.name == "java"}
    daemons = {pid for pid, each in by_pid.items() if each.parent in java and pid not in java}
    peaks = {pid: peak_memory(pid) for pid, each in by_pid.items() if each.parent in daemons}
    return {pid: peak for pid, peak in peaks.items() if peak is not None}
