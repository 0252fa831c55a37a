"""A result folder of format 1, as an earlier pathcast wrote it: `data/format-1`.

A stream had delivered two documents to files. `FEED` stands for the folder of documents.
"""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.files import read_outbox
from pathcast.pipeline.compaction import CompactionSettings, compact
from pathcast.pipeline.running import PipelineRun, RunSpec
from tests.pipeline.test_running import (
    file_outboxes,
    read_deliveries,
    run_spec,
    segment_outboxes,
    write_documents,
    write_subscriptions,
)

DATA = Path(__file__).parent / "data" / "format-1"
SUBSCRIPTIONS: list[dict[str, object]] = [
    {"id": "ann", "xpath": "//person[. = 'Ann']", "subscriber": "desk"},
    {"id": "everything", "xpath": "/*", "subscriber": "archive"},
]
ANN = b'<news lang="en"><person>Ann</person></news>\n'
BOB = b'<news lang="fr"><person>Bob</person></news>\n'
OLD_DELIVERIES = {
    ("1.xml", "archive"): ["everything"],
    ("1.xml", "desk"): ["ann"],
    ("2.xml", "archive"): ["everything"],
}


@pytest.fixture
def spec(tmp_path: Path) -> RunSpec:
    """Return the run of a copy of the folder."""
    shutil.copytree(DATA, tmp_path / "out")
    for name in ("pathcast.json", "checkpoint/sources/0/0"):
        path = tmp_path / "out" / name
        path.write_text(path.read_text().replace("FEED", str(tmp_path / "in")))
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", {"1.xml": ANN, "2.xml": BOB})
    return run_spec(tmp_path)


def outbox(out: str, subscriber: str) -> list[tuple[int | None, str, bytes]]:
    return [(entry.batch, entry.document, entry.read()) for entry in read_outbox(out, subscriber)]


def test_outboxes_are_read(spec: RunSpec) -> None:
    assert outbox(spec.out, "desk") == [(None, "1.xml", ANN)]
    assert outbox(spec.out, "archive") == [(None, "1.xml", ANN), (None, "2.xml", BOB)]


def test_a_stream_continues_once_it_is_converted(
    spark: SparkSession, tmp_path: Path, spec: RunSpec
) -> None:
    """It reads no document again, and leaves the old files in place."""
    write_documents(tmp_path / "in", {"3.xml": ANN})
    file_spec = replace(spec, make_outbox=file_outboxes)

    def run_stream(spec: RunSpec) -> None:
        PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)

    with pytest.raises(PipelineError, match="format 1, this is 2") as caught:
        run_stream(file_spec)
    assert "pathcast compact" in str(caught.value)
    compact(Path(spec.out), CompactionSettings())
    run_stream(file_spec)
    write_documents(tmp_path / "in", {"4.xml": BOB})
    run_stream(replace(spec, make_outbox=segment_outboxes))
    assert read_deliveries(spark, Path(spec.out)) == OLD_DELIVERIES | {
        ("3.xml", "archive"): ["everything"],
        ("3.xml", "desk"): ["ann"],
        ("4.xml", "archive"): ["everything"],
    }
    assert outbox(spec.out, "desk") == [(None, "1.xml", ANN), (1, "3.xml", ANN)]
    assert outbox(spec.out, "archive") == [
        (None, "1.xml", ANN),
        (None, "2.xml", BOB),
        (1, "3.xml", ANN),
        (2, "4.xml", BOB),
    ]
