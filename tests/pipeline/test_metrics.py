"""Metrics of a run: totals, records of batches, and the text format of Prometheus."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.cli.metrics_options import MetricsOptions
from pathcast.cli.run_output import batch_line
from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchOutcome
from pathcast.pipeline.metrics import (
    Metric,
    RunTotals,
    StepTimer,
    batch_record,
    metrics_of,
    prometheus_text,
)
from pathcast.pipeline.metrics_server import MetricsServer

FIRST = BatchOutcome(
    version="v1",
    documents=10,
    matched=7,
    unmatched=1,
    refused=2,
    refusals={"malformed": 1, "size": 1},
    bytes=5_000_000,
    matches=30,
    deliveries=12,
    seconds=5.0,
    steps={"plan": 1.0, "stage": 3.5, "publish": 0.5},
)
SECOND = BatchOutcome(
    version="v2",
    documents=100,
    matched=99,
    refused=1,
    refusals={"malformed": 1},
    bytes=20_000_000,
    matches=300,
    deliveries=120,
    seconds=0.5,
    steps={"plan": 0.1, "stage": 0.3, "publish": 0.1},
    lag=1.25,
)


def totals() -> RunTotals:
    totals = RunTotals()
    totals.add(0, FIRST, at=1_000.0)
    totals.add(1, SECOND, at=1_002.5)
    return totals


def test_the_rate_is_that_of_the_steady_state() -> None:
    """The first batch contains the start of Java and of the workers."""
    single = RunTotals()
    single.add(0, FIRST, at=1_000.0)
    assert (single.rate, single.megabytes_per_second) == (2, 1)
    assert (totals().rate, totals().megabytes_per_second) == (200, 40)
    assert RunTotals().rate == 0


def test_totals_add_up() -> None:
    summed = totals()
    assert (summed.batches, summed.documents, summed.matches) == (2, 110, 330)
    assert summed.refusals == {"malformed": 2, "size": 1}
    assert summed.steps == {"plan": 1.1, "stage": 3.8, "publish": 0.6}
    assert summed.versions == ["v1", "v2"]
    assert summed.lag == 1.25


def test_record_of_a_batch() -> None:
    record = json.loads(json.dumps(batch_record(1, SECOND, at=1_002.5)))
    assert record["time"] == "1970-01-01T00:16:42.500+00:00"
    assert (record["batch"], record["documents"], record["seconds"]) == (1, 100, 0.5)
    assert record["refusals"] == {"malformed": 1}
    assert record["steps"] == {"plan": 0.1, "stage": 0.3, "publish": 0.1}
    assert (record["bytes"], record["deliveries"], record["lag"]) == (20_000_000, 120, 1.25)


def test_prometheus_text_of_a_run() -> None:
    lines = prometheus_text(metrics_of(totals())).splitlines()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert samples['pathcast_documents_total{outcome="matched"}'] == "106"
    assert samples['pathcast_refused_total{kind="malformed"}'] == "2"
    assert float(samples['pathcast_step_seconds_total{step="stage"}']) == 3.8
    assert samples["pathcast_batch_seconds"] == "0.5"
    assert samples["pathcast_lag_seconds"] == "1.25"
    assert "# TYPE pathcast_documents_total counter" in lines
    assert "# TYPE pathcast_batch_seconds gauge" in lines


def test_a_run_without_batches_has_metrics() -> None:
    text = prometheus_text(metrics_of(RunTotals()))
    assert "pathcast_batches_total 0\n" in text
    assert "lag" not in text


@given(st.text())
def test_labels_are_escaped(label: str) -> None:
    """A label value stays on its line, and unescaping it gives the text again."""
    text = prometheus_text([Metric("a", "A.", {(("kind", label),): 1})])
    assert text.count("\n") == 3
    quoted = text.split("\n")[2].removeprefix('pathcast_a{kind="').removesuffix('"} 1')
    escapes = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
    assert re.sub(r"\\.", lambda match: escapes[match[0]], quoted) == label


def test_steps_are_consecutive() -> None:
    timer = StepTimer()
    timer.end("plan")
    timer.end("stage")
    assert list(timer.seconds) == ["plan", "stage"]
    assert all(seconds >= 0 for seconds in timer.seconds.values())


def fetch(address: str) -> tuple[int, str, str]:
    try:
        with urlopen(address) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def test_server_answers_with_the_last_text() -> None:
    server = MetricsServer("127.0.0.1", 0)
    try:
        server.publish("a 1\n")
        server.publish("a 2\n")
        assert fetch(server.address) == (200, "text/plain; version=0.0.4; charset=utf-8", "a 2\n")
        status, _, _ = fetch(server.address.replace("metrics", "other"))
        assert status == 404
        with pytest.raises(PipelineError, match="cannot listen on 127"):
            MetricsServer("127.0.0.1", int(server.address.split(":")[2].split("/")[0]))
    finally:
        server.close()


def test_options_open_a_file_and_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = MetricsOptions(metrics=tmp_path / "m.jsonl", metrics_port="0")
    for batch in range(2):  # a restarted run appends
        with options.open() as record:
            address = capsys.readouterr().err.split()[-1]
            assert "pathcast_batches_total 0\n" in fetch(address)[2]
            run_totals = RunTotals()
            run_totals.add(batch, SECOND)
            record(run_totals)
            assert "pathcast_batches_total 1\n" in fetch(address)[2]
    records = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert [record["batch"] for record in records] == [0, 1]


def test_failing_file_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    with MetricsOptions(metrics=Path("/dev/full")).open() as record:
        record(totals())
        record(totals())
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_line_of_a_batch_shows_its_own_time_and_rate() -> None:
    assert batch_line(7, SECOND) == (
        "batch 7: 100 documents in 0.50 s, 200/s, 40.00 MB/s, 300 matches, 1 refused, lag 1.2 s"
    )
    assert "lag" not in batch_line(0, FIRST)
