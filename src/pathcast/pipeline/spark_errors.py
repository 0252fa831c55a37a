"""What Spark, Java and Python's workers complain about, as errors that say what to do.

Spark wraps an error several times and adds pages of where it passed. What matters is the innermost message, and for a
few causes there is something to try.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException

from pathcast.errors import PathcastError, PipelineError

__all__ = ["failure", "told"]

_CAUSES = (
    (re.compile(r"No space left on device|Disk quota exceeded"), "disk", "make room, then start again: what is done stays done"),
    (re.compile(r"No module named 'pathcast'"), "worker", "workers have no pathcast: pack it by make dist-env, see docs/guide/cluster.md"),
    (re.compile(r"Permission denied|AccessControlException"), "permission", None),
    (re.compile(r"java\.lang\.OutOfMemoryError|Java heap space"), "memory", "give Java more: spark.driver.memory, spark.executor.memory"),
)  # fmt: skip
_PYTHON = re.compile(r"^([\w.]*(?:Error|Exception|Interrupt)): ?(.*)$", re.MULTILINE)
_LONGEST = 500


@contextmanager
def told(kind: str, place: str) -> Iterator[None]:
    """Errors of Spark within the block, as a PipelineError of this kind."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise failure(error, kind, place) from error


def failure(error: BaseException, kind: str = "spark", place: str | None = None) -> PathcastError:
    """What an error of Spark's is to the caller."""
    if isinstance(error, PathcastError):
        return error
    if isinstance(error, AnalysisException):
        if error.getCondition() == "PATH_NOT_FOUND":
            return PipelineError(kind, _at(place, "there is no such file or folder"))
        return PipelineError(kind, _at(place, _line(error.getMessage() or str(error))))
    text = str(error)
    for pattern, cause, hint in _CAUSES:
        if found := pattern.search(text):
            return PipelineError(cause, _at(place, _around(text, found)), hint=hint)
    inner = _PYTHON.findall(text)
    said = ": ".join(inner[-1]) if inner else _line(text)
    return PipelineError(kind, _at(place, said[:_LONGEST]))


def _at(place: str | None, said: str) -> str:
    return said if place is None else f"{place}: {said}"


def _around(text: str, found: re.Match[str]) -> str:
    start = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.end())
    return text[start : end if end >= 0 else len(text)].strip()[:_LONGEST]


def _line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith("An error occurred while calling")]
    return next(iter(said), "unknown")[:_LONGEST]
