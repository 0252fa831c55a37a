"""Splitting of DataFrames: one row per record of large documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from pathcast.documents import Limits, check_record_name, mark_utf8, split_records
from pathcast.errors import DocumentError, PipelineError
from pathcast.spark.columns import check_body, check_column, check_new_names, quote

__all__ = ["split"]

_BATCH_BYTES: Final = 2 << 20
_BATCH_ROWS: Final = 10_000
_DEFAULT_LIMITS: Final = Limits()
_FAULT_FIELD: Final = StructField(
    "fault", StructType([StructField("kind", StringType()), StructField("message", StringType())])
)
_FAULT: Final = pa.struct([("kind", pa.string()), ("message", pa.string())])


def split(
    df: DataFrame,
    record: str,
    column: str = "body",
    *,
    id: str | None = "id",
    limits: Limits = _DEFAULT_LIMITS,
) -> DataFrame:
    """Return one row per record of the documents in `column`, without the trees of documents.

    A record is an element with the local name `record`; `{address}name` asks for one namespace. An
    element of that name inside a record belongs to it. The rows keep the columns of `df`, with the
    record in `column`, as binary. The ids in the column `id` become `ID#1`, `ID#2` and so on; None
    if there are no ids. New columns are `number`, from 1, and `fault` (kind, message): a document
    that is malformed has a row with a null record and a fault after the records before it.

        match(split(dumps, "page"), {"paris": "//title[. = 'Paris']"})
    """
    try:
        check_record_name(record)
    except ValueError as error:
        raise PipelineError("record", str(error)) from None
    check_body(df, column)
    names = df.columns
    if id is not None:
        check_column(df, id, "id")
    check_new_names(names, ("number", "fault"))
    fields = {field.name: field for field in df.schema.fields}
    fields[column] = StructField(column, BinaryType())
    if id is not None:
        fields[id] = StructField(id, StringType())
    columns = [
        (F.col(quote(name)).cast("string") if name == id else F.col(quote(name))).alias(
            f"column{index}"
        )
        for index, name in enumerate(names)
    ]
    schema = StructType(
        [*(fields[name] for name in names), StructField("number", IntegerType()), _FAULT_FIELD]
    )
    task = _SplitTask(
        record,
        limits,
        names.index(column),
        None if id is None else names.index(id),
        tuple(schema.names),
    )
    return df.select(*columns).mapInArrow(partial(_split_batches, task=task), schema)


class _SplitTask(NamedTuple):
    record: str
    limits: Limits
    body: int
    """The position of the documents' column."""
    id: int | None
    names: tuple[str, ...]


class _Rows:
    """Records of the rows of a batch, until they are enough for an output batch."""

    def __init__(self) -> None:
        self.sources: list[int] = []
        self.numbers: list[int] = []
        self.bodies: list[bytes | None] = []
        self.faults: list[dict[str, str] | None] = []
        self.bytes = 0

    def add(self, source: int, number: int, item: bytes | DocumentError) -> None:
        self.sources.append(source)
        self.numbers.append(number)
        if isinstance(item, bytes):
            self.bodies.append(item)
            self.faults.append(None)
            self.bytes += len(item)
        else:
            self.bodies.append(None)
            self.faults.append({"kind": item.kind, "message": item.message})

    @property
    def is_full(self) -> bool:
        return self.bytes >= _BATCH_BYTES or len(self.sources) >= _BATCH_ROWS

    def to_batch(self, batch: pa.RecordBatch, task: _SplitTask) -> pa.RecordBatch:
        sources = pa.array(self.sources, pa.int32())
        columns = [
            pa.array(self.bodies, pa.binary()) if index == task.body else column.take(sources)
            for index, column in enumerate(batch.columns)
        ]
        if task.id is not None:
            columns[task.id] = pa.array(
                [
                    None if id is None else f"{id}#{number}"
                    for id, number in zip(columns[task.id].to_pylist(), self.numbers, strict=True)
                ],
                pa.string(),
            )
        numbers, faults = pa.array(self.numbers, pa.int32()), pa.array(self.faults, _FAULT)
        return pa.RecordBatch.from_arrays([*columns, numbers, faults], names=list(task.names))


def _split_batches(batches: Iterator[pa.RecordBatch], task: _SplitTask) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = _Rows()
        for source, body in enumerate(batch.column(task.body)):
            stream = BytesIO(_octets(body))
            for number, item in enumerate(split_records(stream, task.record, task.limits), 1):
                rows.add(source, number, item)
                if rows.is_full:
                    yield rows.to_batch(batch, task)
                    rows = _Rows()
        if rows.sources:
            yield rows.to_batch(batch, task)


def _octets(body: Any) -> bytes:
    is_text = pa.types.is_string(body.type) or pa.types.is_large_string(body.type)
    octets: bytes = body.cast(pa.large_binary()).as_py() or b""
    return mark_utf8(octets) if is_text else octets
