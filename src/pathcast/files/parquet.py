"""Parquet files -> subscriptions: columns `id`, `xpath` and, where wanted, `namespaces` and `subscriber`.

Ids and subscribers are any integer or text column, namespaces a map of texts (or a struct whose
fields are the prefixes). Other columns are passed over. A row's line is its number in the file from 1.
A folder is read as Spark writes one: the files below it in the order of their names, without those
that start with `_` or `.`; rows are counted through.

`parquet_writer.py` writes such files. pyarrow is imported only here and only when such a file is
touched: `pip install pathcast[parquet]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from pathcast.errors import FormatError
from pathcast.files.subscription import Subscription, checked

__all__ = ["part_files", "pyarrow", "rows"]

_BATCH = 4096
_NOT_UTF_8 = b""  # bytes where a text belongs: `checked` says so


def part_files(folder: Path) -> list[Path]:
    """The files that make up a parquet folder."""
    found = [path for path in sorted(folder.iterdir()) if path.name[0] not in "_."]
    if not found:
        raise FormatError("parquet", f"there are no parquet files in {folder}")
    return found


def rows(stream: BinaryIO, start: int = 0) -> Iterator[Subscription | FormatError]:
    """Every subscription of the file, or what is wrong with its row; `start` rows came before."""
    arrow, parquet = pyarrow()
    try:
        file = parquet.ParquetFile(stream)
        columns = _columns(arrow, file.schema_arrow)
        for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
            found = {name: _values(batch.column(name)) for name in columns}
            empty = [None] * batch.num_rows
            names = found.get("namespaces", empty)
            owners = found.get("subscriber", empty)
            for row in zip(found["id"], found["xpath"], names, owners, strict=True):
                start += 1
                yield _row(row, start)
    except (arrow.ArrowException, OSError) as error:
        raise FormatError("parquet", f"not readable as parquet: {error}") from None


def _values(column: Any) -> list[object]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # some writers check nothing: find the rows that are to blame
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _NOT_UTF_8


def _row(row: tuple[object, object, object, object], line: int) -> Subscription | FormatError:
    key, xpath, namespaces, subscriber = row
    if isinstance(namespaces, Mapping):  # a struct: null where this row has no such prefix
        namespaces = {key: value for key, value in namespaces.items() if value is not None}
    elif isinstance(namespaces, list):  # a map: pairs, of which a later one wins
        namespaces = dict(namespaces)
    try:
        return checked(key, xpath, namespaces, subscriber, line)
    except FormatError as error:
        return error


def _columns(arrow: ModuleType, schema: Any) -> list[str]:
    """The columns to read; FormatError if one is missing, twice there, or of a wrong type."""
    wanted = {"id": _is_name, "xpath": _is_text, "namespaces": _is_map, "subscriber": _is_name}
    found = []
    for name, fits in wanted.items():
        places = schema.get_all_field_indices(name)
        if len(places) > 1 or (not places and name in ("id", "xpath")):
            message = f"{len(places) or 'no'} columns named {name!r}"
            hint = f"its columns are: {', '.join(schema.names)}"
            raise FormatError("columns", message, hint=hint)
        if not places:
            continue
        found_type = schema.field(places[0]).type
        if not fits(arrow.types, found_type):
            hint = "id and subscriber: text or integer; xpath: text; namespaces: map of texts"
            raise FormatError("type", f"column {name!r} is of type {found_type}", hint=hint)
        found.append(name)
    return found


def _is_text(types: ModuleType, of: Any) -> bool:
    if types.is_dictionary(of):
        of = of.value_type
    return bool(types.is_string(of) or types.is_large_string(of) or types.is_null(of))


def _is_name(types: ModuleType, of: Any) -> bool:
    return _is_text(types, of) or bool(types.is_integer(of))


def _is_map(types: ModuleType, of: Any) -> bool:
    if types.is_struct(of):
        return all(_is_text(types, field.type) for field in of)
    if types.is_map(of):
        return _is_text(types, of.key_type) and _is_text(types, of.item_type)
    return bool(types.is_null(of))


def pyarrow() -> tuple[ModuleType, ModuleType]:
    """The modules `pyarrow` and `pyarrow.parquet`; FormatError where they are not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        hint = "pip install 'pathcast[parquet]'"
        raise FormatError("missing", "parquet files need pyarrow", hint=hint) from None
    return pyarrow, pyarrow.parquet
