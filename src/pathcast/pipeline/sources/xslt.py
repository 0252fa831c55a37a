"""XSLT transformation of documents, in a sandboxed child process.

Rows of CSV or JSON are XML documents already (`<rows><row .../></rows>`, see `rows`), so one step
serves both them and XML. Ids, sources and times are kept. A document that the style sheet cannot
transform becomes a row with a fault of kind `sheet`, `deadline`, `size` or `memory`, or of the kind
of its parse error. Existing faults pass through.

The style sheet is sent as text and checked before anything is read (`XsltTransform.load`). Each
worker keeps a `StylesheetRunner` for each of the last few style sheets. If no child process can be
started, the task fails and is retried; documents are not at fault.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from pathcast.errors import EvaluationError, PipelineError, StylesheetError
from pathcast.pipeline.sources.document_batches import DOCUMENTS_DDL, FAULT_TYPE
from pathcast.sandbox.xslt import StylesheetRunner
from pathcast.xslt import row_xml

__all__ = ["XsltTransform", "transform_batches", "transform_documents"]

_MAX_RUNNERS: Final = 4
_BATCH_BYTES: Final = 2 << 20  # bytes in a batch


@dataclass(frozen=True, slots=True)
class XsltTransform:
    """A style sheet with its limits and parameters."""

    text: bytes
    name: str
    max_bytes: int
    """The maximum size of a transformed document."""
    deadline: float = 1.0
    """Seconds per document."""
    parameters: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        try:
            StylesheetRunner(self.text, self.name, self.deadline, self.max_bytes)  # starts nothing
            row_xml(dict(self.parameters))  # names and values must be valid for attributes
        except StylesheetError as error:
            raise PipelineError("sheet", error.message, hint=error.hint) from None
        except ValueError as error:
            raise PipelineError("sheet", str(error)) from None

    @classmethod
    def load(
        cls,
        path: Path,
        max_bytes: int,
        deadline: float = 1.0,
        parameters: tuple[tuple[str, str], ...] = (),
    ) -> XsltTransform:
        """Load a style sheet from a file; PipelineError (kind `sheet`) if it is invalid."""
        try:
            text = path.read_bytes()
        except OSError as error:
            raise PipelineError("sheet", f"{path}: {error.strerror or error}") from None
        return cls(text, path.name, max_bytes, deadline, parameters)


def transform_documents(documents: DataFrame, transform: XsltTransform) -> DataFrame:
    """Transform documents (id, body, source, time, fault)."""
    return documents.select("id", "body", "source", "time", "fault").mapInArrow(
        partial(transform_batches, transform=transform), DOCUMENTS_DDL
    )


def transform_batches(
    batches: Iterator[pa.RecordBatch], transform: XsltTransform
) -> Iterator[pa.RecordBatch]:
    """Transform record batches in a worker, into batches of a few megabytes."""
    runner = _runner(transform)
    parameters = dict(transform.parameters)
    for batch in batches:
        bodies, faults = batch.column("body").to_pylist(), batch.column("fault").to_pylist()
        positions = [position for position, fault in enumerate(faults) if fault is None]
        results = runner.transform_batch(
            [bodies[position] or b"" for position in positions], parameters
        )
        start = size = 0
        for position, result in zip(positions, _raise_sandbox_failure(results), strict=True):
            if isinstance(result, EvaluationError):
                bodies[position], faults[position] = (
                    None,
                    {"kind": result.kind, "message": result.message},
                )
            else:
                bodies[position] = result
                size += len(result)
            if size > _BATCH_BYTES:
                yield _document_batch(batch, bodies, faults, start, position + 1)
                bodies[start : position + 1] = [None] * (position + 1 - start)
                start, size = position + 1, 0
        if start < len(batch):
            yield _document_batch(batch, bodies, faults, start, len(batch))


def _raise_sandbox_failure(
    results: Iterator[bytes | EvaluationError],
) -> Iterator[bytes | EvaluationError]:
    try:
        yield from results
    except EvaluationError as error:
        raise PipelineError("helper", error.message) from None


def _document_batch(
    batch: pa.RecordBatch,
    bodies: list[bytes | None],
    faults: list[dict[str, str] | None],
    start: int,
    end: int,
) -> pa.RecordBatch:
    """Build the rows from `start` to `end` with new bodies and faults."""
    slice = batch.slice(start, end - start)
    return pa.RecordBatch.from_arrays(
        [
            slice.column("id"),
            pa.array(bodies[start:end], pa.binary()),
            slice.column("source"),
            slice.column("time"),
            pa.array(faults[start:end], FAULT_TYPE),
        ],
        names=["id", "body", "source", "time", "fault"],
    )


_runners: OrderedDict[XsltTransform, StylesheetRunner] = OrderedDict()


def _runner(transform: XsltTransform) -> StylesheetRunner:
    """Return this worker's runner for a transform; close the least recently used if there are too
    many.
    """
    runner = _runners.get(transform)
    if runner is None:
        while len(_runners) >= _MAX_RUNNERS:
            _runners.popitem(last=False)[1].close()
        runner = StylesheetRunner(
            transform.text, transform.name, transform.deadline, transform.max_bytes
        )
        _runners[transform] = runner
    _runners.move_to_end(transform)
    return runner
