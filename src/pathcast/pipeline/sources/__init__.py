"""Document sources: whatever the storage, a table of (id, body, source, time, fault).

A document's id is its location in the source, so reading the source again gives the same ids. Input
that cannot become a document is a row too: `fault` says why, and the body is null.

    files     every file is a document; archives hold several      containers.unpacking
    rows      rows of CSV or JSON, single or grouped               containers.rows
    bodies    lines of JSON with a document in `body`              containers.rows
    parquet   a table with a column `body`                         tables, columns
    nats      messages of a NATS JetStream stream                  nats, nats_reader
    kafka     messages of a topic, by Spark's own connector        kafka

The first three read the files of a folder. `listing` finds them and `files` reads them in a worker,
by the package `containers`, which also serves commands without Spark. A stream plans its batches by
`folder_planner` and `journal`, and `documents` offers all this as a format of Spark.
`streamed_folder` is the stream of a run: it continues streams of earlier versions
(`file_source_log`) and takes files away (`after_reading`). Where only Hadoop reaches the folder or
the results, `hadoop_files` reads it.

A style sheet can transform the documents of any source (`xslt`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from pathcast.containers.contents import CONTENT_KINDS, FileContents
from pathcast.containers.rows import BodyField
from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import is_local
from pathcast.pipeline.sources.after_reading import AfterReading
from pathcast.pipeline.sources.documents import DocumentSource, FolderOptions
from pathcast.pipeline.sources.files import folder_documents
from pathcast.pipeline.sources.folder_planner import BatchLimits
from pathcast.pipeline.sources.hadoop_files import file_documents
from pathcast.pipeline.sources.kafka import KafkaAddress, kafka_documents
from pathcast.pipeline.sources.kinds import KINDS, SourceKind, kind_of
from pathcast.pipeline.sources.listing import FileLocation
from pathcast.pipeline.sources.streamed_folder import StreamedFolder
from pathcast.pipeline.sources.tables import table_documents
from pathcast.pipeline.sources.xslt import XsltTransform, transform_documents
from pathcast.pipeline.spark_errors import spark_errors_as
from pathcast.pipeline.storage import Storage, local_path

__all__ = [
    "KINDS",
    "AfterReading",
    "BatchLimits",
    "DocumentSource",
    "Source",
    "SourceKind",
    "StreamedFolder",
    "kind_of",
]

_DEFAULT_FIELDS: Final = BodyField()


@dataclass(frozen=True, slots=True)
class Source:
    """A location to read documents from; no document may exceed `max_bytes`."""

    path: str
    kind: SourceKind
    max_bytes: int
    group: str | None = None
    """The column by which consecutive rows are grouped into one document."""
    transform: XsltTransform | None = None
    fields: BodyField = _DEFAULT_FIELDS
    """The columns of body and id, for JSON lines and parquet."""
    record: str | None = None
    """The name of the elements that are documents, in files that this machine sees."""

    def documents(
        self,
        session: SparkSession,
        limits: BatchLimits | None = None,
        folder: StreamedFolder | None = None,
    ) -> DataFrame:
        """Return all documents, or with `limits` a stream of micro-batches.

        Without a `folder`, Spark's own source reads a stream of files.
        """
        with spark_errors_as("source", self.path):
            documents = self._read(session, limits, folder)
            return (
                documents
                if self.transform is None
                else transform_documents(documents, self.transform)
            )

    def open_streamed_folder(
        self,
        session: SparkSession,
        storage: Storage,
        after_reading: AfterReading,
        is_done: Callable[[int], bool],
    ) -> StreamedFolder | None:
        """Open the stream over a folder that this machine sees; None for other streams.

        `is_done` says whether the run has finished a batch.
        """
        if self.kind in CONTENT_KINDS and is_local(session, self.path):
            location = FileLocation.find(str(local_path(self.path)))
            return StreamedFolder.open(storage, location, after_reading, is_done)
        if after_reading.keeps:
            return None
        raise PipelineError("source", f"only local files can be taken away, not {self.name}")

    def _read(
        self, session: SparkSession, limits: BatchLimits | None, folder: StreamedFolder | None
    ) -> DataFrame:
        batch_size = None if limits is None else limits.documents
        match self.kind:
            case "files" | "rows" | "bodies":
                contents = FileContents(
                    self.kind, self.max_bytes, self.group, self.fields, self.record
                )
                if self.record is not None and not is_local(session, self.path):
                    raise PipelineError(
                        "source",
                        f"records are read from files that all machines see, not from {self.name}",
                    )
                if limits is not None and folder is not None:
                    options = FolderOptions(self.path, contents, limits, str(folder.root))
                    return _folder_documents_stream(session, options)
                if limits is not None or not is_local(session, self.path):
                    return file_documents(session, self.path, contents, batch_size)
                return folder_documents(session, self.path, contents)
            case "parquet":
                return table_documents(
                    session,
                    self.path,
                    max_bytes=self.max_bytes,
                    batch_size=batch_size,
                    fields=self.fields,
                )
            case "nats":
                return _nats_stream(session, self.path, self.max_bytes, batch_size)
            case "kafka":
                address = KafkaAddress.parse(self.path)
                return kafka_documents(
                    session, address, max_bytes=self.max_bytes, batch_size=batch_size
                )

    @property
    def name(self) -> str:
        """The identity of the source, without credentials."""
        if self.kind == "nats":
            from pathcast.pipeline.jetstream import StreamAddress

            return str(StreamAddress.parse(self.path))
        if self.kind == "kafka":
            return str(KafkaAddress.parse(self.path))
        # Independent of spelling and working directory.
        return self.path.rstrip("/") if ":" in self.path else os.path.abspath(self.path)

    @property
    def reads_files(self) -> bool:
        """Whether the path is one of a file system."""
        return self.kind not in ("nats", "kafka")

    def named_columns(self) -> tuple[str, ...]:
        """Return the columns that the source must have."""
        if self.kind == "rows":
            return () if self.group is None else (self.group,)
        if not self.has_own_ids:
            return ()
        return tuple(
            name
            for name, default in ((self.fields.body, None), (self.fields.id, _DEFAULT_FIELDS.id))
            if name != default
        )

    @property
    def has_own_ids(self) -> bool:
        """Whether the documents bring their ids, so that duplicates are possible."""
        return self.kind in ("parquet", "bodies")

    @property
    def has_own_times(self) -> bool:
        """Whether documents bring their times; those of other sources have that of their file."""
        return self.kind in ("parquet", "bodies", "nats", "kafka")


def _folder_documents_stream(session: SparkSession, options: FolderOptions) -> DataFrame:
    session.dataSource.register(DocumentSource)
    parallelism = session.sparkContext.defaultParallelism
    return (
        session.readStream.format(DocumentSource.name())
        .options(**replace(options, parallelism=parallelism).as_options())
        .load()
    )


def _nats_stream(
    session: SparkSession, address: str, max_bytes: int, batch_size: int | None
) -> DataFrame:
    from pathcast.pipeline.jetstream import (
        StreamAddress,
    )  # few need it, and all would load its client
    from pathcast.pipeline.sources.nats import nats_documents

    parsed = StreamAddress.parse(address)
    if batch_size is None:
        return nats_documents(session, parsed, max_bytes=max_bytes, streaming=False)
    return nats_documents(
        session, parsed, max_bytes=max_bytes, streaming=True, batch_size=batch_size
    )
