"""Exactly-once delivery under kills: the driver is killed repeatedly and restarted.

The driver is killed when a file appears in its folder (a plan, a staged table, a staged batch, a
delivery, a finished batch), or shortly after. Meanwhile a subscriber takes deliveries away as soon
as they arrive: its files, or whole batches of segments. None may arrive twice.

The last process is not killed. It waits for more documents, is interrupted, and ends cleanly. This
is one test because starting a driver takes longer than all of its work.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pathcast.files import read_outbox
from tests.pipeline.test_running import (
    expected_deliveries,
    read_deliveries,
    write_documents,
    write_subscriptions,
)

SIGNS = (
    "log/*.json",
    "_staging/*/*/matches",
    "_staging/*/staged.json",
    "done/*.json",
)
DELIVERY_SIGNS = {"segments": "segments/*", "files": "outboxes/*/*"}
COUNTS = ("documents", "matched", "unmatched", "refused", "matches", "deliveries")
WATCHDOG = 300  # seconds for one process


class Driver:
    """`pathcast run` as a process, and the subscriber `desk` that takes its deliveries away."""

    def __init__(self, folder: Path, batch: int, deliver: str) -> None:
        self.out = folder / "out"
        self._taken = folder / "taken"
        (self._taken / "segments").mkdir(parents=True)
        (self._taken / "outboxes/desk").mkdir(parents=True)
        (self._taken / "versions").symlink_to(self.out / "versions")
        self._stderr = folder / "stderr"
        self._stdout = folder / "stdout"
        self._command = [
            *(sys.executable, "-m", "pathcast", "run", "--stream", "--json"),
            *("--master", "local[2,4]", "--batch-size", str(batch)),
            *("--subscriptions", str(folder / "s.jsonl"), "--documents", str(folder / "in")),
            *("--out", str(self.out), "--deliver", deliver),
        ]

    def start(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start the process and yield it repeatedly; kill it when the iteration stops early."""
        with self._stderr.open("wb") as stderr, self._stdout.open("wb") as stdout:
            process = subprocess.Popen(
                [*self._command, *options], stdout=stdout, stderr=stderr, start_new_session=True
            )
        until = time.monotonic() + WATCHDOG
        try:
            while process.poll() is None:
                assert time.monotonic() < until, "the driver hangs"
                self.take()
                yield process
                time.sleep(0.005)
            assert process.returncode == 0, self._stderr.read_text()
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)  # not its JVM, which must notice by itself
                process.wait()
        self.take()

    def run_to_end(self, documents: int) -> dict[str, int]:
        """Run until that many documents are done, interrupt, and return the summary."""
        interrupted = False
        for process in self.start():
            if not interrupted and self.counts()["documents"] == documents:
                process.send_signal(signal.SIGINT)
                interrupted = True
        assert "ending after this batch" in self._stderr.read_text()
        summary: dict[str, int] = json.loads(self._stdout.read_text())
        return summary

    def counts(self) -> Counter[str]:
        """Return the counts over all processes so far."""
        counts: Counter[str] = Counter()
        for file in self.out.glob("done/*.json"):
            outcome = json.loads(file.read_text())
            counts.update({name: outcome[name] for name in COUNTS})
        return counts

    def take(self) -> None:
        """Move what has arrived to the folder `taken`."""
        for path in [*self.out.glob("outboxes/desk/*"), *self.out.glob("segments/*")]:
            target = self._taken / path.relative_to(self.out)
            assert not target.exists(), f"{path} came twice"
            path.rename(target)

    def outbox(self, subscriber: str) -> dict[str, bytes]:
        """Return the documents of a subscriber, taken away or not."""
        entries = [
            entry for folder in (self.out, self._taken) for entry in read_outbox(folder, subscriber)
        ]
        bodies = {entry.document: entry.read() for entry in entries}
        assert len(bodies) == len(entries)
        return bodies


@pytest.mark.parametrize(
    ("kills", "documents", "batch", "deliver"),
    [
        (1, 45, 15, "segments"),
        pytest.param(20, 2000, 80, "segments", marks=pytest.mark.deep),
        pytest.param(20, 2000, 80, "files", marks=pytest.mark.deep),
    ],
)
def test_exactly_once_under_kills(
    spark: SparkSession, tmp_path: Path, kills: int, documents: int, batch: int, deliver: str
) -> None:
    rng = random.Random(kills)
    rows: list[dict[str, object]] = [
        {"id": "all", "xpath": "//*", "subscriber": "archive"},
        {"id": "some", "xpath": "//b[. mod 3 = 0]", "subscriber": "desk"},
        {"id": "few", "xpath": "//b[. = 7]", "subscriber": "desk"},
    ]
    file = write_subscriptions(tmp_path / "s.jsonl", rows)
    bodies = {f"{number}.xml": b"<a><b>%d</b></a>" % number for number in range(documents - 2)}
    bodies["broken.xml"] = b"<a>"
    write_documents(tmp_path / "in", bodies)
    last = {"last.xml": b"<a><b>9</b></a>"}
    kill_points = []
    driver = Driver(tmp_path, batch, deliver)
    for _ in range(kills):
        sign = rng.choice([*SIGNS, DELIVERY_SIGNS[deliver]])
        before = set(driver.out.glob(sign))
        for _ in driver.start("--once"):
            if set(driver.out.glob(sign)) - before:
                time.sleep(rng.choice([0, 0, 0.05, 0.3]))
                break
        kill_points.append((sign, len(list(driver.out.glob("done/*.json")))))
    write_documents(tmp_path / "in", last)  # so that the last process has work
    bodies |= last
    earlier = driver.counts()
    stdout = driver.run_to_end(documents)
    expected = expected_deliveries(file, bodies)
    assert read_deliveries(spark, driver.out) == expected, kill_points
    in_all = driver.counts()
    assert (in_all["documents"], in_all["refused"]) == (documents, 1)
    assert (in_all["matched"], in_all["deliveries"]) == (documents - 1, len(expected))
    assert {name: stdout[name] for name in COUNTS} == {
        name: in_all[name] - earlier[name] for name in COUNTS
    }
    for subscriber in ("archive", "desk"):
        assert driver.outbox(subscriber) == {
            document: bodies[document] for document, name in expected if name == subscriber
        }, kill_points
    rows_of = spark.read.parquet(str(driver.out / "matches")).groupBy("document").count()
    assert rows_of.where("count > 1").count() == 0
    errors = spark.read.parquet(str(driver.out / "errors")).collect()
    assert [row.document for row in errors] == ["broken.xml"]
