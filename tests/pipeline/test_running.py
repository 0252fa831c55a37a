"""Runs end to end, once and as a stream, with crashes; the reference is a loop over `Matcher`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pathcast import Matcher
from pathcast.documents import Limits
from pathcast.errors import DocumentError, PathcastError, PipelineError
from pathcast.files import read_outbox, read_subscriptions
from pathcast.pipeline import batches
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.batches import BatchSettings
from pathcast.pipeline.partials import merge_partials, partial_rows
from pathcast.pipeline.partition_strategy import PartitionMode
from pathcast.pipeline.running import (
    BatchDone,
    ManyFilesStaged,
    PipelineRun,
    RunEvent,
    RunSpec,
    StrategyChosen,
    SubscriptionsLoaded,
    SubscriptionsRejected,
)
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.sinks.files import FileOutboxes
from pathcast.pipeline.sinks.segments import SegmentOutboxes
from pathcast.pipeline.sources import Source
from pathcast.pipeline.subscriptions import SubscriptionSource

pytestmark = pytest.mark.usefixtures("staging")

LIMITS = Limits()
SUBSCRIPTIONS: list[dict[str, object]] = [
    {"id": "all", "xpath": "//*", "subscriber": "archive"},
    {"id": "b", "xpath": "//b", "subscriber": "desk"},
    {"id": "b7", "xpath": "//b[. = 7]", "subscriber": "desk"},
    {"id": 4, "xpath": "/c"},
]
DOCUMENTS = {
    "1.xml": b"<a><b>7</b></a>",
    "2.xml": b"<a><b>8</b></a>",
    "deeper/3.xml": b"<c/>",
    "broken.xml": b"<c>",
}


def write_documents(folder: Path, documents: dict[str, bytes]) -> None:
    for name, body in documents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}")
        draft.write_bytes(body)
        draft.rename(file)


def write_subscriptions(file: Path, rows: Sequence[dict[str, object]]) -> Path:
    draft = file.with_name(f".{file.name}")
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows))
    draft.rename(file)
    return file


def segment_outboxes(out: str) -> Outbox:
    return SegmentOutboxes(Path(out, "segments"))


def file_outboxes(out: str) -> Outbox:
    return FileOutboxes(Path(out, "outboxes"))


def run_spec(tmp_path: Path, **settings: object) -> RunSpec:
    return RunSpec(
        SubscriptionSource(tmp_path / "s.jsonl"),
        Source(str(tmp_path / "in"), "files", LIMITS.size),
        str(tmp_path / "out"),
        BatchSettings(LIMITS, **settings),  # type: ignore[arg-type]
        make_outbox=segment_outboxes,
        batch_size=2,
    )


def expected_deliveries(
    file: Path, documents: dict[str, bytes]
) -> dict[tuple[str, str], list[str]]:
    """Return (document, subscriber) -> subscriptions, by a loop over `Matcher`."""
    matcher = Matcher()
    owner = {}
    for subscription in read_subscriptions(file):
        matcher.add(subscription.id, subscription.xpath, subscription.namespaces)
        owner[subscription.id] = str(subscription.subscriber)
    deliveries: dict[tuple[str, str], list[str]] = {}
    for name, body in documents.items():
        try:
            for id in matcher.match(body):
                deliveries.setdefault((name, owner[id]), []).append(str(id))
        except DocumentError:
            pass
    return {pair: sorted(ids) for pair, ids in deliveries.items()}


def read_deliveries(spark: SparkSession, out: Path) -> dict[tuple[str, str], list[str]]:
    rows = spark.read.parquet(str(out / "deliveries")).collect()
    deliveries = {(row.document, row.subscriber): row.subscriptions for row in rows}
    assert len(deliveries) == len(rows)
    return deliveries


def read_outboxes(out: Path) -> dict[tuple[str, str], bytes]:
    """Return (document, subscriber) -> body of all outboxes, files and segments."""
    bodies = {
        (file.name.split("#", 1)[-1].replace("%2F", "/"), file.parent.name): file.read_bytes()
        for file in (out / "outboxes").rglob("*")
        if file.is_file()
    }
    for index in (out / "segments").rglob("*.parquet"):
        for row in pq.ParquetFile(index).read().to_pylist():
            segment = (index.parent / f"_{row['segment']}.bodies").read_bytes()
            body = segment[row["offset"] : row["offset"] + row["length"]]
            assert (row["document"], row["subscriber"]) not in bodies
            bodies[row["document"], row["subscriber"]] = body
    return bodies


@pytest.mark.parametrize(
    ("partition", "make_outbox"),
    [
        ("auto", segment_outboxes),
        ("subscriptions", segment_outboxes),
        ("auto", file_outboxes),
        pytest.param("subscriptions", file_outboxes, marks=pytest.mark.deep),
    ],
)
def test_once(
    spark: SparkSession,
    tmp_path: Path,
    partition: PartitionMode,
    make_outbox: Callable[[str], Outbox],
) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    events: list[RunEvent] = []
    spec = replace(run_spec(tmp_path, structures=1.0), partition=partition, make_outbox=make_outbox)
    outcome = PipelineRun(spark, spec, events.append).run_once()
    expected = expected_deliveries(file, DOCUMENTS)
    assert read_deliveries(spark, tmp_path / "out") == expected
    assert read_outboxes(tmp_path / "out") == {pair: DOCUMENTS[pair[0]] for pair in expected}
    assert (outcome.documents, outcome.matched, outcome.unmatched, outcome.refused) == (4, 3, 0, 1)
    assert (outcome.matches, outcome.deliveries) == (7, len(expected))
    (error,) = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert (error.document, error.kind, error.place) == (
        "broken.xml",
        "malformed",
        "line 1, column 4",
    )
    documents = spark.read.parquet(str(tmp_path / "out/documents")).collect()
    assert {row.document: row.bytes for row in documents} == {
        name: len(body) for name, body in DOCUMENTS.items()
    }
    assert len({row.structure for row in documents}) == 3  # a(b), c, and unknown
    partials = pq.read_table(tmp_path / "out/partials").drop_columns(["batch"])
    expected_partials = partial_rows(tmp_path / "out", outcome.version).to_pylist()
    actual_partials = merge_partials(partials).to_pylist()
    assert sorted(actual_partials, key=repr) == sorted(expected_partials, key=repr)
    assert [type(event) for event in events] == [SubscriptionsLoaded, StrategyChosen, BatchDone]


def test_runs_do_not_share_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    PipelineRun(spark, run_spec(tmp_path), lambda _: None).run_once()
    with pytest.raises(PipelineError, match="results of an earlier run"):
        PipelineRun(spark, run_spec(tmp_path), lambda _: None).run_once()
    with pytest.raises(PipelineError, match=r"another run \(run: batch, here stream\)"):
        PipelineRun(spark, run_spec(tmp_path), lambda _: None).run_stream(
            threading.Event(), until_caught_up=True
        )


def test_stream_with_change_of_subscriptions(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    events: list[RunEvent] = []

    def run() -> None:
        PipelineRun(spark, run_spec(tmp_path), events.append).run_stream(
            threading.Event(), until_caught_up=True
        )

    run()
    first = expected_deliveries(file, DOCUMENTS)
    assert read_deliveries(spark, tmp_path / "out") == first
    assert len([event for event in events if isinstance(event, BatchDone)]) == 2

    file = write_subscriptions(tmp_path / "s.jsonl", [{"id": "c", "xpath": "//c"}])
    new_documents = {"4.xml": b"<c/>", "5.xml": b"<a><b/></a>"}
    write_documents(tmp_path / "in", new_documents)
    run()
    assert read_deliveries(spark, tmp_path / "out") == first | expected_deliveries(
        file, new_documents
    )
    assert read_outboxes(tmp_path / "out").keys() == read_deliveries(spark, tmp_path / "out").keys()
    versions = [event.version for event in events if isinstance(event, SubscriptionsLoaded)]
    rows = spark.read.parquet(str(tmp_path / "out/matches")).collect()
    assert {
        row.document: row.version for row in rows if row.batch < 2
    }.keys() == DOCUMENTS.keys() - {"broken.xml"}
    assert {row.version for row in rows if row.batch < 2} == {versions[0]}
    assert {row.version for row in rows if row.batch == 2} == {versions[1]}


def test_stream_runs_until_stopped(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    stopping = threading.Event()
    events: list[RunEvent] = []

    def on_event(event: RunEvent) -> None:
        """Each batch triggers the next change; the last one stops the stream."""
        events.append(event)
        match len([seen for seen in events if isinstance(seen, BatchDone)]), event:
            case 2, BatchDone():
                file.write_text("{]")
                write_documents(tmp_path / "in", {"6.xml": b"<c/>"})
            case 3, BatchDone():
                write_subscriptions(file, [{"id": "new", "xpath": "//c"}])
                write_documents(tmp_path / "in", {"7.xml": b"<c/>"})
            case 4, BatchDone():
                stopping.set()

    PipelineRun(spark, run_spec(tmp_path), on_event).run_stream(stopping)
    deliveries = read_deliveries(spark, tmp_path / "out")
    assert deliveries["6.xml", "4"] == ["4"]  # the old subscriptions stayed in use
    assert {pair for pair in deliveries if pair[0] == "7.xml"} == {("7.xml", "new")}
    assert len([event for event in events if isinstance(event, SubscriptionsRejected)]) == 1


class Crash(Exception):
    pass


@pytest.mark.parametrize(
    ("method", "after", "make_outbox"),
    [
        ("write_plan", False, segment_outboxes),
        ("start_attempt", False, segment_outboxes),
        ("write_staged_outcome", False, segment_outboxes),
        ("publish_tables", False, segment_outboxes),
        ("publish_tables", False, file_outboxes),
        ("write_done_outcome", False, segment_outboxes),
        ("write_done_outcome", True, segment_outboxes),
    ],
)
def test_batch_resumes_after_a_crash(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    after: bool,
    make_outbox: Callable[[str], Outbox],
) -> None:
    """It crashes at `place`, subscriptions change and a subscriber removes its files; then it
    resumes.
    """
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    expected = expected_deliveries(file, DOCUMENTS)
    real = getattr(BatchLog, method)

    def crash(self: BatchLog, *arguments: object) -> object:
        if after:
            real(self, *arguments)
        raise Crash

    spec = replace(run_spec(tmp_path), batch_size=10, make_outbox=make_outbox)
    with monkeypatch.context() as patch:
        patch.setattr(BatchLog, method, crash)
        with pytest.raises(PathcastError):
            PipelineRun(spark, spec, lambda _: None).run_stream(
                threading.Event(), until_caught_up=True
            )
    removed = read_outboxes(tmp_path / "out")
    for path in [*tmp_path.glob("out/outboxes/*/*"), *tmp_path.glob("out/segments/*/*")]:
        path.unlink()
    write_subscriptions(tmp_path / "s.jsonl", [{"id": "c", "xpath": "//c"}])
    PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)
    if method == "write_plan":  # without a plan, the new subscriptions apply
        expected = expected_deliveries(file, DOCUMENTS)
    assert read_deliveries(spark, tmp_path / "out") == expected
    present = read_outboxes(tmp_path / "out")
    assert not removed.keys() & present.keys()
    assert removed.keys() | present.keys() == expected.keys()
    assert not list((tmp_path / "out/_staging").iterdir())


def test_repeats(spark: SparkSession, tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS | {"again.xml": DOCUMENTS["1.xml"]})
    events: list[RunEvent] = []

    def run() -> None:
        PipelineRun(spark, run_spec(tmp_path, dedupe=3600.0), events.append).run_stream(
            threading.Event(), until_caught_up=True
        )

    run()
    write_documents(tmp_path / "in", {"later.xml": DOCUMENTS["2.xml"], "new.xml": b"<x/>"})
    run()
    done = [event.outcome for event in events if isinstance(event, BatchDone)]
    assert sum(outcome.repeated for outcome in done) == 2
    for outcome in done:
        assert (
            outcome.documents
            == outcome.matched + outcome.unmatched + outcome.refused + outcome.repeated
        )
    rows = spark.read.parquet(str(tmp_path / "out/repeats")).collect()
    assert {frozenset((row.document, row.of)) for row in rows} == {
        frozenset(("again.xml", "1.xml")),
        frozenset(("later.xml", "2.xml")),
    }


def test_an_id_that_comes_again_is_delivered_again(spark: SparkSession, tmp_path: Path) -> None:
    """A later batch overwrites nothing in outboxes."""
    write_subscriptions(tmp_path / "s.jsonl", [{"id": "all", "xpath": "/*"}])
    rows = [{"id": "7", "body": "<a/>"}, {"id": "7", "body": "<b/>"}]
    for kind, make_outbox in (("files", file_outboxes), ("segments", segment_outboxes)):
        spec = replace(
            run_spec(tmp_path),
            source=Source(str(tmp_path / kind), "bodies", LIMITS.size),
            out=str(tmp_path / f"out-{kind}"),
            make_outbox=make_outbox,
            batch_size=1,
        )
        for number, row in enumerate(rows):
            write_documents(tmp_path / kind, {f"{number}.jsonl": json.dumps(row).encode()})
            PipelineRun(spark, spec, lambda _: None).run_stream(
                threading.Event(), until_caught_up=True
            )
        entries = read_outbox(spec.out, "all")
        assert [(entry.batch, entry.document, entry.read()) for entry in entries] == [
            (0, "7", b"<a/>"),
            (1, "7", b"<b/>"),
        ]


def test_no_outboxes_and_no_table_of_deliveries(spark: SparkSession, tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    spec = replace(run_spec(tmp_path, deliveries=False), make_outbox=None)
    outcome = PipelineRun(spark, spec, lambda _: None).run_once()
    assert (outcome.matched, outcome.deliveries) == (3, None)
    assert not {"deliveries", "segments", "outboxes"} & set(os.listdir(tmp_path / "out"))
    spec = replace(run_spec(tmp_path, deliveries=False), out=str(tmp_path / "second"))
    outcome = PipelineRun(spark, spec, lambda _: None).run_once()
    assert outcome.deliveries == len(read_outboxes(tmp_path / "second")) == 6
    assert not (tmp_path / "second/deliveries").exists()


def test_a_batch_of_many_files_is_reported(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_MAX_FILES", 5)
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    events: list[RunEvent] = []
    spec = replace(run_spec(tmp_path), make_outbox=file_outboxes)
    PipelineRun(spark, spec, events.append).run_once()
    assert [event for event in events if isinstance(event, ManyFilesStaged)] == [
        ManyFilesStaged(0, 6)
    ]


def test_staged_deliveries_are_not_left_behind(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that resumes with other outboxes is refused until the staged batch is published."""
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    spec = replace(run_spec(tmp_path), make_outbox=file_outboxes)

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(FileOutboxes, "publish", crash)
        with pytest.raises(PathcastError):
            PipelineRun(spark, spec, lambda _: None).run_once()
    for make_outbox in (None, segment_outboxes):
        with pytest.raises(PipelineError, match=r"staged for other outboxes \(files\)"):
            PipelineRun(spark, replace(spec, make_outbox=make_outbox), lambda _: None).run_once()
    PipelineRun(spark, spec, lambda _: None).run_once()
    assert len(read_outboxes(tmp_path / "out")) == 6


def test_rejected_deliveries_are_listed_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run crashes after it published them, and resumes."""
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    schema = (
        "document string, subscribers array<string>, kind string, message string, version string"
    )
    rejected = spark.createDataFrame([("1.xml", ["archive", "desk"], "size", "long", "v")], schema)
    monkeypatch.setattr(FileOutboxes, "undeliverable", lambda *_: rejected)
    spec = replace(run_spec(tmp_path), make_outbox=lambda out: FileOutboxes(Path(out, "outboxes")))
    with monkeypatch.context() as patch:
        patch.setattr(BatchLog, "write_done_outcome", crash)
        with pytest.raises(PathcastError):
            PipelineRun(spark, spec, lambda _: None).run_once()
    outcome = PipelineRun(spark, spec, lambda _: None).run_once()
    assert outcome.undelivered == 2
    table = pq.read_table(tmp_path / "out/undelivered")
    assert table.select(["document", "subscribers", "batch"]).to_pylist() == [
        {"document": "1.xml", "subscribers": ["archive", "desk"], "batch": 0}
    ]
    (name,) = outcome.files["undelivered"]
    assert (tmp_path / "out/undelivered" / name).exists()


def crash(*_: object) -> None:
    raise Crash
