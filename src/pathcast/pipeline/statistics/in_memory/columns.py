"""Columns of parquet files as numpy arrays, with strings as numbers.

Strings are read as dictionaries: a column of a million equal ids is an array of a million numbers
and one id. Only lists of ids are expanded, about `_IDS_PER_PART` ids at a time.

Columns that share their values (the ids of documents in four tables) are numbered together. Numbers
follow the order of the strings' bytes, which is Spark's order, and -1 is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pathcast.errors import PipelineError

__all__ = [
    "FileSize",
    "Floats",
    "Integers",
    "NumberedStrings",
    "measure_file",
    "number",
    "read_files",
]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_STRING: Final = pa.dictionary(pa.int32(), pa.string())
_IDS_PER_PART: Final = 262_144


@dataclass(frozen=True, slots=True)
class FileSize:
    """The values of the columns that are read, and the bytes of their pages."""

    values: int
    bytes: int


def measure_file(path: Path, columns: Sequence[str]) -> FileSize:
    """Return the size of some columns, from the metadata of a file alone."""
    try:
        return _measure(pq.read_metadata(path), columns)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _measure(metadata: pq.FileMetaData, columns: Sequence[str]) -> FileSize:
    values = size = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            chunk = row_group.column(index)
            if chunk.path_in_schema.partition(".")[0] in columns:
                values += chunk.num_values
                size += chunk.total_uncompressed_size
    return FileSize(values, size)


def read_files(files: Iterable[tuple[Path, Mapping[str, Any]]], schema: pa.Schema) -> pa.Table:
    """Read the columns of a schema from files, with dictionaries for strings.

    A column that is not in a file has the value that the file comes with, or null.
    """
    kinds = pa.schema([(field.name, _dictionary_type(field.type)) for field in schema])
    tables = [_read_file(path, constants, kinds) for path, constants in files]
    return pa.concat_tables(tables) if tables else kinds.empty_table()


def _read_file(path: Path, constants: Mapping[str, Any], kinds: pa.Schema) -> pa.Table:
    try:
        present = set(pq.read_schema(path).names)
        strings = [field.name for field in kinds if field.type == _STRING and field.name in present]
        with pq.ParquetFile(
            path, read_dictionary=strings, coerce_int96_timestamp_unit="us"
        ) as file:
            count = file.metadata.num_rows
            columns = [
                _read_column(file, field)
                if field.name in present
                else _repeat(constants.get(field.name), field.type, count)
                for field in kinds
            ]
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None
    return pa.table(columns, schema=kinds)


def _read_column(file: pq.ParquetFile, field: pa.Field) -> pa.ChunkedArray:
    if not _is_list(field.type):
        return file.read([field.name]).column(0).cast(field.type)
    # Arrow reads no dictionaries in lists, so strings become numbers after each part.
    values = _measure(file.metadata, [field.name]).values
    rows_per_part = max(1, file.metadata.num_rows * _IDS_PER_PART // max(1, values))
    parts = file.iter_batches(rows_per_part, columns=[field.name])
    return pa.chunked_array([_encode_lists(part.column(0)) for part in parts], field.type)


def _encode_lists(lists: pa.Array) -> pa.Array:
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    strings = lists.flatten().cast(pa.string()).dictionary_encode()
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), strings, pa.list_(_STRING), mask=lists.is_null()
    )


def _unreadable(path: Path, error: Exception) -> PipelineError:
    return PipelineError("output", f"{path} cannot be read: {error}")


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind))


def _dictionary_type(kind: pa.DataType) -> pa.DataType:
    if _is_list(kind):
        return pa.list_(_STRING)
    return _STRING if kind == pa.string() else kind


def _repeat(value: Any, kind: pa.DataType, count: int) -> pa.Array:
    if value is None:
        return pa.nulls(count, kind)
    if kind == _STRING:
        return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), [value])
    return pa.repeat(pa.scalar(value, kind), count)


@dataclass(frozen=True, slots=True)
class NumberedStrings:
    """The distinct strings of some columns, in order: the number of a string is its position."""

    values: pa.Array

    def __len__(self) -> int:
        return len(self.values)

    def decode(self, numbers: Integers) -> pa.Array:
        """Return the strings of numbers; null for -1."""
        return self.values.take(pa.array(numbers, pa.int64(), mask=numbers < 0))

    def find(self, strings: Sequence[str]) -> Integers:
        """Return the numbers of strings; -1 for those that are not here."""
        names = pa.array(strings, pa.string())
        positions = pc.fill_null(pc.index_in(names, value_set=self.values), -1)
        return _as_integers(positions)


def number(*columns: pa.ChunkedArray) -> tuple[NumberedStrings, list[Integers]]:
    """Number the strings of dictionary columns that share their values."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    if not chunks:
        return NumberedStrings(pa.array([], pa.string())), [np.zeros(0, np.int64) for _ in columns]
    unified = pa.chunked_array(chunks).unify_dictionaries().chunks
    strings = unified[0].dictionary
    order = pc.sort_indices(strings).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    ranks = np.append(ranks, -1)  # the null
    numbers = iter([ranks[_as_integers(pc.fill_null(chunk.indices, -1))] for chunk in unified])
    numbered = [
        np.concatenate([np.zeros(0, np.int64), *(next(numbers) for _ in column.chunks)])
        for column in columns
    ]
    return NumberedStrings(strings.take(pa.array(order))), numbered


def _as_integers(array: pa.Array) -> Integers:
    integers: Integers = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return integers
