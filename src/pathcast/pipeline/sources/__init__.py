"""Document sources: whatever the storage, a table of (id, body, source, time, fault).

A document's id is its location in the source, so reading the source again gives the same ids. Input
that cannot become a document is a row too: `fault` says why, and the body is null.

    files     every file is a document; archives hold several      files, unpacking, empty_files
    rows      rows of CSV or JSON, single or grouped               rows, records, json_records
    bodies    lines of JSON with a document in `body`              rows, json_records
    parquet   a table with a column `body`                         tables
    nats      messages of a NATS JetStream stream                  nats, nats_reader
    kafka     messages of a topic, by Spark's own connector        kafka

A style sheet can transform the documents of any source (`xslt`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, get_args

from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import qualify
from pathcast.pipeline.sources import unpacking
from pathcast.pipeline.sources.empty_files import empty_documents, empty_paths_in_batch
from pathcast.pipeline.sources.files import file_documents
from pathcast.pipeline.sources.kafka import KafkaAddress, kafka_documents
from pathcast.pipeline.sources.rows import SUFFIXES, BodyField, RecordMapping, RowsToXml, read_rows
from pathcast.pipeline.sources.tables import reject_duplicate_ids, table_documents
from pathcast.pipeline.sources.unpacking import UnpackedDocument, UnpackFunction
from pathcast.pipeline.sources.xslt import XsltTransform, transform_documents
from pathcast.pipeline.spark_errors import spark_errors_as
from pathcast.pipeline.storage import Storage

__all__ = ["KINDS", "Source", "SourceKind", "kind_of"]

SourceKind = Literal["files", "rows", "bodies", "parquet", "nats", "kafka"]
KINDS: Final[tuple[SourceKind, ...]] = get_args(SourceKind)
_FILE_KINDS: Final = ("files", "rows", "bodies")
_KIND_BY_SUFFIX: Final[dict[str, SourceKind]] = {
    "parquet": "parquet",
    "csv": "rows",
    "json": "rows",
    "jsonl": "bodies",
    "ndjson": "bodies",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A location to read documents from; no document may exceed `max_bytes`."""

    path: str
    kind: SourceKind
    max_bytes: int
    group: str | None = None
    """The column by which consecutive rows are grouped into one document."""
    transform: XsltTransform | None = None

    def documents(self, session: SparkSession, batch_size: int | None = None) -> DataFrame:
        """Return all documents, or a stream of them with at most `batch_size` files per batch."""
        with spark_errors_as("source", self.path):
            documents = self._read(session, batch_size)
            return (
                documents
                if self.transform is None
                else transform_documents(documents, self.transform)
            )

    def _read(self, session: SparkSession, batch_size: int | None) -> DataFrame:
        match self.kind:
            case "files" | "rows" | "bodies":
                unpack, endings = self._unpack_function()
                return file_documents(
                    session,
                    self.path,
                    max_bytes=self.max_bytes,
                    batch_size=batch_size,
                    unpack=unpack,
                    suffixes=endings,
                )
            case "parquet":
                return table_documents(
                    session, self.path, max_bytes=self.max_bytes, batch_size=batch_size
                )
            case "nats":
                return _nats_stream(session, self.path, self.max_bytes, batch_size)
            case "kafka":
                address = KafkaAddress.parse(self.path)
                return kafka_documents(
                    session, address, max_bytes=self.max_bytes, batch_size=batch_size
                )

    def _unpack_function(self) -> tuple[UnpackFunction, tuple[str, ...]]:
        """Return the function that unpacks files that hold documents, and the suffixes of such
        files.
        """
        archive_suffixes = unpacking.SUFFIXES
        if self.kind == "files":
            return unpacking.unpack, archive_suffixes
        mapping = RowsToXml(self.group) if self.kind == "rows" else BodyField()
        return partial(_unpack_rows_or_archive, mapping=mapping), (*SUFFIXES, *archive_suffixes)

    def add_empty_files(
        self, session: SparkSession, documents: DataFrame, storage: Storage, batch: int
    ) -> DataFrame:
        """Return the documents of a micro-batch with those of its empty files."""
        if self.kind not in _FILE_KINDS:
            return documents
        unpack, endings = self._unpack_function()
        base = qualify(session, self.path).rstrip("/")
        paths = empty_paths_in_batch(storage, batch)
        empty = empty_documents(session, paths, base, self.path, unpack, endings)
        if empty is None:
            return documents
        return documents.unionByName(
            empty if self.transform is None else transform_documents(empty, self.transform)
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
    def has_own_ids(self) -> bool:
        """Whether the documents bring their ids, so that duplicates are possible."""
        return self.kind in ("parquet", "bodies")

    def check_output_outside(self, session: SparkSession, out: str) -> None:
        """Raise PipelineError if results in `out` would be read as documents."""
        if self.kind in ("nats", "kafka"):
            return
        documents_path, output_path = (_real_path(session, path) for path in (self.path, out))
        relative = (
            output_path.removeprefix(f"{documents_path}/")
            if output_path.startswith(f"{documents_path}/")
            else ""
        )
        hidden = any(part.startswith((".", "_")) for part in relative.split("/"))
        if output_path == documents_path or (relative and not hidden):
            raise PipelineError(
                "output",
                f"{out} lies in {self.path}: what is written there would be read as documents",
                hint="choose a folder elsewhere, or one whose name begins with _",
            )

    def reject_duplicate_ids(self, documents: DataFrame) -> DataFrame:
        """Mark duplicate ids within a batch as faults, where documents bring their ids."""
        return reject_duplicate_ids(documents) if self.has_own_ids else documents


def _real_path(session: SparkSession, path: str) -> str:
    """Resolve a path, and its symbolic links if it is local."""
    qualified = qualify(session, path).rstrip("/")
    return (
        os.path.realpath(qualified.removeprefix("file:"))
        if qualified.startswith("file:")
        else qualified
    )


def kind_of(path: str) -> SourceKind:
    """Return the kind of source that a path implies.

    >>> kind_of("feed/"), kind_of("table.parquet"), kind_of("stock.CSV.gz"), kind_of("all.jsonl")
    ('files', 'parquet', 'rows', 'bodies')
    """
    if path.startswith(("nats://", "tls://")):
        return "nats"
    if path.startswith("kafka://"):
        return "kafka"
    name = path.lower().rstrip("/").removesuffix(".gz")
    return _KIND_BY_SUFFIX.get(name.rpartition(".")[2], "files")


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


def _unpack_rows_or_archive(
    name: str, content: bytes, max_bytes: int, mapping: RecordMapping
) -> Iterator[UnpackedDocument]:
    """Unpack a file of rows, or an archive."""
    if name.lower().endswith(tuple(f".{suffix}" for suffix in SUFFIXES)):
        return read_rows(name, content, max_bytes, mapping)
    return unpacking.unpack(name, content, max_bytes)
