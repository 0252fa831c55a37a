"""Documents from parquet files with a column of documents, and perhaps one of ids.

A body is binary, or a string in UTF-8, whose declared encoding is ignored. A document without an id
gets its location: file and row, `part.parquet:17`, rows counted from 0. `pipeline.sources.tables`
reads such tables with Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

from pathcast.containers.rows import BodyField
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.documents import mark_utf8
from pathcast.errors import FormatError
from pathcast.files.parquet import pyarrow

__all__ = ["check_table", "holds_documents", "read_table"]

_BATCH_ROWS: Final = 64  # documents may be large
_MAX_LISTED_COLUMNS: Final = 20


def check_table(path: str, fields: BodyField) -> None:
    """Raise FormatError if a file is no parquet file, or has no column of documents."""
    arrow, parquet = pyarrow()
    try:
        schema = parquet.read_schema(path)
    except (arrow.ArrowException, OSError) as error:
        raise FormatError("parquet", f"{path}: not readable as parquet: {error}") from None
    required = [fields.body, *([fields.id] if fields.id != BodyField().id else [])]
    for name in required:
        if name not in schema.names:
            listed = ", ".join(schema.names[:_MAX_LISTED_COLUMNS])
            hint = f"its columns are {listed}; --body and --id name those of documents and ids"
            raise FormatError("columns", f"{path} has no column {name:.60}", hint=hint)
    column_type = schema.field(fields.body).type
    if not holds_documents(column_type):
        hint = "name the column of documents with --body"
        message = f"{path}: the column {fields.body} is {column_type}, not text or binary"
        raise FormatError("type", message, hint=hint)


def read_table(path: str, id: str, max_bytes: int, fields: BodyField) -> Iterator[UnpackedDocument]:
    """Yield the documents of a parquet file, whose own id is `id`."""
    arrow, parquet = pyarrow()
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            columns = [name for name in (fields.body, fields.id) if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
                bodies = _octets(arrow, batch.column(fields.body))
                ids: list[object] = [None] * batch.num_rows
                if fields.id in columns:
                    ids = batch.column(fields.id).to_pylist()
                for row_id, body in zip(ids, bodies, strict=True):
                    location = f"{id}:{number}" if row_id is None else str(row_id)
                    yield _document(location, body, max_bytes)
                    number += 1
    except (arrow.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
        fault = ("unreadable", f"not readable as parquet: {error}")
        yield UnpackedDocument(f"{id}:{number}", None, fault)


def _octets(arrow: ModuleType, column: Any) -> list[bytes | None]:
    """Return the bytes of a column; text gets a mark where it might seem of another encoding."""
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    is_text = not _is_binary(arrow, column.type)
    octets: list[bytes | None] = column.cast(arrow.large_binary()).to_pylist()
    return [mark_utf8(body) if is_text and body is not None else body for body in octets]


def _document(id: str, body: bytes | None, max_bytes: int) -> UnpackedDocument:
    if body is None:
        return UnpackedDocument(id, None, ("row", "there is no body"))
    if len(body) > max_bytes:
        return UnpackedDocument(id, None, ("size", f"more than {max_bytes:,} bytes"))
    return UnpackedDocument(id, body)


def holds_documents(column_type: Any) -> bool:
    """Return whether a column of this type may hold documents: text or binary."""
    arrow, _ = pyarrow()
    if arrow.types.is_dictionary(column_type):
        column_type = column_type.value_type
    is_text = (
        arrow.types.is_string(column_type)
        or arrow.types.is_large_string(column_type)
        or arrow.types.is_string_view(column_type)
    )
    return is_text or _is_binary(arrow, column_type)


def _is_binary(arrow: ModuleType, column_type: Any) -> bool:
    return bool(
        arrow.types.is_binary(column_type)
        or arrow.types.is_large_binary(column_type)
        or arrow.types.is_binary_view(column_type)
        or arrow.types.is_fixed_size_binary(column_type)
    )
