"""The DOCUMENT arguments of a command as documents, whatever files hold them.

An argument is a file, a folder, or `-` for standard input. Its name says what it holds, as in
`pathcast run`: documents and archives, rows of CSV or JSON, JSON lines with a body, or a parquet
table. A document's id is that of `pathcast run`, after the name of the argument: `feed/a.zip!m.xml`
in the folder `feed`. An id that a document brings stands alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from pathcast.containers.contents import FileContents
from pathcast.containers.ids import path_id
from pathcast.containers.kinds import FileKind
from pathcast.containers.reading import read_file
from pathcast.containers.record_documents import read_records
from pathcast.containers.rows import BodyField
from pathcast.containers.tables import check_table, read_table
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.errors import DocumentError, FormatError
from pathcast.files import DocumentFile, iter_documents

__all__ = ["DocumentArgument", "read_arguments"]


@dataclass(frozen=True, slots=True)
class DocumentArgument:
    """A file or folder, what it holds, and how that becomes documents."""

    name: str
    kind: FileKind
    max_bytes: int
    group: str | None = None
    """The column by which consecutive rows are grouped into one document."""
    fields: BodyField = field(default_factory=BodyField)
    record: str | None = None
    """The name of the elements that are documents; None if the root element is one."""

    def read(self, stdin: BinaryIO | None = None) -> Iterator[UnpackedDocument]:
        """Yield the documents."""
        try:
            files = iter_documents([self.name], limit=self.max_bytes, stdin=stdin)
        except FormatError as error:  # it existed when the command began
            yield UnpackedDocument(path_id(self.name), None, ("gone", error.message))
            return
        for file in files:
            id = path_id(file.name)
            if not _is_regular(file.name):
                yield from self._read_stream(file, id)
            elif self.kind == "parquet":
                yield from read_table(file.name, id, self.max_bytes, self.fields)
            else:
                contents = FileContents(
                    self.kind, self.max_bytes, self.group, self.fields, self.record
                )
                try:
                    yield from read_file(file.name, id, contents)
                except OSError as error:  # the system's fault, but there is nothing to repeat
                    yield UnpackedDocument(id, None, ("unreadable", error.strerror or str(error)))

    @property
    def is_single(self) -> bool:
        """Whether the argument is one document."""
        if self.name == "-":
            return self.record is None
        contents = FileContents("bodies" if self.kind == "parquet" else self.kind, self.max_bytes)
        is_container = self.kind == "parquet" or contents.is_container(self.name)
        return not (os.path.isdir(self.name) or is_container or self.record)

    def _read_stream(self, file: DocumentFile, id: str) -> Iterator[UnpackedDocument]:
        """Yield the only document, or the records, of standard input, a pipe or a bad file."""
        try:
            if self.record is None:
                yield UnpackedDocument(id, file.read())
            else:
                yield from read_records(id, file.open(), self.record, self.max_bytes)
        except DocumentError as error:
            fault_id = id if self.record is None else f"{id}#1"
            yield UnpackedDocument(fault_id, None, (error.kind, error.message))

    def check(self) -> None:
        """Raise FormatError if a table has no documents; only its first file is read."""
        if self.kind == "parquet":
            for file in iter_documents([self.name]):
                if _is_regular(file.name):
                    check_table(file.name, self.fields)
                break


def _is_regular(name: str) -> bool:
    return name != "-" and os.path.isfile(name)


def read_arguments(
    arguments: Sequence[DocumentArgument], stdin: BinaryIO | None = None
) -> Iterator[UnpackedDocument]:
    """Return the documents of the arguments, read one at a time.

    Raise FormatError at once if an argument does not exist, or has no documents in its columns.
    """
    iter_documents([argument.name for argument in arguments])
    for argument in arguments:
        argument.check()
    return (document for argument in arguments for document in argument.read(stdin))
