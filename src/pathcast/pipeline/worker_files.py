"""Files of the driver as workers see them: distributed by Spark, on a shared disk, or in a closure.

The name of a file identifies its content, so a worker caches what it loaded by the name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO, Final

from pyspark import SparkFiles

__all__ = ["MAX_INLINE_BYTES", "DistributedFile", "InlineFile", "SharedFile", "WorkerFile"]

MAX_INLINE_BYTES: Final = 16 << 20
"""Content that may travel with every task."""


@dataclass(frozen=True, slots=True)
class DistributedFile:
    """A file that `SparkContext.addFile` distributes."""

    name: str

    def locate(self) -> str:
        """Return the path in this worker."""
        return SparkFiles.get(self.name)


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file that every machine sees under the same path."""

    name: str
    path: str

    def locate(self) -> str:
        """Return the path in this worker."""
        return self.path


@dataclass(frozen=True, slots=True)
class InlineFile:
    """A small file whose content travels in the closure of a task, in any kind of session."""

    name: str
    content: bytes = field(repr=False)

    def locate(self) -> BinaryIO:
        """Return the content as a stream."""
        return BytesIO(self.content)


WorkerFile = DistributedFile | SharedFile | InlineFile
