"""Files on one side, values on the other: subscription files and document files.

`read_subscriptions` and `write_subscriptions` turn the four subscription formats (`.txt`, `.tsv`,
`.jsonl`, parquet; each may be gzipped) into `Subscription` values and back. `iter_documents` turns
the DOCUMENT arguments of a command (files, folders, `-`) into named things to read; `write_documents`
writes a folder of them, or a `.jsonl` or parquet file.

This room knows nothing of XPath or XML: an expression is text here and a document is bytes. Both
directions are lazy, so that a hundred thousand documents or a million subscriptions never have to be
in memory together.
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
from pathcast.files.reader import read_subscriptions
from pathcast.files.subscription import FORMATS, Format, Subscription, format_of
from pathcast.files.writer import write_subscriptions

__all__ = [
    "DOCUMENT_FORMATS",
    "FORMATS",
    "DocumentFile",
    "DocumentFormat",
    "Format",
    "Subscription",
    "document_format_of",
    "document_line",
    "format_of",
    "iter_documents",
    "line_of",
    "read_subscriptions",
    "write_documents",
    "write_subscriptions",
]
