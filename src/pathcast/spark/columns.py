"""Checks of columns on the driver, so that a wrong one does not fail as a task."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, DataType, StringType

from pathcast.errors import PipelineError

__all__ = ["check_body", "check_column", "check_new_names", "quote"]


def quote(name: str) -> str:
    """Return a column name so that Spark takes none of its characters for syntax."""
    return f"`{name.replace('`', '``')}`"


def check_column(df: DataFrame, name: str, argument: str) -> DataType:
    """Return the type of a column; PipelineError unless `df` has exactly one of this name."""
    fields = [field for field in df.schema.fields if field.name == name]
    if len(fields) != 1:
        count = f"are {len(fields)} columns" if fields else "is no column"
        raise PipelineError(
            "column",
            f"there {count} {name!r}",
            hint=f"name one with {argument}=; the columns are: {', '.join(df.columns)}",
        )
    return fields[0].dataType


def check_body(df: DataFrame, name: str) -> None:
    """Raise PipelineError unless the column can hold documents."""
    data_type = check_column(df, name, "column")
    if not isinstance(data_type, BinaryType | StringType):
        raise PipelineError(
            "column",
            f"the column {name!r} is {data_type.simpleString()}, not binary or string",
            hint="a document is XML in bytes, or text",
        )


def check_new_names(existing: Sequence[str], new: Sequence[str]) -> None:
    """Raise PipelineError if a column to add exists, whatever its case."""
    lower = {name.lower() for name in existing}
    for name in new:
        if name in lower:
            raise PipelineError(
                "column",
                f"there is a column {name!r} already",
                hint="rename it, or leave it out with keep=[...]",
            )
