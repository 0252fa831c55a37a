"""One-pass staging: task attempts that fail or run twice, repeated ids, and empty batches.

The workers' functions are wrapped so that attempts fail or stop after they wrote their files. Every
published row must come from exactly one attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from pathcast.documents import Limits
from pathcast.errors import PipelineError
from pathcast.files import Subscription
from pathcast.pipeline import one_pass, stage_worker
from pathcast.pipeline.one_pass import stage_in_one_pass
from pathcast.pipeline.spark_errors import to_pipeline_error
from pathcast.pipeline.stage_worker import StageTask
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from pathcast.pipeline.task_files import StagedFile, TableWriter, TaskManifest
from pathcast.pipeline.versions import Version, compile_version
from pathcast.pipeline.worker import MatchTask

DOCUMENTS_DDL = (
    "id string, body binary, source string, time timestamp, "
    "fault struct<kind:string,message:string>"
)
TABLES = ("documents", "matches", "deliveries")
Row = tuple[str, bytes | None, str, None, tuple[str, str] | None]


def row(id: str, body: bytes | None = b"<a/>", fault: tuple[str, str] | None = None) -> Row:
    return (id, body, "here", None, fault)


@pytest.fixture
def version(spark: SparkSession, tmp_path: Path) -> Version:
    rows = [Subscription(1, "//a", subscriber="ann"), Subscription(2, "//b", subscriber="bob")]
    version = compile_version(rows, tmp_path / "versions")
    version.ship(spark.sparkContext)
    return version


def stage_task(version: Version, folder: Path, **options: bool) -> StageTask:
    match = MatchTask(version.name, version.file, Limits(), routes=version.routes_file)
    return StageTask(match, 0, str(folder), **options)  # type: ignore[arg-type]


def staged_rows(folder: Path, table: str) -> Counter[str]:
    """Count the rows of each document in a staged table."""
    files = sorted((folder / table).iterdir())
    return Counter(id for file in files for id in pq.read_table(file)["document"].to_pylist())


def fail_first_attempts(
    batches: Iterator[pa.RecordBatch], task: StageTask
) -> Iterator[pa.RecordBatch]:
    """Write all files, and lose the manifest of the first two attempts at every task."""
    manifest = list(stage_worker.stage_batches(batches, task))
    context = TaskContext.get()
    if context is not None and context.attemptNumber() < 2:
        raise RuntimeError("the worker fails after its last file")
    yield from manifest


def test_files_of_failed_attempts_are_not_published(
    spark: SparkSession, tmp_path: Path, version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_pass, "stage_batches", fail_first_attempts)
    rows = [row(f"{number}.xml") for number in range(20)] + [row("bad.xml", b"<")]
    documents = spark.createDataFrame(rows, DOCUMENTS_DDL).repartition(3)
    folder = tmp_path / "staging"
    manifest = stage_in_one_pass(documents, stage_task(version, folder), TABLES)
    assert (manifest.documents, manifest.matched, dict(manifest.refused)) == (
        *(21, 20),
        {"malformed": 1},
    )
    assert len(list((folder / "tasks").iterdir())) >= 2 * len(TABLES)
    good = Counter(f"{number}.xml" for number in range(20))
    assert staged_rows(folder, "documents") == good + Counter(["bad.xml"])
    assert staged_rows(folder, "matches") == staged_rows(folder, "deliveries") == good
    assert staged_rows(folder, "errors") == Counter(["bad.xml"])


def run_twice(batches: Iterator[pa.RecordBatch], task: StageTask) -> Iterator[pa.RecordBatch]:
    """Do the work of a speculative copy as well, under another attempt id."""
    kept = list(batches)
    copy = stage_worker._TaskStage(task, 0, "copy-of-" + str(id(kept)))
    for batch in kept:
        copy.add(batch)
    copy.close()
    yield from stage_worker.stage_batches(iter(kept), task)


def test_files_of_speculative_copies_are_not_published(
    spark: SparkSession, tmp_path: Path, version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_pass, "stage_batches", run_twice)
    documents = spark.createDataFrame([row("1"), row("2")], DOCUMENTS_DDL).repartition(2)
    folder = tmp_path / "staging"
    stage_in_one_pass(documents, stage_task(version, folder), TABLES)
    for table in TABLES:
        assert staged_rows(folder, table) == Counter(["1", "2"])


def lose_folder(batches: Iterator[pa.RecordBatch], task: StageTask) -> Iterator[pa.RecordBatch]:
    """Write to another folder, as on a machine that does not see the result folder."""
    hidden = replace(task, folder=task.folder + "-elsewhere")
    yield from stage_worker.stage_batches(batches, hidden)


def test_tasks_do_not_create_the_staging_folder(
    spark: SparkSession, tmp_path: Path, version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_pass, "stage_batches", lose_folder)
    documents = spark.createDataFrame([row("1")], DOCUMENTS_DDL)
    folder = tmp_path / "_staging" / "batch=0"
    with pytest.raises(Exception, match="No such file") as caught:
        stage_in_one_pass(documents, stage_task(version, folder), TABLES)
    error = to_pipeline_error(caught.value)
    assert (error.kind, error.hint) == (
        "output",
        "all machines must see the folder of results under the same name",
    )
    assert not (tmp_path / "_staging" / "batch=0-elsewhere").exists()


def test_repeated_ids_are_refused_once_each(
    spark: SparkSession, tmp_path: Path, version: Version
) -> None:
    """The first readable document with an id is accepted, whatever task has the others."""
    rows = [
        *(row("x"), row("y"), row("x", b"<b/>"), row("x")),
        *(row("z", None, ("size", "large")), row("z"), row("y", b"<")),
    ]
    documents = spark.createDataFrame(rows, DOCUMENTS_DDL).repartition(3)
    folder = tmp_path / "staging"
    manifest = stage_in_one_pass(documents, stage_task(version, folder, digest_ids=True), TABLES)
    assert manifest.documents == 7
    assert manifest.refused["duplicate"] == 3
    assert staged_rows(folder, "documents") == Counter(x=3, y=2, z=2)
    assert staged_rows(folder, "errors") + staged_rows(folder, "matches") == Counter(x=3, y=2, z=2)
    assert staged_rows(folder, "matches")["x"] == staged_rows(folder, "matches")["z"] == 1


def change_order(
    batches: Iterator[pa.RecordBatch], task: StageTask, folder: str
) -> Iterator[pa.RecordBatch]:
    """Read other documents in every pass, as from files that are changed in place."""
    passes = Path(folder, "passes")
    number = int(passes.read_text()) if passes.exists() else 0
    passes.write_text(str(number + 1))
    for batch in batches:
        ids = [f"{id}-{number // 2}" for id in batch.column("id").to_pylist()]
        changed = batch.set_column(0, "id", pa.array(ids, pa.string()))
        yield from stage_worker.stage_batches(iter([changed]), task)


def test_ids_that_change_between_passes(
    spark: SparkSession, tmp_path: Path, version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing = partial(change_order, folder=str(tmp_path))
    monkeypatch.setattr(one_pass, "stage_batches", changing)
    monkeypatch.setattr(one_pass, "_MAX_PASSES", 2)
    documents = spark.createDataFrame([row("x"), row("x")], DOCUMENTS_DDL).coalesce(1)
    task = stage_task(version, tmp_path / "staging", digest_ids=True)
    manifest = stage_in_one_pass(documents, task, TABLES)  # both passes read the same ids
    assert manifest.refused == {"duplicate": 1}
    (tmp_path / "passes").write_text("1")  # and here they differ
    with pytest.raises(PipelineError, match="change while they are read"):
        stage_in_one_pass(documents, stage_task(version, tmp_path / "s2", digest_ids=True), TABLES)


def test_empty_batch_has_all_tables(spark: SparkSession, tmp_path: Path, version: Version) -> None:
    documents = spark.createDataFrame([], DOCUMENTS_DDL)
    manifest = stage_in_one_pass(documents, stage_task(version, tmp_path / "staging"), TABLES)
    assert manifest == TaskManifest(refused=Counter())
    for table in TABLES:
        assert staged_rows(tmp_path / "staging", table) == Counter()


def test_manifests_add_up() -> None:
    first = TaskManifest((StagedFile("matches", "m-1", 2),), 3, 1, 1, {"size": 1}, latest=5.0)
    second = TaskManifest((StagedFile("matches", "m-2", 1),), 2, 1, 0, {"size": 1}, 1, latest=None)
    both = TaskManifest.from_json(first.to_json()) + TaskManifest.from_json(second.to_json())
    assert both.files == first.files + second.files
    assert (both.documents, both.matched, both.undecided, both.latest) == (5, 2, 1, 5.0)
    assert both.refused == {"size": 2}


def test_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of a task does not grow with the number of its documents."""
    monkeypatch.setattr("pathcast.pipeline.task_files._ROW_GROUP_BYTES", 1_000)
    (tmp_path / "tasks").mkdir()
    writer = TableWriter(tmp_path, "7")
    batch = pa.RecordBatch.from_pydict(
        {
            "document": ["x" * 100],
            "source": [None],
            "time": pa.nulls(1, pa.timestamp("us", tz="UTC")),
            "bytes": [1],
            "structure": pa.nulls(1, pa.string()),
            "batch": [0],
        }
    ).cast(TABLE_SCHEMAS["documents"])
    for _ in range(50):
        writer.append("documents", batch)
    assert writer.close() == [StagedFile("documents", "documents-7.parquet", 50)]
    file = pq.ParquetFile(tmp_path / "tasks" / "documents-7.parquet")
    assert (file.metadata.num_rows, file.num_row_groups > 4) == (50, True)
