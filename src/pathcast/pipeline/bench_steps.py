"""The Spark part of `pathcast bench pipeline`: document tables, and the steps that it measures.

    bodies -> write_documents -> a table in several files -> BenchApplication.run_step -> a sink

Only the benchmark uses this module. It is part of the pipeline because no other package may import
Spark or pyarrow.

A step includes everything from the files to the sink. Each step reads the table again, and steps
share only the version that a worker keeps in memory. `read` only reads, as the baseline; `noop`
discards the matches, with ids as arrays; `matches` writes them; `deliveries` writes one row per
delivery.

Workers record the CPU time of matching itself, one file per task. The rest of a step is Spark's
overhead.

>>> sorted(STEPS)
['deliveries', 'matches', 'noop', 'read']
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.documents import Limits
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.batches import BatchRunner, BatchSettings
from pathcast.pipeline.matching import match_documents, matches_table
from pathcast.pipeline.partition_strategy import PartitionMode, PartitionStrategy
from pathcast.pipeline.partitioning import PartitionedMatcher
from pathcast.pipeline.routes import ROUTES_DDL, deliveries
from pathcast.pipeline.session import open_session
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.versions import Version, VersionCompiler, VersionStore
from pathcast.pipeline.worker import MatchTask, cached_version, match_batches

__all__ = [
    "STEPS",
    "BatchFigures",
    "BenchApplication",
    "read_bodies",
    "write_documents",
]

_DOCUMENT_TIME: Final = datetime(2024, 1, 1, tzinfo=UTC)
_DOCUMENTS_DDL: Final = (
    "id string, body binary, source string, time timestamp, "
    "fault struct<kind:string,message:string>"
)
_DOCUMENTS_SCHEMA: Final = pa.schema(
    [
        ("id", pa.string()),
        ("body", pa.binary()),
        ("source", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("fault", pa.struct([("kind", pa.string()), ("message", pa.string())])),
    ]
)


def write_documents(bodies: Sequence[bytes], folder: Path, files: int) -> list[str]:
    """Write documents as a table and return its files, which differ by at most one document.

    The files are uncompressed: decompression (10 us per document with Snappy) is not part of
    Spark's overhead.
    """
    paths = []
    for file_number in range(files):
        positions = range(
            file_number * len(bodies) // files, (file_number + 1) * len(bodies) // files
        )
        columns = [
            pa.array([f"document-{position}" for position in positions], pa.string()),
            pa.array([bodies[position] for position in positions], pa.binary()),
            pa.array(["bench"] * len(positions), pa.string()),
            pa.array([_DOCUMENT_TIME] * len(positions), _DOCUMENTS_SCHEMA.field("time").type),
            pa.nulls(len(positions), _DOCUMENTS_SCHEMA.field("fault").type),
        ]
        paths.append(str(folder / f"{file_number:03}.parquet"))
        pq.write_table(pa.table(columns, schema=_DOCUMENTS_SCHEMA), paths[-1], compression="none")
    return paths


def read_bodies(files: Sequence[str]) -> list[bytes]:
    """Return the documents of a table, in order."""
    return [
        body
        for file in files
        for body in pq.read_table(file, columns=["body"]).column("body").to_pylist()
    ]


@dataclass(slots=True)
class BenchApplication:
    """A Spark application that runs steps with one version; the first match sets `strategy`."""

    session: SparkSession
    version: Version
    out: Path
    mode: PartitionMode
    strategy: PartitionStrategy | None = None
    _matcher: PartitionedMatcher = field(init=False)
    _tables: dict[tuple[str, ...], DataFrame] = field(default_factory=dict)
    _runners: dict[str, BatchRunner] = field(default_factory=dict)
    batches: int = 0

    def __post_init__(self) -> None:
        self._matcher = PartitionedMatcher(self.session, self.mode, self._note)

    @classmethod
    def start(
        cls, version: Version, out: Path, mode: PartitionMode, master: str
    ) -> BenchApplication:
        return cls(open_session(master), version, out, mode)

    def _note(self, _version: Version, strategy: PartitionStrategy) -> None:
        self.strategy = strategy

    def run_step(self, step: str, files: Sequence[str]) -> float:
        """Run one of `STEPS` on the documents of some files; return the CPU seconds of matching."""
        with TemporaryDirectory(prefix="pathcast-") as times:
            STEPS[step](self, self._table(files), Path(times))
            return sum(float(record.read_text()) for record in Path(times).iterdir())

    def count(self, files: Sequence[str]) -> int:
        """Return the number of matches."""
        row = self.matches(self._table(files)).agg(F.sum(F.size("subscriptions")))
        return int(row.collect()[0][0] or 0)

    def _table(self, files: Sequence[str]) -> DataFrame:
        """Return the table of some files; list each set of files once."""
        key = tuple(files)
        if key not in self._tables:
            self._tables[key] = self.session.read.schema(_DOCUMENTS_DDL).parquet(*files)
        return self._tables[key]

    def matches(self, documents: DataFrame) -> DataFrame:
        task = MatchTask(self.version.name, self.version.file)
        return matches_table(self._matcher.match(documents, self.version, task))

    def timed_matches(self, documents: DataFrame, times: Path) -> DataFrame:
        """Match in workers that hold all subscriptions and record their CPU time in a folder."""
        self.version.ship(self.session.sparkContext)
        task = MatchTask(self.version.name, self.version.file)
        return matches_table(
            match_documents(documents, task, partial(_match_and_record_time, folder=str(times)))
        )

    def deliveries(self, documents: DataFrame, times: Path) -> DataFrame:
        routes = self.session.read.schema(ROUTES_DDL).parquet(str(self.version.routes))
        return deliveries(self.timed_matches(documents, times), routes)

    def run_batch(self, files: Sequence[str], way: str) -> BatchFigures:
        """Run a batch in `one pass` or in `several passes`, from its plan to its outcome."""
        if way not in self._runners:
            self._runners[way] = self._open_runner(way)
        self.batches += 1
        context = self.session.sparkContext
        group = f"batch-{self.batches}"
        context.setJobGroup(group, group)
        outcome = self._runners[way].run(
            self.batches, self._table(files), lambda: self.version.name
        )
        jobs = len(context.statusTracker().getJobIdsForGroup(group))
        return BatchFigures(
            jobs, outcome.matches, outcome.deliveries or 0, outcome.matching_seconds
        )

    def _open_runner(self, way: str) -> BatchRunner:
        folder = self.out / way.replace(" ", "-")
        folder.mkdir(parents=True)
        storage = LocalStorage(folder)
        versions = VersionStore(storage, VersionCompiler(folder))
        versions.put(self.version)
        return BatchRunner(
            self.session,
            BatchLog(storage),
            versions,
            BatchSettings(Limits(), one_pass=way != "several passes"),
            PartitionedMatcher(self.session, self.mode, self._note),
            None,
            lambda *_: None,
        )

    def count_rows(self, table: str) -> int:
        """Read a table of a result folder and count its rows."""
        return self.session.read.parquet(table).select("document").distinct().count()

    def stop(self) -> None:
        self.session.stop()


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """What a batch did: Spark jobs, counts, and the CPU seconds of matching."""

    jobs: int
    matches: int
    deliveries: int
    matching: float


def _match_and_record_time(
    batches: Iterator[pa.RecordBatch], task: MatchTask, folder: str
) -> Iterator[pa.RecordBatch]:
    """Match in a worker, and write the CPU seconds that matching took to a file."""
    sizer = cached_version(task.file, task.limits, task.deadline).sizer
    seconds_before = sizer.matching_seconds
    yield from match_batches(batches, task)
    Path(folder, secrets.token_hex(8)).write_text(repr(sizer.matching_seconds - seconds_before))


def _read_step(_: BenchApplication, documents: DataFrame, __: Path) -> None:
    _discard(documents)


def _noop_step(application: BenchApplication, documents: DataFrame, times: Path) -> None:
    _discard(application.timed_matches(documents, times))


def _matches_step(application: BenchApplication, documents: DataFrame, times: Path) -> None:
    _write(application.timed_matches(documents, times), application.out / "matches")


def _deliveries_step(application: BenchApplication, documents: DataFrame, times: Path) -> None:
    _write(application.deliveries(documents, times), application.out / "deliveries")


def _discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _write(rows: DataFrame, folder: Path) -> None:
    rows.write.mode("overwrite").parquet(str(folder))


STEPS: Final[Mapping[str, Callable[[BenchApplication, DataFrame, Path], None]]] = {
    "read": _read_step,
    "noop": _noop_step,
    "matches": _matches_step,
    "deliveries": _deliveries_step,
}
