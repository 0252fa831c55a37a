"""The result folder of a run, and the records in it that make each batch happen exactly once.

    pathcast.json        what the folder belongs to: its document source and the record format
    log/N.json           the plan of batch N: the version of the subscriptions; written first
    _staging/batch=N     the output of the batch until it is complete, one folder per attempt
    done/N.json          the outcome of batch N: written last, when everything is published
    matches, errors, documents, deliveries, ... / N-*.parquet  the published tables
    versions             the subscriptions of every version, with their routes
    compaction.json      a compaction that is not finished (`compaction`)

A retried batch resumes after any crash. Without a plan it gets one. With a plan it is staged again,
under the same plan. Once staged it is only published, which moves the files that were not moved
yet. Once done it is skipped. So each result exists once and under one version, and a consumer that
removes published files never receives one again.

The records of done batches, read in ascending order, name files that have every row once. That
holds at every moment, also while batches are published or compacted. A reader whose file is gone
reads the records again.

When a driver is killed, its Java process and its workers may write for a moment longer. They write
into the folder of their attempt, which the next attempt does not read. The lock of the folder
excludes two runs at the same time.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pathcast.errors import PipelineError
from pathcast.pipeline.compaction_step import finish_compaction
from pathcast.pipeline.hash_times import HashTimes
from pathcast.pipeline.storage import Storage

__all__ = ["BatchLog", "BatchOutcome", "Plan", "done_record"]

_FORMAT_VERSION: Final = 2
"""Format 1 had a folder `batch=N` per batch in each table, no column `batch`, and names of outbox
files and messages without the batch."""
_STAGING: Final = "_staging"
_BATCH_PREFIX: Final = "batch="
_RUN_RECORD: Final = "pathcast.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """The durable parameters of a batch."""

    version: str
    started: float
    """Seconds since 1970; the time of documents that have none."""


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """The counts of a batch: documents = matched + unmatched + refused + repeated.

    The outcome of compacted batches is their sum, under the number of the last one.
    """

    version: str
    documents: int = 0
    matched: int = 0
    unmatched: int = 0
    refused: int = 0
    repeated: int = 0
    undecided: int = 0
    bytes: int = 0
    matches: int = 0
    deliveries: int | None = None
    """None if neither a table nor an outbox needed them."""
    undelivered: int = 0
    """Deliveries that the outbox rejected, as too large for example: in the table of that name."""
    refusals: Mapping[str, int] = field(default_factory=dict)
    """Refused documents by kind of error."""
    seconds: float = 0.0
    """The sum of `steps`; in records without steps, the seconds of staging."""
    steps: Mapping[str, float] = field(default_factory=dict)
    """Seconds of the steps `plan`, `stage` and `publish`, where this attempt performed them."""
    matching_seconds: float = 0.0
    """CPU seconds that workers spent in the matcher; 0 if staged in several passes."""
    latest: float | None = None
    """The time of the newest document, or of its file."""
    lag: float | None = None
    """Seconds from the newest document's own time until its batch was published."""
    tables: tuple[str, ...] = field(default=())
    staging: str = ""
    """The staging folder of the attempt."""
    outbox: str = ""
    """The name of the outbox that publishes its deliveries; empty without one."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The published files of each table; empty in records of format 1."""
    started: float = 0.0
    """When the batch was planned, in seconds since 1970."""
    hashes: HashTimes | None = None
    """The times of its hashes, with --dedupe."""
    first: int | None = None
    """The first of the compacted batches; None for a single batch."""
    batches: int = 1
    """How many batches this is the outcome of."""
    versions: tuple[str, ...] = ()
    """The versions of compacted batches, in order; empty if there is one."""

    @property
    def all_versions(self) -> tuple[str, ...]:
        """The versions of the batches, in order."""
        return self.versions or (self.version,)


class BatchLog:
    """The records of a run."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def lock(self, identity: dict[str, str], *, resume: bool) -> None:
        """Lock the folder; PipelineError if it belongs to another run (see `check`)."""
        self.storage.lock()
        self._finish_earlier_process()
        self.check(identity, resume=resume)

    def _finish_earlier_process(self) -> None:
        """Finish a compaction, and remove the staging folder of a batch that is done."""
        finish_compaction(self.storage)
        for name in self.storage.names(_STAGING):
            batch = name.removeprefix(_BATCH_PREFIX)
            if batch.isdigit() and self.done_outcome(int(batch)) is not None:
                self.storage.remove(f"{_STAGING}/{name}")

    def check(self, identity: dict[str, str], *, resume: bool) -> None:
        """Raise PipelineError if the folder belongs to another run.

        Without `resume`, it is also an error if the folder holds results.
        """
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
                hint="`pathcast compact` converts it"
                if record.get("format") == 1
                else "use the version of pathcast that wrote it, or choose another folder",
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

    def lock_any(self) -> int:
        """Lock the folder of any run; return its format, or raise PipelineError if it is newer."""
        self.storage.lock()
        self._finish_earlier_process()
        record = self._record(_RUN_RECORD) or {}
        number = int(record.get("format", 0))
        if number not in range(1, _FORMAT_VERSION + 1):
            raise PipelineError(
                "checkpoint",
                f"{self.storage.path('')} was written in format {number}, this is "
                f"{_FORMAT_VERSION}",
                hint="use the version of pathcast that wrote it",
            )
        return number

    def write_format(self) -> None:
        """Record that the folder is in the current format."""
        record = self._record(_RUN_RECORD) or {}
        if record.get("format") != _FORMAT_VERSION:
            self._write(_RUN_RECORD, {**record, "format": _FORMAT_VERSION})

    def claim(self, identity: dict[str, str]) -> None:
        """Record that the folder belongs to this run, once the run's inputs exist."""
        if self._record(_RUN_RECORD) is None:
            self._write(_RUN_RECORD, {"format": _FORMAT_VERSION, **identity})

    def plan(self, batch: int) -> Plan | None:
        record = self._record(_record_name("log", batch))
        return None if record is None else Plan(record["version"], record["started"])

    def write_plan(self, batch: int, plan: Plan) -> None:
        self._write(_record_name("log", batch), {"batch": batch, **asdict(plan)})

    def planned_versions(self) -> set[str]:
        """Return the versions that plans name."""
        names = [name for name in self.storage.names("log") if name[0].isdigit()]
        records = (self._record(f"log/{name}") for name in names)
        return {str(record["version"]) for record in records if record is not None}

    def start_attempt(self, batch: int) -> str:
        """Remove earlier attempts at a batch; return the name of a folder for a new one."""
        self.storage.remove(_staging_folder(batch))
        return f"{_staging_folder(batch)}/{secrets.token_hex(4)}"

    def staged_outcome(self, batch: int) -> BatchOutcome | None:
        """Return the outcome of a batch that is staged and perhaps not published yet."""
        return _parse_outcome(self._record(f"{_staging_folder(batch)}/staged.json"))

    def write_staged_outcome(self, batch: int, outcome: BatchOutcome) -> None:
        """Record that everything of a batch is staged and on disk."""
        self._write(f"{_staging_folder(batch)}/staged.json", asdict(outcome))

    def staged_files(
        self, batch: int, staging: str, tables: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the names that the staged files of tables will have once they are published."""
        return {
            table: tuple(
                f"{batch:010}-{name}"
                for name in self.storage.names(f"{staging}/{table}")
                if name[0] not in "._"
            )
            for table in tables
        }

    def publish_tables(self, batch: int, outcome: BatchOutcome) -> None:
        self.storage.move_all(
            [
                (
                    f"{outcome.staging}/{table}/{name.removeprefix(f'{batch:010}-')}",
                    f"{table}/{name}",
                )
                for table, names in outcome.files.items()
                for name in names
            ]
        )

    def published_files(self, batch: int, table: str) -> tuple[str, ...]:
        """Return the published files of a batch."""
        prefix = f"{batch:010}-"
        return tuple(name for name in self.storage.names(table) if name.startswith(prefix))

    def write_done_outcome(self, batch: int, outcome: BatchOutcome) -> None:
        self._write(_record_name("done", batch), {"batch": batch, **asdict(outcome)})
        self.storage.remove(_staging_folder(batch))

    def done_outcome(self, batch: int) -> BatchOutcome | None:
        return _parse_outcome(self._record(_record_name("done", batch)))

    def outcomes(self) -> dict[int, BatchOutcome]:
        """Return the outcomes of all batches that are done; compacted batches have one together.

        Records are read in ascending order. A compaction replaces the last record of its batches
        before it removes the others, so this order sees the old records or the new one.
        """
        outcomes: dict[int, BatchOutcome] = {}
        for batch in self.done_batches():
            outcome = self.done_outcome(batch)
            if outcome is not None:
                if outcome.first is not None:
                    first = outcome.first
                    outcomes = {number: old for number, old in outcomes.items() if number < first}
                outcomes[batch] = outcome
        return outcomes

    def last_outcomes(self, count: int) -> list[BatchOutcome]:
        """Return the outcomes of the last batches, at most `count`; without compacted ones."""
        outcomes = map(self.done_outcome, self.done_batches()[-count:])
        return [outcome for outcome in outcomes if outcome is not None and outcome.first is None]

    def done_batches(self) -> list[int]:
        """Return the numbers of the records of done batches, sorted."""
        names = self.storage.names("done")
        return [int(name.removesuffix(".json")) for name in names if name[0].isdigit()]

    def table_files(self, table: str) -> list[str]:
        """Return the names of the files that hold the rows of done batches, each once."""
        return [
            f"{table}/{name}"
            for outcome in self.outcomes().values()
            for name in outcome.files.get(table, ())
        ]

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


def done_record(batch: int) -> str:
    """Return the name of the record of a done batch."""
    return _record_name("done", batch)


def _staging_folder(batch: int) -> str:
    return f"{_STAGING}/{_BATCH_PREFIX}{batch}"


def _record_name(folder: str, batch: int) -> str:
    return f"{folder}/{batch:010}.json"


def _parse_outcome(record: dict[str, Any] | None) -> BatchOutcome | None:
    if record is None:
        return None
    fields = {key: value for key, value in record.items() if key != "batch"}
    for name in ("tables", "versions"):
        fields[name] = tuple(fields.get(name, ()))
    files = fields.get("files", {})
    fields["files"] = {table: tuple(names) for table, names in files.items()}
    try:
        if fields.get("hashes") is not None:
            fields["hashes"] = HashTimes(**fields["hashes"])
        return BatchOutcome(**fields)
    except TypeError as error:
        raise PipelineError(
            "checkpoint", f"a record of a batch is of another format: {error}"
        ) from None
