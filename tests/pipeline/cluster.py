"""A standalone Spark cluster on this machine: a master and workers as processes.

All listen on loopback, on ports that they choose and log. A worker starts a JVM per application (an
executor) in a folder `WORKER/app-*/NUMBER`, where it logs its tasks: this shows which worker did
the work. Each process leads its own process group, which its executors join, so stopping it leaves
no process behind.
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

__all__ = ["SparkCluster", "cluster"]

T = TypeVar("T")
_HOST: Final = "127.0.0.1"
_WATCHDOG: Final = 120.0
_MASTER: Final = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED: Final = re.compile(r"Successfully registered with master")
_DRIVER: Final = re.compile(r"CoarseGrainedScheduler@([^:\s]+):")
_TASK: Final = re.compile(r"Running task \S+ in stage")


class SparkCluster:
    """A master and workers of one core and a gigabyte; `master` is its address."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.master = ""
        self.processes: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._home = Path(pyspark.__file__).parent
        self._environment = {
            **{key: value for key, value in os.environ.items() if "SPARK" not in key},
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(folder),  # no other settings
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
        }

    def start(self, workers: int) -> None:
        log = self._run("master.Master", "master", "--port", "0", "--webui-port", "0")
        self.master = self._wait_for_log(log, _MASTER)[1]
        small = ("--cores", "1", "--memory", "1g", "--webui-port", "0")
        logs = [
            self._run(
                *("worker.Worker", name, *small),
                *("--work-dir", str(self._folder / name), self.master),
            )
            for name in (f"worker{number}" for number in range(workers))
        ]
        for log in logs:
            self._wait_for_log(log, _REGISTERED)

    def tasks(self) -> dict[str, int]:
        """Return the number of tasks that each worker's executors ran."""
        return {
            folder.name: sum(
                len(_TASK.findall(log.read_text(errors="replace")))
                for log in folder.glob("app-*/*/stderr")
            )
            for folder in sorted(self._folder.glob("worker[0-9]*"))
            if folder.is_dir()
        }

    def drivers(self) -> set[str]:
        """Return the driver addresses that the executors received."""
        logs = self._folder.glob("worker*/app-*/*/stderr")
        return {host for log in logs for host in _DRIVER.findall(log.read_text(errors="replace"))}

    def executor_logs(self) -> str:
        """Return the logs of the executors, for a failed test."""
        logs = sorted(self._folder.glob("worker*/app-*/*/stderr"))
        return "\n".join(log.read_text(errors="replace")[-3000:] for log in logs)

    def stop(self) -> None:
        """Stop all processes, workers first; they stop their executors."""
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

    def _wait_for_log(self, log: Path, pattern: re.Pattern[str]) -> re.Match[str]:
        def look() -> re.Match[str] | None:
            text = log.read_text(errors="replace")
            if any(process.poll() is not None for process in self.processes):
                raise RuntimeError(f"it ended: {text[-3000:]}")
            return pattern.search(text)

        return _wait_for(look)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[SparkCluster]:
    """Run a cluster whose files are in a folder."""
    spark_cluster = SparkCluster(folder)
    try:
        spark_cluster.start(workers)
        yield spark_cluster
    finally:
        spark_cluster.stop()


def _wait_for(look: Callable[[], T | None]) -> T:
    end = time.monotonic() + _WATCHDOG
    while (result := look()) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"not within {_WATCHDOG} s")
        time.sleep(0.05)
    return result
