"""Documents as record batches of a few megabytes: (id, body, source, time, fault)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa

from pathcast.containers.unpacking import UnpackedDocument

__all__ = [
    "DOCUMENTS_DDL",
    "FAULT_TYPE",
    "UnpackFunction",
    "document_batches",
    "unpack_batches",
]

FAULT_TYPE: Final = pa.struct([("kind", pa.string()), ("message", pa.string())])
DOCUMENTS_DDL: Final = (
    "id string, body binary, source string, time timestamp, "
    "fault struct<kind:string,message:string>"
)
_BATCH_BYTES: Final = 2 << 20  # bytes in a batch
_ROW_OVERHEAD_BYTES: Final = 256  # bytes counted per row besides its body

UnpackFunction = Callable[[str, bytes, int], Iterator[UnpackedDocument]]
"""(file name, content, maximum bytes of a document) -> documents."""


def unpack_batches(
    batches: Iterator[pa.RecordBatch], unpack: UnpackFunction, max_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Unpack rows of files (id, body, source, time) into record batches of a few megabytes."""
    for batch in batches:
        for row in batch.to_pylist():
            documents = (
                document._replace(time=document.time or row["time"])
                for document in unpack(row["id"], row["body"], max_bytes)
            )
            yield from document_batches(documents, row["source"])


def document_batches(
    documents: Iterable[UnpackedDocument], source: str
) -> Iterator[pa.RecordBatch]:
    """Yield documents as record batches of a few megabytes."""
    rows: list[UnpackedDocument] = []
    size = 0
    for document in documents:
        rows.append(document)
        size += _ROW_OVERHEAD_BYTES + len(document.body or b"")
        if size > _BATCH_BYTES:
            yield _document_batch(rows, source)
            rows, size = [], 0
    if rows:
        yield _document_batch(rows, source)


def _document_batch(documents: list[UnpackedDocument], source: str) -> pa.RecordBatch:
    faults = [
        None
        if document.fault is None
        else dict(zip(("kind", "message"), document.fault, strict=True))
        for document in documents
    ]
    return pa.RecordBatch.from_arrays(
        [
            pa.array([document.id for document in documents], pa.string()),
            pa.array([document.body for document in documents], pa.binary()),
            pa.repeat(source, len(documents)),
            pa.array([document.time for document in documents], pa.timestamp("us", tz="UTC")),
            pa.array(faults, FAULT_TYPE),
        ],
        names=["id", "body", "source", "time", "fault"],
    )
