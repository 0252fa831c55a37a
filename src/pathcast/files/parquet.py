"""Reader of subscriptions in parquet files.

The columns are `id`, `xpath` and optionally `namespaces` and `subscriber`. Ids and subscribers are
integer or text columns. Namespaces are a map of texts, or a struct whose fields are the prefixes.
Other columns are ignored. A row's line is its number in the file, from 1. A folder is read as Spark
writes it: its files in the order of their names, without those that start with `_` or `.`; row
numbers continue across files.

`parquet_writer` writes such files. pyarrow is imported only here, when a parquet file is used:
`pip install pathcast[parquet]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from pathcast.errors import FormatError
from pathcast.files.subscription import Subscription, validate

__all__ = ["part_files", "pyarrow", "read_rows"]

_BATCH_ROWS = 4096
_NOT_UTF_8 = b""  # bytes in place of a text: `validate` reports it


def part_files(folder: Path) -> list[Path]:
    """Return the files of a parquet folder."""
    files = [path for path in sorted(folder.iterdir()) if path.name[0] not in "_."]
    if not files:
        raise FormatError("parquet", f"there are no parquet files in {folder}")
    return files


def read_rows(stream: BinaryIO, start: int = 0) -> Iterator[Subscription | FormatError]:
    """Yield every subscription of the file, or the error of its row; `start` rows came before."""
    arrow, parquet = pyarrow()
    try:
        file = parquet.ParquetFile(stream)
        columns = _columns(arrow, file.schema_arrow)
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
            values = {name: _values(batch.column(name)) for name in columns}
            empty = [None] * batch.num_rows
            names = values.get("namespaces", empty)
            subscribers = values.get("subscriber", empty)
            for row in zip(values["id"], values["xpath"], names, subscribers, strict=True):
                start += 1
                yield _to_subscription(row, start)
    except (arrow.ArrowException, OSError) as error:
        raise FormatError("parquet", f"not readable as parquet: {error}") from None


def _values(column: Any) -> list[object]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # some writers do not validate UTF-8: find the bad rows
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _NOT_UTF_8


def _to_subscription(
    row: tuple[object, object, object, object], line: int
) -> Subscription | FormatError:
    subscription_id, xpath, namespaces, subscriber = row
    if isinstance(namespaces, Mapping):  # a struct: null where this row has no such prefix
        namespaces = {prefix: uri for prefix, uri in namespaces.items() if uri is not None}
    elif isinstance(namespaces, list):  # a map: pairs, of which a later one wins
        namespaces = dict(namespaces)
    try:
        return validate(subscription_id, xpath, namespaces, subscriber, line)
    except FormatError as error:
        return error


def _columns(arrow: ModuleType, schema: Any) -> list[str]:
    """Return the columns to read; FormatError if one is missing, duplicate or of a wrong type."""
    checks = {
        "id": _is_id_type,
        "xpath": _is_text_type,
        "namespaces": _is_map_type,
        "subscriber": _is_id_type,
    }
    columns = []
    for name, is_valid in checks.items():
        indices = schema.get_all_field_indices(name)
        if len(indices) > 1 or (not indices and name in ("id", "xpath")):
            message = f"{len(indices) or 'no'} columns named {name!r}"
            hint = f"its columns are: {', '.join(schema.names)}"
            raise FormatError("columns", message, hint=hint)
        if not indices:
            continue
        column_type = schema.field(indices[0]).type
        if not is_valid(arrow.types, column_type):
            hint = "id and subscriber: text or integer; xpath: text; namespaces: map of texts"
            raise FormatError("type", f"column {name!r} is of type {column_type}", hint=hint)
        columns.append(name)
    return columns


def _is_text_type(types: ModuleType, column_type: Any) -> bool:
    if types.is_dictionary(column_type):
        column_type = column_type.value_type
    return bool(
        types.is_string(column_type)
        or types.is_large_string(column_type)
        or types.is_null(column_type)
    )


def _is_id_type(types: ModuleType, column_type: Any) -> bool:
    return _is_text_type(types, column_type) or bool(types.is_integer(column_type))


def _is_map_type(types: ModuleType, column_type: Any) -> bool:
    if types.is_struct(column_type):
        return all(_is_text_type(types, field.type) for field in column_type)
    if types.is_map(column_type):
        return _is_text_type(types, column_type.key_type) and _is_text_type(
            types, column_type.item_type
        )
    return bool(types.is_null(column_type))


def pyarrow() -> tuple[ModuleType, ModuleType]:
    """Return the modules `pyarrow` and `pyarrow.parquet`; FormatError if not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        hint = "pip install 'pathcast[parquet]'"
        raise FormatError("missing", "parquet files need pyarrow", hint=hint) from None
    return pyarrow, pyarrow.parquet
