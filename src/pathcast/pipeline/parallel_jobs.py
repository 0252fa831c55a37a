"""Several things at the same time: most of a small job of Spark's is waiting, for a plan, for a task to start, for a file."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

__all__ = ["run_parallel"]

Result = TypeVar("Result")


def run_parallel(session: SparkSession, *jobs: Callable[[], Result]) -> list[Result]:
    """Do all steps, in threads that Spark takes for this one; the first error is raised when all have ended."""
    inherit = inheritable_thread_target(session)
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(inherit(job)) for job in jobs]]
