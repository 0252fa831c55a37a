"""Checks of a run that need no Spark, so that a bad call fails within a second.

They cover what is on disks of this machine: the input must exist and have the columns that the run
names; OUT must be new, or belong to this run, and lie outside the input. An address of another file
system is left to Spark. So is a path without scheme if Hadoop has a configuration, which may name
another default file system.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pathcast.containers.contents import CONTENT_KINDS
from pathcast.containers.tables import holds_documents
from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.sources import AfterReading, Source
from pathcast.pipeline.sources.columns import parquet_types, record_columns, require_columns
from pathcast.pipeline.storage import LocalStorage, local_path

__all__ = [
    "check_files_options",
    "check_inputs",
    "check_output_outside",
    "run_identity",
    "visible_path",
]

_DEFAULT_FILE_SYSTEM: Final = "spark.hadoop.fs.defaultFS"
_HADOOP_VARIABLES: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "HADOOP_HOME", "SPARK_CONF_DIR")


def check_inputs(source: Source, out: str, settings: Mapping[str, str], *, streaming: bool) -> None:
    """Raise PipelineError if a run cannot start, as far as this machine can tell."""
    folder = visible_path(out, settings)
    documents = visible_path(source.path, settings) if source.reads_files else None
    if folder is not None and documents is not None:
        check_output_outside(
            source.path, out, os.path.realpath(documents), os.path.realpath(folder)
        )
    if folder is not None:
        _check_folder(folder, run_identity(source, streaming=streaming), resume=streaming)
    if documents is not None:
        if not documents.exists():
            raise PipelineError("source", f"{source.path}: there is no such file or folder")
        _check_columns(source, documents)


def check_files_options(
    source: Source, after_reading: AfterReading, batch_bytes: int | None
) -> None:
    """Raise PipelineError if options that apply to files only do not fit the source."""
    if source.kind not in CONTENT_KINDS:
        if batch_bytes is not None or not after_reading.keeps:
            raise PipelineError(
                "source", f"only files are limited in bytes or taken away, not {source.kind}"
            )
        return
    if after_reading.folder is not None:
        check_output_outside(
            source.path,
            after_reading.folder,
            *(os.path.realpath(local_path(path)) for path in (source.path, after_reading.folder)),
        )


def run_identity(source: Source, *, streaming: bool) -> dict[str, str]:
    """Return what a result folder records about its run."""
    return {"run": "stream" if streaming else "batch", "documents": source.name}


def check_output_outside(documents: str, out: str, documents_path: str, output_path: str) -> None:
    """Raise PipelineError if results would be read as documents, by their resolved paths."""
    relative = (
        output_path.removeprefix(f"{documents_path}/")
        if output_path.startswith(f"{documents_path}/")
        else ""
    )
    hidden = any(part.startswith((".", "_")) for part in relative.split("/"))
    if output_path == documents_path or (relative and not hidden):
        raise PipelineError(
            "output",
            f"{out} lies in {documents}: what is written there would be read as documents",
            hint="choose a folder elsewhere, or one whose name begins with _",
        )


def visible_path(path: str, settings: Mapping[str, str]) -> Path | None:
    """Return the path on this machine, None if it is or may be on another file system."""
    if path.startswith("file:"):
        return local_path(path)
    has_other_default = _DEFAULT_FILE_SYSTEM in settings or any(
        os.environ.get(name) for name in _HADOOP_VARIABLES
    )
    return None if "://" in path or has_other_default else Path(path)


def _check_folder(folder: Path, identity: dict[str, str], *, resume: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise PipelineError("output", f"{folder} is a file", hint="choose a folder")
    storage = LocalStorage(folder.resolve())
    try:
        if (folder / ".lock").exists():
            storage.lock()
        BatchLog(storage).check(identity, resume=resume)
    except OSError as error:
        raise PipelineError("output", f"{folder}: {error.strerror or error}") from None
    finally:
        storage.close()


def _check_columns(source: Source, documents: Path) -> None:
    """Raise PipelineError if the first files lack a column that the run names."""
    names = source.named_columns()
    if not names:
        return
    if source.kind != "parquet":
        columns = record_columns(documents)
        if columns:
            require_columns(source.path, columns, names)
        return
    types = parquet_types(documents)
    if not types:
        return
    require_columns(source.path, types, names)
    body = types[source.fields.body]
    if not holds_documents(body):
        raise PipelineError(
            "source",
            f"{source.path}: the column {source.fields.body} is {body}, not text or binary",
            hint="name the column of documents with --body",
        )
