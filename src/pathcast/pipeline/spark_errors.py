"""Errors of Spark, Java and Python workers, as PipelineError with a hint.

Spark wraps an error several times and adds pages of stack traces. The innermost message matters,
and a few causes have a known remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException

from pathcast.errors import PathcastError, PipelineError

__all__ = ["spark_errors_as", "to_pipeline_error"]

_CAUSES = (
    (
        re.compile(r"No space left on device|Disk quota exceeded"),
        "disk",
        "make room, then start again: what is done stays done",
    ),
    (
        re.compile(r"No module named 'pathcast'"),
        "worker",
        "workers have no pathcast: pack it by make dist-env, see docs/guide/cluster.md",
    ),
    (
        re.compile(r"FileNotFoundError: .*/_staging/"),
        "output",
        "all machines must see the folder of results under the same name",
    ),
    (re.compile(r"Permission denied|AccessControlException"), "permission", None),
    (
        re.compile(r"java\.lang\.OutOfMemoryError|Java heap space"),
        "memory",
        "give Java more: spark.driver.memory, spark.executor.memory",
    ),
)
_PYTHON_ERROR = re.compile(r"^([\w.]*(?:Error|Exception|Interrupt)): ?(.*)$", re.MULTILINE)
_MAX_MESSAGE_LENGTH = 500


@contextmanager
def spark_errors_as(kind: str, place: str) -> Iterator[None]:
    """Re-raise Spark errors from the block as PipelineError of this kind."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise to_pipeline_error(error, kind, place) from error


def to_pipeline_error(
    error: BaseException, kind: str = "spark", place: str | None = None
) -> PathcastError:
    """Convert an error of Spark to the error that the caller raises."""
    if isinstance(error, PathcastError):
        return error
    if isinstance(error, AnalysisException):
        if error.getCondition() == "PATH_NOT_FOUND":
            return PipelineError(kind, _with_place(place, "there is no such file or folder"))
        return PipelineError(
            kind, _with_place(place, _first_line(error.getMessage() or str(error)))
        )
    text = str(error)
    for pattern, cause, hint in _CAUSES:
        if match := pattern.search(text):
            return PipelineError(cause, _with_place(place, _line_around(text, match)), hint=hint)
    python_errors = _PYTHON_ERROR.findall(text)
    message = ": ".join(python_errors[-1]) if python_errors else _first_line(text)
    return PipelineError(kind, _with_place(place, message[:_MAX_MESSAGE_LENGTH]))


def _with_place(place: str | None, message: str) -> str:
    return message if place is None else f"{place}: {message}"


def _line_around(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return text[start : end if end >= 0 else len(text)].strip()[:_MAX_MESSAGE_LENGTH]


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    informative = [line for line in lines if not line.startswith("An error occurred while calling")]
    return next(iter(informative), "unknown")[:_MAX_MESSAGE_LENGTH]
