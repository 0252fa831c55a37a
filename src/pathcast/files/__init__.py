"""Readers and writers of subscription files and document files.

- `reader`, `writer`: `read_subscriptions` and `write_subscriptions`, for all formats.
- `subscription`: the `Subscription` value, its validation and the format of a file name.
- `lines`: the text formats `.txt`, `.tsv` and `.jsonl`.
- `parquet`, `parquet_writer`: parquet files.
- `documents`: `iter_documents`, the DOCUMENT arguments of a command (files, folders, `-`).
- `document_writer`: `write_documents`, to a folder, a `.jsonl` or a parquet file.
- `outboxes`: `read_outbox`, the documents that `pathcast run` delivered to a subscriber.
- `file_names`: file names for arbitrary ids.
- `atomic_write`: files and folders that appear complete or not at all.

Every file may be gzipped. This package does not depend on XPath or XML: an expression is text here
and a document is bytes. Reading and writing are lazy, so a hundred thousand documents or a million
subscriptions never have to be in memory together.
"""

from pathcast.files.document_writer import (
    DOCUMENT_FORMATS,
    DocumentFormat,
    document_format_of,
    document_line,
    write_documents,
)
from pathcast.files.documents import DocumentFile, iter_documents
from pathcast.files.lines import line_of
from pathcast.files.outboxes import OutboxEntry, read_outbox
from pathcast.files.reader import read_subscriptions
from pathcast.files.subscription import FORMATS, Format, Subscription, format_of
from pathcast.files.writer import write_subscriptions

__all__ = [
    "DOCUMENT_FORMATS",
    "FORMATS",
    "DocumentFile",
    "DocumentFormat",
    "Format",
    "OutboxEntry",
    "Subscription",
    "document_format_of",
    "document_line",
    "format_of",
    "iter_documents",
    "line_of",
    "read_outbox",
    "read_subscriptions",
    "write_documents",
    "write_subscriptions",
]
