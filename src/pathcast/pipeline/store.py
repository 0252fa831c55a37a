"""The folder that a run writes to, and what in it makes a batch happen once.

    pathcast.json        what the folder belongs to: the documents it is fed from, the format of these records
    log/N.json           the plan of batch N: which version of the subscriptions; written before the batch runs
    _staging/batch=N     what the batch makes, until it is complete; each attempt in a folder of its own
    done/N.json          the outcome of batch N: written last, when everything is published
    matches, errors, documents, deliveries, ... / batch=N  the tables, published
    versions             the subscriptions of every version, with their routes

A batch that is run again, after whatever happened, goes on where it can: without a plan it gets one; with a plan it is
staged anew, under the same plan; once it is staged it is only published, which moves what has not been moved; once it is
done it is left alone. So nothing is there twice, or under two versions, and whoever takes published files away gets none of them again.

When a driver is killed, its Java and its workers live a moment longer, and may still write: into the folder of their attempt, which
nobody looks at any more. Two runs at the same time would be another matter; the first has the folder's lock.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pathcast.errors import PipelineError
from pathcast.pipeline.storage import Storage

__all__ = ["BatchOutcome", "Plan", "Store"]

_FORMAT_VERSION: Final = 1
_RUN_RECORD: Final = "pathcast.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch is run with."""

    version: str
    started: float
    """Seconds since 1970: what counts as the time of documents that have none."""


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What became of a batch: documents = matched + unmatched + refused + repeated."""

    version: str
    documents: int = 0
    matched: int = 0
    unmatched: int = 0
    refused: int = 0
    repeated: int = 0
    undecided: int = 0
    bytes: int = 0
    matches: int = 0
    deliveries: int = 0
    undelivered: int = 0
    """Deliveries that the outbox could not take, too large ones say: in the table of that name."""
    seconds: float = 0.0
    latest: float | None = None
    """The time of the newest document."""
    tables: tuple[str, ...] = field(default=())
    staging: str = ""
    """Where it was staged."""


class Store:
    """The records of a run."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def lock(self, identity: dict[str, str], *, resume: bool) -> None:
        """Have the folder alone; PipelineError if it is another run's, or used up and not to be gone on with."""
        self.storage.lock()
        record = self._record(_RUN_RECORD)
        if record is None:
            if self.storage.names("log") or self.storage.names("matches"):
                raise PipelineError(
                    "output",
                    f"{self.storage.path('')} holds results, but not the record of a run",
                    hint="choose another folder",
                )
            return
        if record.get("format") != _FORMAT_VERSION:
            raise PipelineError(
                "checkpoint",
                f"{self.storage.path('')} was written in format {record.get('format')}, this is {_FORMAT_VERSION}",
                hint="go on with the version of pathcast that wrote it, or choose another folder",
            )
        for key, value in identity.items():
            if record.get(key) != value:
                raise PipelineError(
                    "checkpoint",
                    f"{self.storage.path('')} belongs to another run ({key}: {record.get(key)}, here {value})",
                    hint="choose another folder for this one",
                )
        if not resume and self.storage.names("done"):
            raise PipelineError(
                "output",
                f"{self.storage.path('')} holds the results of an earlier run",
                hint="choose another folder",
            )

    def claim(self, identity: dict[str, str]) -> None:
        """Make the folder this run's for good, once all that it needs has been found."""
        if self._record(_RUN_RECORD) is None:
            self._write(_RUN_RECORD, {"format": _FORMAT_VERSION, **identity})

    def plan(self, batch: int) -> Plan | None:
        record = self._record(_record_name("log", batch))
        return None if record is None else Plan(record["version"], record["started"])

    def write_plan(self, batch: int, plan: Plan) -> None:
        self._write(_record_name("log", batch), {"batch": batch, **asdict(plan)})

    def start_attempt(self, batch: int) -> str:
        """Throw away what attempts at a batch left; the folder for a new one, by its name in the storage."""
        self.storage.remove(_staging_folder(batch))
        return f"{_staging_folder(batch)}/{secrets.token_hex(4)}"

    def staged_outcome(self, batch: int) -> BatchOutcome | None:
        """The outcome of a batch that is complete and perhaps not yet published."""
        return _parse_outcome(self._record(f"{_staging_folder(batch)}/staged.json"))

    def write_staged_outcome(self, batch: int, outcome: BatchOutcome) -> None:
        self.storage.sync()
        self._write(f"{_staging_folder(batch)}/staged.json", asdict(outcome))

    def publish_tables(self, batch: int, outcome: BatchOutcome) -> None:
        for table in outcome.tables:
            self.storage.move(f"{outcome.staging}/{table}", f"{table}/batch={batch}")

    def write_done_outcome(self, batch: int, outcome: BatchOutcome) -> None:
        self._write(_record_name("done", batch), {"batch": batch, **asdict(outcome)})
        self.storage.remove(_staging_folder(batch))

    def done_outcome(self, batch: int) -> BatchOutcome | None:
        return _parse_outcome(self._record(_record_name("done", batch)))

    def outcomes(self) -> dict[int, BatchOutcome]:
        """Every batch that is done."""
        outcomes = {}
        for name in self.storage.names("done"):
            if name.endswith(".json"):
                batch = int(name.removesuffix(".json"))
                outcome = self.done_outcome(batch)
                if outcome is not None:
                    outcomes[batch] = outcome
        return outcomes

    def _record(self, name: str) -> dict[str, Any] | None:
        content = self.storage.read(name)
        if content is None:
            return None
        try:
            record = json.loads(content)
            if isinstance(record, dict):
                return record
        except ValueError:
            pass
        raise PipelineError("checkpoint", f"{self.storage.path(name)} is damaged")

    def _write(self, name: str, record: dict[str, Any]) -> None:
        self.storage.write(name, json.dumps(record, indent=1).encode() + b"\n")


def _staging_folder(batch: int) -> str:
    return f"_staging/batch={batch}"


def _record_name(folder: str, batch: int) -> str:
    return f"{folder}/{batch:010}.json"


def _parse_outcome(record: dict[str, Any] | None) -> BatchOutcome | None:
    if record is None:
        return None
    fields = {key: value for key, value in record.items() if key != "batch"}
    try:
        return BatchOutcome(**{**fields, "tables": tuple(fields.get("tables", ()))})
    except TypeError as error:
        raise PipelineError(
            "checkpoint", f"a record of a batch is of another format: {error}"
        ) from None
