"""Subscriptions as they travel: a file that never changes, named by what is in it.

A version is compiled once, by the driver, and saved as a snapshot; workers load it (a microsecond or so for each subscription)
and keep it for all batches that name it. Two sets of the same subscriptions are one version, whoever
compiled them: its name is the hash of the file. So a batch that is run again finds exactly the subscriptions it had.

The file lies in the folder of versions, and goes to workers through Spark's own files (`ship`): in a cluster they need
not see the driver's disk.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkContext

from pathcast.errors import PipelineError
from pathcast.formats import Subscription
from pathcast.matching import Matcher

__all__ = ["Version", "compiled", "known"]

_ENDING = ".subscriptions"
_LENGTH = 16  # characters of the hash: no two of a lifetime have the same


@dataclass(frozen=True, slots=True)
class Version:
    """A set of subscriptions, by its name; `path` is the driver's copy."""

    name: str
    path: Path
    subscriptions: int

    @property
    def file(self) -> str:
        """The name of the file, by which workers find theirs."""
        return self.path.name

    def ship(self, context: SparkContext) -> None:
        """Let every worker have the file."""
        context.addFile(str(self.path))


def compiled(subscriptions: Iterable[Subscription], folder: Path) -> Version:
    """Compile a version and put it into a folder, if it is not there already."""
    matcher = Matcher()
    matcher.add_many((one.id, one.xpath, one.namespaces) for one in subscriptions)
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".draft-{os.getpid()}"
    try:
        matcher.save(draft)
        name = hashlib.sha256(draft.read_bytes()).hexdigest()[:_LENGTH]
        path = folder / f"{name}{_ENDING}"
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return Version(name, path, len(matcher))


def known(name: str, folder: Path) -> Version:
    """A version that was compiled before; PipelineError if its file is gone."""
    path = folder / f"{name}{_ENDING}"
    if not path.exists():
        raise PipelineError(
            "version",
            f"the subscriptions of version {name} are not in {folder}",
            hint="versions that a checkpoint may name again must be kept",
        )
    return Version(name, path, len(Matcher.load(path)))
