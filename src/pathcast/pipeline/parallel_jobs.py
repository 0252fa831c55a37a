"""Parallel Spark jobs: a small job mostly waits for its plan, its tasks and its files."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

__all__ = ["run_parallel"]

Result = TypeVar("Result")


def run_parallel(session: SparkSession, *jobs: Callable[[], Result]) -> list[Result]:
    """Run jobs in threads with the session's properties; raise the first error when all ended."""
    inherit = inheritable_thread_target(session)
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(inherit(job)) for job in jobs]]
