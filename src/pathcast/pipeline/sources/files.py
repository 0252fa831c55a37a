"""Documents from files of a folder that the driver and the workers see: local or mounted.

The driver lists the files (`listing`) and groups them into tasks of about equal work. A worker
reads them: every file becomes a document, or the documents that it holds (`contents`). A document's
id is its location (`ids`), its time that of its file.

A file that cannot be read is a document with a fault (`containers.reading`). Other errors (a file
server that does not answer, too many open files) are not the file's. They fail the task, and Spark
repeats it. So does a folder that a worker does not see at all.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pathcast.containers.contents import FileContents
from pathcast.containers.ids import path_id
from pathcast.containers.reading import read_file
from pathcast.errors import PipelineError
from pathcast.pipeline.sources.document_batches import DOCUMENTS_DDL, document_batches
from pathcast.pipeline.sources.listing import FileLocation, ListedFile, list_files
from pathcast.pipeline.storage import local_path

__all__ = ["FileReader", "folder_documents", "group_files"]

_OPEN_COST: Final = 64 << 10  # bytes that can be read while a file is opened
_MAX_TASK_BYTES: Final = 128 << 20


def group_files(files: Sequence[ListedFile], parallelism: int) -> list[tuple[str, ...]]:
    """Return the paths of files as groups of about equal work, at least one per core if possible.

    >>> files = [ListedFile(name, size, 0) for name, size in (("a", 9), ("b", 9), ("c", 1 << 20))]
    >>> group_files(files, 2)
    [('a', 'b'), ('c',)]
    """
    costs = [file.size + _OPEN_COST for file in files]
    limit = min(_MAX_TASK_BYTES, max(_OPEN_COST, -(-sum(costs) // max(parallelism, 1))))
    groups: list[tuple[str, ...]] = []
    group: list[str] = []
    group_cost = 0
    for file, cost in zip(files, costs, strict=True):
        if group and group_cost + cost > limit:
            groups.append(tuple(group))
            group, group_cost = [], 0
        group.append(file.path)
        group_cost += cost
    return [*groups, tuple(group)] if group else groups


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files below `folder` in a worker; `source` is what the table `documents` names."""

    folder: str
    source: str
    contents: FileContents

    def read(self, paths: Iterable[str]) -> Iterator[pa.RecordBatch]:
        """Yield the documents of files as record batches of a few megabytes."""
        if not os.path.isdir(self.folder):
            raise PipelineError(
                "source",
                f"a worker does not see {self.folder}",
                hint="all machines must see the folder under the same name",
            )
        documents = (
            document
            for path in paths
            for document in read_file(os.path.join(self.folder, path), path_id(path), self.contents)
        )
        return document_batches(documents, self.source)


def folder_documents(session: SparkSession, path: str, contents: FileContents) -> DataFrame:
    """Return the documents of the files that are present now: (id, body, source, time, fault)."""
    location = FileLocation.find(str(local_path(path)))
    groups = group_files(list_files(location), session.sparkContext.defaultParallelism)
    reader = FileReader(location.folder, path, contents)
    tasks = session.range(0, len(groups), 1, max(len(groups), 1))
    # Every task receives all groups, so they are packed.
    read = partial(_read_groups, reader=reader, groups=[_pack(group) for group in groups])
    return tasks.mapInArrow(read, DOCUMENTS_DDL)


def _read_groups(
    batches: Iterator[pa.RecordBatch], reader: FileReader, groups: Sequence[bytes]
) -> Iterator[pa.RecordBatch]:
    """Read the groups of files that a task's rows number."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            yield from reader.read(_unpack(groups[number]))


def _pack(paths: Iterable[str]) -> bytes:
    return zlib.compress(os.fsencode("\0".join(paths)))


def _unpack(packed: bytes) -> list[str]:
    return os.fsdecode(zlib.decompress(packed)).split("\0")
