"""The result folder of a run, and the records in it that make each batch happen exactly once.

    pathcast.json        what the folder belongs to: its document source and the record format
    log/N.json           the plan of batch N: the version of the subscriptions; written first
    _staging/batch=N     the output of the batch until it is complete, one folder per attempt
    done/N.json          the outcome of batch N: written last, when everything is published
    matches, errors, documents, deliveries, ... / batch=N  the published tables
    versions             the subscriptions of every version, with their routes

A retried batch resumes after any crash. Without a plan it gets one. With a plan it is staged again,
under the same plan. Once staged it is only published, which moves the files that were not moved
yet. Once done it is skipped. So each result exists once and under one version, and a consumer that
removes published files never receives one again.

When a driver is killed, its Java process and its workers may write for a moment longer. They write
into the folder of their attempt, which the next attempt does not read. The lock of the folder
excludes two runs at the same time.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pathcast.errors import PipelineError
from pathcast.pipeline.storage import Storage

__all__ = ["BatchLog", "BatchOutcome", "Plan"]

_FORMAT_VERSION: Final = 1
_RUN_RECORD: Final = "pathcast.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """The durable parameters of a batch."""

    version: str
    started: float
    """Seconds since 1970; the time of documents that have none."""


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """The counts of a batch: documents = matched + unmatched + refused + repeated."""

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
    """Deliveries that the outbox rejected, as too large for example: in the table of that name."""
    seconds: float = 0.0
    latest: float | None = None
    """The time of the newest document."""
    tables: tuple[str, ...] = field(default=())
    staging: str = ""
    """The staging folder of the attempt."""


class BatchLog:
    """The records of a run."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def lock(self, identity: dict[str, str], *, resume: bool) -> None:
        """Lock the folder; PipelineError if it belongs to another run.

        Without `resume`, it is also an error if the folder holds results.
        """
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
                f"{self.storage.path('')} was written in format {record.get('format')}, "
                f"this is {_FORMAT_VERSION}",
                hint="use the version of pathcast that wrote it, or choose another folder",
            )
        for key, value in identity.items():
            if record.get(key) != value:
                raise PipelineError(
                    "checkpoint",
                    f"{self.storage.path('')} belongs to another run "
                    f"({key}: {record.get(key)}, here {value})",
                    hint="choose another folder for this one",
                )
        if not resume and self.storage.names("done"):
            raise PipelineError(
                "output",
                f"{self.storage.path('')} holds the results of an earlier run",
                hint="choose another folder",
            )

    def claim(self, identity: dict[str, str]) -> None:
        """Record that the folder belongs to this run, once the run's inputs exist."""
        if self._record(_RUN_RECORD) is None:
            self._write(_RUN_RECORD, {"format": _FORMAT_VERSION, **identity})

    def plan(self, batch: int) -> Plan | None:
        record = self._record(_record_name("log", batch))
        return None if record is None else Plan(record["version"], record["started"])

    def write_plan(self, batch: int, plan: Plan) -> None:
        self._write(_record_name("log", batch), {"batch": batch, **asdict(plan)})

    def start_attempt(self, batch: int) -> str:
        """Remove earlier attempts at a batch; return the name of a folder for a new one."""
        self.storage.remove(_staging_folder(batch))
        return f"{_staging_folder(batch)}/{secrets.token_hex(4)}"

    def staged_outcome(self, batch: int) -> BatchOutcome | None:
        """Return the outcome of a batch that is staged and perhaps not published yet."""
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
        """Return the outcome of every batch that is done."""
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
