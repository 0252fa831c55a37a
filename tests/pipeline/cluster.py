"""A standalone cluster of Spark on this machine: a master and workers, each a process of its own, from the installed package.

All listen on the loopback interface, at ports that they choose themselves and tell in their logs. A worker starts a Java for
each application (an executor), in a folder `WORKER/app-*/NUMBER` where it logs which tasks it runs: that tells who did the work.
Each of the processes leads a group of its own, which its executors join, so that nothing of them is left when they are stopped.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import pyspark

__all__ = ["Cluster", "cluster"]

T = TypeVar("T")
_HOST: Final = "127.0.0.1"
_WATCHDOG: Final = 120.0
_MASTER: Final = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED: Final = re.compile(r"Successfully registered with master")
_DRIVER: Final = re.compile(r"CoarseGrainedScheduler@([^:\s]+):")
_TASK: Final = re.compile(r"Running task \S+ in stage")


class Cluster:
    """A master, and workers of one core and a gigabyte; `master` is its address."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.master = ""
        self.processes: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._home = Path(pyspark.__file__).parent
        self._environment = {
            **{key: value for key, value in os.environ.items() if "SPARK" not in key},
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(folder),  # no settings but these
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
        }

    def start(self, workers: int) -> None:
        log = self._run("master.Master", "master", "--port", "0", "--webui-port", "0")
        self.master = self._told(log, _MASTER)[1]
        small = ("--cores", "1", "--memory", "1g", "--webui-port", "0")
        logs = [
            self._run("worker.Worker", name, *small, "--work-dir", str(self._folder / name), self.master)
            for name in (f"worker{number}" for number in range(workers))
        ]  # fmt: skip
        for log in logs:
            self._told(log, _REGISTERED)

    def tasks(self) -> dict[str, int]:
        """How many tasks ran in each worker's executors."""
        return {
            folder.name: sum(
                len(_TASK.findall(log.read_text(errors="replace")))
                for log in folder.glob("app-*/*/stderr")
            )
            for folder in sorted(self._folder.glob("worker[0-9]*"))
            if folder.is_dir()
        }

    def drivers(self) -> set[str]:
        """Where executors were told to find their drivers."""
        logs = self._folder.glob("worker*/app-*/*/stderr")
        return {host for log in logs for host in _DRIVER.findall(log.read_text(errors="replace"))}

    def said(self) -> str:
        """What executors wrote, for a test that failed."""
        logs = sorted(self._folder.glob("worker*/app-*/*/stderr"))
        return "\n".join(log.read_text(errors="replace")[-3000:] for log in logs)

    def stop(self) -> None:
        """End all of them: workers first, which end their executors."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(_WATCHDOG)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _run(self, part: str, name: str, *arguments: str) -> Path:
        log = self._folder / f"{name}.log"
        program = [str(self._home / "bin" / "spark-class"), f"org.apache.spark.deploy.{part}"]
        with log.open("wb") as file:
            self.processes.append(
                subprocess.Popen(
                    [*program, "--host", _HOST, *arguments],
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        return log

    def _told(self, log: Path, pattern: re.Pattern[str]) -> re.Match[str]:
        def look() -> re.Match[str] | None:
            text = log.read_text(errors="replace")
            if any(process.poll() is not None for process in self.processes):
                raise RuntimeError(f"it ended: {text[-3000:]}")
            return pattern.search(text)

        return _wait_for(look)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster whose files are in a folder."""
    made = Cluster(folder)
    try:
        made.start(workers)
        yield made
    finally:
        made.stop()


def _wait_for(look: Callable[[], T | None]) -> T:
    end = time.monotonic() + _WATCHDOG
    while (found := look()) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"not within {_WATCHDOG} s")
        time.sleep(0.05)
    return found
