"""The folder of a run's stream: its journal in OUT, its batch numbers, and its files once read.

Spark numbers the batches of a checkpoint from 0. The run's numbers are the same, unless the stream
continues that of an earlier version (`file_source_log`): then they go on where that one ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.after_reading import AfterReading, take_away
from pathcast.pipeline.sources.file_source_log import adopt_file_source_log
from pathcast.pipeline.sources.journal import JournalReader, JournalStart
from pathcast.pipeline.sources.listing import FileLocation
from pathcast.pipeline.sources.spark_checkpoint import last_offset
from pathcast.pipeline.storage import Storage

__all__ = ["OFFSET_KEY", "StreamedFolder"]

OFFSET_KEY: Final = "files"
"""The name of the position in an offset of Spark."""
_JOURNAL: Final = "journal"


@dataclass(frozen=True, slots=True)
class StreamedFolder:
    """A stream over `location`, with its journal at `root`."""

    storage: Storage
    root: Path
    location: FileLocation
    after_reading: AfterReading
    start: JournalStart

    @classmethod
    def open(
        cls,
        storage: Storage,
        location: FileLocation,
        after_reading: AfterReading,
        is_done: Callable[[int], bool],
    ) -> StreamedFolder | None:
        """Open the stream of a result folder; None if this machine does not see that folder."""
        folder = storage.local_folder(_JOURNAL)
        if folder is None:
            if after_reading.keeps:
                return None
            raise PipelineError(
                "output",
                f"files cannot be taken away, because {storage.path('')} has no journal of them",
                hint="choose a folder that this machine sees",
            )
        adopt_file_source_log(storage, Path(folder), location, is_done)
        return cls(
            storage, Path(folder), location, after_reading, JournalReader(Path(folder)).start()
        )

    def number(self, spark_batch: int) -> int:
        """Return the run's number of a batch of Spark."""
        return self.start.batch + spark_batch

    def finish(self, spark_batch: int) -> None:
        """Take away the files of a batch that is done."""
        if self.after_reading.keeps:
            return
        end = last_offset(self.storage, spark_batch, OFFSET_KEY)
        if end is None:
            raise PipelineError(
                "checkpoint", f"{self.storage.path('checkpoint')} has no batch {spark_batch}"
            )
        before = last_offset(self.storage, spark_batch - 1, OFFSET_KEY)
        files = JournalReader(self.root).files(
            self.start.position if before is None else before, end
        )
        take_away(self.after_reading, self.location.folder, files)
