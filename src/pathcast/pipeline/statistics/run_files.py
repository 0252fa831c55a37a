"""The folder of a run as statistics read it: which files hold the rows of done batches.

A table that was never written has no files: a run without errors has none. Batches that are not
done are excluded, so that all tables cover the same documents while a batch is being published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.compaction_step import COMPACTION_RECORD
from pathcast.pipeline.storage import LocalStorage, Storage

__all__ = [
    "ROUTES_SUFFIX",
    "TableFile",
    "is_compacting",
    "list_tables",
    "no_folder_error",
    "require_run",
    "route_files",
    "unfinished_batches",
]

ROUTES_SUFFIX: Final = ".routes.parquet"
_TABLES: Final = ("documents", "matches", "errors", "deliveries", "partials")
_BATCH: Final = re.compile(r"(?:batch=)?(\d+)(?:-.*)?")
"""The last batch of a published file; of a folder in format 1."""


class TableFile(NamedTuple):
    """A parquet file with rows of a table."""

    path: Path
    batch: int | None = None
    """The batch of all rows in format 1; None if the file has the column."""


def no_folder_error(out: str) -> PipelineError:
    """Return the error of a result folder that does not exist."""
    return PipelineError(
        "output",
        f"there is no folder {out}",
        hint="name the folder of a run (--out of pathcast run)",
    )


def require_run(storage: Storage) -> None:
    """Raise PipelineError if the folder holds no run."""
    if not {"pathcast.json", "documents", "versions"} & set(storage.names("")):
        where = storage.path("")
        raise PipelineError(
            "output",
            f"{where} holds no run",
            hint="name the folder of a run (--out of pathcast run)",
        )


def is_compacting(storage: Storage) -> bool:
    """Return whether a compaction is not finished: folders have old and new files of equal rows."""
    return storage.read(COMPACTION_RECORD) is not None


def unfinished_batches(storage: Storage) -> set[int]:
    """Return the batches that are published in part: none or one."""
    done = _done_batches(storage)
    if done is None:
        return set()
    return {
        batch
        for table in _TABLES
        for name in storage.names(table)
        if (batch := _batch_of(name)) is not None and batch not in done
    }


def list_tables(
    storage: LocalStorage, tables: Sequence[str] = _TABLES
) -> dict[str, list[TableFile]]:
    """Return the files of tables that hold the rows of done batches, each row once."""
    if is_compacting(storage):
        outcomes = BatchLog(storage).outcomes().values()
        return {
            table: [
                TableFile(storage.root / table / name)
                for outcome in outcomes
                for name in outcome.files.get(table, ())
            ]
            for table in tables
        }
    done = _done_batches(storage)  # before the listing: a batch that is done has all its files
    return {table: list(_list_table(storage, table, done)) for table in tables}


def _list_table(storage: LocalStorage, table: str, done: set[int] | None) -> Iterator[TableFile]:
    for name in _visible(storage.names(table)):
        batch = _batch_of(name)
        if done is not None and batch is not None and batch not in done:
            continue
        path = storage.root / table / name
        if path.is_dir():
            for inner_name in _visible(storage.names(f"{table}/{name}")):
                yield TableFile(path / inner_name, batch)
        else:
            yield TableFile(path)


def route_files(storage: LocalStorage) -> dict[str, Path]:
    """Return the file of routes of every version that has one."""
    return {
        name.removesuffix(ROUTES_SUFFIX): storage.root / "versions" / name
        for name in _visible(storage.names("versions"))
        if name.endswith(ROUTES_SUFFIX)
    }


def _done_batches(storage: Storage) -> set[int] | None:
    """Return the batches that are done; None in a folder without records."""
    if not storage.names("log") and not storage.names("done"):
        return None
    return set(BatchLog(storage).done_batches())


def _batch_of(name: str) -> int | None:
    match = _BATCH.fullmatch(name)
    return None if match is None else int(match[1])


def _visible(names: list[str]) -> list[str]:
    """Return the names that Spark would read, too."""
    return [name for name in names if name[0] not in "._"]
