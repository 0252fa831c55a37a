"""Several things at the same time: most of a small job of Spark's is waiting, for a plan, for a task to start, for a file."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

__all__ = ["run_parallel"]

Result = TypeVar("Result")


def run_parallel(session: SparkSession, *steps: Callable[[], Result]) -> list[Result]:
    """Do all steps, in threads that Spark takes for this one; the first error is raised when all have ended."""
    inherit = inheritable_thread_target(session)
    with ThreadPoolExecutor(len(steps)) as pool:
        return [done.result() for done in [pool.submit(inherit(step)) for step in steps]]
