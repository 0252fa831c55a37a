"""What a file of a folder holds: one document, or several in an archive or a file of rows.

files    every file is a document, except archives
rows     files of CSV or JSON hold rows; other files are documents or archives
bodies   files of JSON hold objects with a `body`; other files likewise

With a `record`, every element of that name is a document (`record_documents`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from pathcast.containers import rows, unpacking
from pathcast.containers.record_documents import split_documents
from pathcast.containers.rows import BodyField, RowsToXml
from pathcast.containers.unpacking import UnpackedDocument

__all__ = ["CONTENT_KINDS", "MAX_CONTAINER_BYTES", "ContentKind", "FileContents"]

ContentKind = Literal["files", "rows", "bodies"]
CONTENT_KINDS: Final[tuple[ContentKind, ...]] = get_args(ContentKind)
MAX_CONTAINER_BYTES: Final = 256 << 20  # an archive or a file of rows is read into memory


@dataclass(frozen=True, slots=True)
class FileContents:
    """How the files of a folder become documents of at most `max_bytes`."""

    kind: ContentKind
    max_bytes: int
    group: str | None = None
    """The column by which consecutive rows are grouped into one document."""
    fields: BodyField = field(default_factory=BodyField)
    record: str | None = None
    """The name of the elements that are documents; None if the root element is one."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of files that hold documents, without the dot."""
        return unpacking.SUFFIXES if self.kind == "files" else (*rows.SUFFIXES, *unpacking.SUFFIXES)

    def is_container(self, name: str) -> bool:
        """Return whether a file holds documents."""
        return name.lower().endswith(tuple(f".{suffix}" for suffix in self.suffixes))

    def unpack(self, name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
        """Yield the documents of a container."""
        documents = self._unpack(name, content, max_bytes)
        if self.record is None:
            return documents
        return split_documents(documents, self.record, max_bytes)

    def _unpack(self, name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
        is_archive = not name.lower().endswith(tuple(f".{suffix}" for suffix in rows.SUFFIXES))
        if self.kind == "files" or is_archive:
            return unpacking.unpack(name, content, max_bytes)
        mapping = RowsToXml(self.group) if self.kind == "rows" else self.fields
        return rows.read_rows(name, content, max_bytes, mapping)

    def is_stream(self, name: str) -> bool:
        """Return whether records are read from a file of any size, packed or not."""
        is_plain = not self.is_container(name)
        return self.record is not None and (is_plain or unpacking.is_single(name))
