"""One step of a compaction as a durable record: what to move, to write and to remove.

A step replaces the records and files of some batches by others, or removes them. Its record
(`compaction.json`) is written when everything that it moves is on disk. From then on the step is
performed to its end, by this process or by the next one that locks the folder: every action may be
repeated. Readers that follow the records of done batches switch when the new record is written. The
old files are removed after that.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

from pathcast.errors import PipelineError
from pathcast.pipeline.storage import Storage

__all__ = ["COMPACTION_RECORD", "CompactionStep", "finish_compaction", "perform_step"]

COMPACTION_RECORD: Final = "compaction.json"


@dataclass(frozen=True, slots=True)
class CompactionStep:
    """The actions of a step, in the order of the fields."""

    moves: tuple[tuple[str, str], ...] = ()
    record: str | None = None
    """The name of the new record."""
    content: dict[str, Any] | None = None
    removals: tuple[str, ...] = ()
    """Records first: a file goes after the record that names it."""


def perform_step(storage: Storage, step: CompactionStep) -> None:
    """Record a step, and perform it."""
    storage.write(COMPACTION_RECORD, json.dumps(asdict(step)).encode())
    _perform(storage, step)


def finish_compaction(storage: Storage) -> None:
    """Perform the rest of a step that was interrupted."""
    content = storage.read(COMPACTION_RECORD)
    if content is None:
        return
    try:
        fields = json.loads(content)
        step = CompactionStep(
            tuple((old, new) for old, new in fields["moves"]),
            fields["record"],
            fields["content"],
            tuple(fields["removals"]),
        )
    except (ValueError, TypeError, KeyError):
        raise PipelineError("checkpoint", f"{storage.path(COMPACTION_RECORD)} is damaged") from None
    _perform(storage, step)


def _perform(storage: Storage, step: CompactionStep) -> None:
    storage.move_all(step.moves)
    if step.record is not None:
        storage.write(step.record, json.dumps(step.content, indent=1).encode() + b"\n")
    for name in step.removals:
        storage.remove(name)
    storage.remove(COMPACTION_RECORD)
