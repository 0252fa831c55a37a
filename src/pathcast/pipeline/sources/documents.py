"""The Spark format `pathcast`: documents of a folder or a NATS stream, in batch or as a stream.

    spark.dataSource.register(DocumentSource)
    spark.read.format("pathcast").option("kind", "rows").load("feed")
    spark.readStream.format("pathcast").option("journal", "state/journal").load("feed")

The columns are id, body, source, time and fault (see `sources`). These are the options:

    path            a folder or file that the driver and all workers see; or nats://HOST/STREAM
    kind            files, rows, bodies or nats; default: by the name of the path
    group           the column by which consecutive rows are grouped into one document
    body, id        the fields of bodies; default: of these names
    record          the name of the elements that are documents; default: the root element
    maxBytes        of a document; larger ones have the fault `size`; default 64 MB
    journal         a folder for the names that a stream has seen; every stream needs its own
    batchDocuments  the most files or messages in a micro-batch; default 1,000
    batchBytes      the most bytes of files in a micro-batch, unless one file has more
    parallelism     the number of tasks for small batches; default: the driver's cores

A stream over a folder reads every file once, by its path. Spark calls its planner at every trigger,
in one Python process that lives as long as the query. While no folder changed, a call takes one
`stat` per folder (see `listing`). New files are appended to the journal, ordered by their times,
before an offset refers to them; an offset is a position in the journal. So a query can be killed at
any moment, and a batch that is repeated reads the same files.

With the trigger availableNow, the query ends at the last file that was present at its start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pathcast.containers.contents import CONTENT_KINDS, FileContents
from pathcast.containers.rows import BodyField
from pathcast.documents import Limits, check_record_name
from pathcast.errors import PipelineError
from pathcast.pipeline.sources.document_batches import DOCUMENTS_DDL
from pathcast.pipeline.sources.files import FileReader, group_files
from pathcast.pipeline.sources.folder_planner import BatchLimits, FolderPlanner
from pathcast.pipeline.sources.journal import Journal
from pathcast.pipeline.sources.kinds import kind_of
from pathcast.pipeline.sources.listing import FileLocation, FolderScanner, ListedFile, list_files
from pathcast.pipeline.sources.streamed_folder import OFFSET_KEY
from pathcast.pipeline.storage import local_path

__all__ = ["DocumentSource", "FolderOptions"]


@dataclass(frozen=True, slots=True)
class FolderOptions:
    """The options of the format, parsed."""

    path: str
    contents: FileContents
    limits: BatchLimits = field(default_factory=BatchLimits)
    journal: str | None = None
    parallelism: int | None = None

    def as_options(self) -> dict[str, str]:
        """Return options for Spark."""
        options = {
            "path": self.path,
            "kind": self.contents.kind,
            "group": self.contents.group,
            "body": self.contents.fields.body,
            "id": self.contents.fields.id,
            "record": self.contents.record,
            "maxBytes": self.contents.max_bytes,
            "journal": self.journal,
            "batchDocuments": self.limits.documents,
            "batchBytes": self.limits.bytes,
            "parallelism": self.parallelism,
        }
        return {name: str(value) for name, value in options.items() if value is not None}

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> FolderOptions:
        """Parse options; PipelineError if they are invalid."""
        path = _require(options, "path", "load('feed')")
        kind = options.get("kind") or kind_of(path)
        content_kind = next((name for name in CONTENT_KINDS if name == kind), None)
        if content_kind is None:
            raise PipelineError(
                "source",
                f"the format pathcast does not read {kind!r}",
                hint=f"option('kind', ...) is one of {', '.join(CONTENT_KINDS)} and nats;"
                " Spark has formats of its own for parquet and kafka",
            )
        max_bytes = _number(options, "maxBytes")
        return cls(
            path,
            FileContents(
                content_kind,
                Limits().size if max_bytes is None else max_bytes,
                options.get("group"),
                BodyField(options.get("body", "body"), options.get("id", "id")),
                _record_name(options.get("record")),
            ),
            BatchLimits(
                _number(options, "batchDocuments") or 1_000, _number(options, "batchBytes")
            ),
            options.get("journal"),
            _number(options, "parallelism"),
        )

    def reader(self) -> FileReader:
        return FileReader(self.location().folder, self.path, self.contents)

    def location(self) -> FileLocation:
        return FileLocation.find(str(local_path(self.path)))

    def partitions(self, files: list[ListedFile]) -> list[InputPartition]:
        groups = group_files(files, self.parallelism or os.cpu_count() or 1)
        return [_FileGroup(group) for group in groups]


def _require(options: Mapping[str, str], name: str, example: str) -> str:
    value = options.get(name)
    if not value:
        raise PipelineError("source", f"the option {name!r} is missing", hint=example)
    return value


def _record_name(name: str | None) -> str | None:
    try:
        return None if name is None else check_record_name(name)
    except ValueError as error:
        raise PipelineError("source", str(error)) from None


def _number(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise PipelineError("source", f"the option {name!r} is a positive number, not {text!r}")
    return int(text)


@dataclass(frozen=True)
class _FileGroup(InputPartition):
    """The paths of the files of a task."""

    paths: tuple[str, ...]


class DocumentSource(DataSource):
    """The format `pathcast`; the module lists its options."""

    @classmethod
    def name(cls) -> str:
        return "pathcast"

    def schema(self) -> str:
        return DOCUMENTS_DDL

    def reader(self, schema: StructType) -> DataSourceReader:
        if self._is_nats():
            return self._nats_source().reader(schema)
        return _FolderBatchReader(FolderOptions.parse(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        if self._is_nats():
            return self._nats_source().streamReader(schema)
        return _FolderStreamReader(FolderOptions.parse(self.options))

    def _is_nats(self) -> bool:
        kind = self.options.get("kind") or kind_of(self.options.get("path", ""))
        return kind == "nats"

    def _nats_source(self) -> DataSource:
        from pathcast.pipeline.sources.nats import NatsSource  # few need its client

        options = {
            "address": _require(self.options, "path", "load('nats://HOST:PORT/STREAM')"),
            "user": self.options.get("user"),
            "password": self.options.get("password"),
            "most": self.options.get("maxBytes"),
            "batch": self.options.get("batchDocuments"),
            "parts": self.options.get("parallelism"),
        }
        return NatsSource({name: value for name, value in options.items() if value is not None})


class _FolderBatchReader(DataSourceReader):
    """Reads the files that are present when the query is planned."""

    def __init__(self, options: FolderOptions) -> None:
        self._options = options
        self._reader = options.reader()

    def partitions(self) -> list[InputPartition]:
        return self._options.partitions(list_files(self._options.location()))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _FileGroup):  # Spark adds one if there are none
            yield from self._reader.read(partition.paths)


class _FolderStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans and reads micro-batches as ranges of the journal."""

    def __init__(self, options: FolderOptions) -> None:
        _require(
            {"journal": options.journal or ""}, "journal", "option('journal', 'state/journal')"
        )
        self._options = options
        self._reader = options.reader()
        self._journal: Journal | None = None  # in the planner only; workers get a copy without it
        self._planner: FolderPlanner | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {OFFSET_KEY: self._plan().first_position()}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxFiles(self._options.limits.documents)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._plan().fix_end()

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {OFFSET_KEY: self._plan().last_position()}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        if not isinstance(limit, ReadMaxFiles):  # the trigger `once` reads everything
            return {OFFSET_KEY: self._plan().batch_end(start[OFFSET_KEY], None, None)}
        max_bytes = self._options.limits.bytes
        return {OFFSET_KEY: self._plan().batch_end(start[OFFSET_KEY], limit.max_files, max_bytes)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        self._plan()
        assert self._journal is not None
        return self._options.partitions(self._journal.files(start[OFFSET_KEY], end[OFFSET_KEY]))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._reader.read(cast(_FileGroup, partition).paths)

    def stop(self) -> None:
        journal, self._journal, self._planner = self._journal, None, None
        if journal is not None:
            journal.close()

    def _plan(self) -> FolderPlanner:
        """Return the planner, which opens the journal when it is needed first."""
        if self._planner is None:
            self._journal = Journal(local_path(self._options.journal or ""))
            self._planner = FolderPlanner(FolderScanner(self._options.location()), self._journal)
        return self._planner
