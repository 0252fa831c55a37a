"""Where documents come from: a table of (id, body, source, time, fault), whatever they are stored in.

A document's id is its place in its source, so that reading the same source again gives the same ids. What cannot become a
document is a row all the same: `fault` says why, and there is no body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame, SparkSession

from pathcast.pipeline.failures import told
from pathcast.pipeline.sources.files import file_documents
from pathcast.pipeline.sources.tables import table_documents, without_repeated_ids
from pathcast.pipeline.sources.unpacking import ENDINGS, unpack

__all__ = ["Form", "Source"]

Form = Literal["files", "parquet"]


@dataclass(frozen=True, slots=True)
class Source:
    """A place to read documents from; none may have more than `most` bytes."""

    path: str
    form: Form
    most: int

    @classmethod
    def named(cls, path: str, most: int) -> Source:
        """The source that a path means by its ending."""
        table = path.lower().rstrip("/").endswith(".parquet")
        return cls(path, "parquet" if table else "files", most)

    def documents(self, session: SparkSession, batch: int | None = None) -> DataFrame:
        """All documents, or with `batch` a stream of them, of at most so many files at a time."""
        with told("source", self.path):
            if self.form == "parquet":
                return table_documents(session, self.path, most=self.most, batch=batch)
            return file_documents(
                session, self.path, most=self.most, unpack=unpack, endings=ENDINGS, batch=batch
            )

    def checked(self, documents: DataFrame) -> DataFrame:
        """What was read at once, with faults that only all of it together shows."""
        return without_repeated_ids(documents) if self.form == "parquet" else documents
