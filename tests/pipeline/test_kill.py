"""The driver is killed, as often as one likes, and started again: every delivery is there once.

It is killed when something is seen in its folder (a plan, a staged table, a batch that is complete, a delivery, a batch that is done),
and a little later or not. Meanwhile a subscriber takes its mail away, as soon as it comes: nothing may come twice.

Its last life is not killed: it waits for more when all is done, until it is interrupted, and ends as it should. These are one test because to start a
driver, which each life does, takes longer than all that it has to do.
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

from tests.pipeline.test_running import delivered, twin, write_documents, write_subscriptions

SIGNS = (
    "log/*.json",
    "_staging/*/*/matches",
    "_staging/*/staged.json",
    "outboxes/*/*",
    "done/*.json",
)
COUNTS = ("documents", "matched", "unmatched", "refused", "matches", "deliveries")
WATCHDOG = 300  # seconds for one life of a driver


class Driver:
    """`pathcast run` as a process, and the subscriber `desk` that takes its mail away."""

    def __init__(self, folder: Path, batch: int) -> None:
        self.out = folder / "out"
        self.taken: dict[str, bytes] = {}
        self._said = folder / "stderr"
        self._told = folder / "stdout"
        self._command = [
            *(sys.executable, "-m", "pathcast", "run", "--stream", "--json"),
            *("--master", "local[2,4]", "--batch-size", str(batch)),
            *("--subscriptions", str(folder / "s.jsonl"), "--documents", str(folder / "in")),
            *("--out", str(self.out)),
        ]

    def live(self, *more: str) -> Iterator[subprocess.Popen[bytes]]:
        """One life; whoever stops asking kills it."""
        with self._said.open("wb") as said, self._told.open("wb") as told:
            process = subprocess.Popen(
                [*self._command, *more], stdout=told, stderr=said, start_new_session=True
            )
        until = time.monotonic() + WATCHDOG
        try:
            while process.poll() is None:
                assert time.monotonic() < until, "the driver hangs"
                self.take()
                yield process
                time.sleep(0.005)
            assert process.returncode == 0, self._said.read_text()
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)  # not its Java: that must find out by itself
                process.wait()
        self.take()

    def last_life(self, documents: int) -> dict[str, int]:
        """One that is interrupted when that many documents are done; what it tells at its end."""
        interrupted = False
        for process in self.live():
            if not interrupted and self.done()["documents"] == documents:
                process.send_signal(signal.SIGINT)
                interrupted = True
        assert "ending after this batch" in self._said.read_text()
        summary: dict[str, int] = json.loads(self._told.read_text())
        return summary

    def done(self) -> Counter[str]:
        """What has been done in all lives."""
        counts: Counter[str] = Counter()
        for file in self.out.glob("done/*.json"):
            outcome = json.loads(file.read_text())
            counts.update({name: outcome[name] for name in COUNTS})
        return counts

    def take(self) -> None:
        box = self.out / "outboxes" / "desk"
        for file in list(box.iterdir()) if box.is_dir() else []:
            assert file.name not in self.taken, f"{file.name} came twice"
            self.taken[file.name] = file.read_bytes()
            file.unlink()


@pytest.mark.parametrize(
    ("kills", "documents", "batch"),
    [(3, 45, 15), pytest.param(20, 2000, 80, marks=pytest.mark.deep)],
)
def test_kill(spark: SparkSession, tmp_path: Path, kills: int, documents: int, batch: int) -> None:
    chance = random.Random(kills)
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
    seen = []
    driver = Driver(tmp_path, batch)
    for _ in range(kills):
        sign = chance.choice(SIGNS)
        before = set(driver.out.glob(sign))
        for _ in driver.live("--once"):
            if set(driver.out.glob(sign)) - before:
                time.sleep(chance.choice([0, 0, 0.05, 0.3]))
                break
        seen.append((sign, len(list(driver.out.glob("done/*.json")))))
    write_documents(tmp_path / "in", last)  # so that there is something to do
    bodies |= last
    earlier = driver.done()
    told = driver.last_life(documents)
    expected = twin(file, bodies)
    assert delivered(spark, driver.out) == expected, seen
    in_all = driver.done()
    assert (in_all["documents"], in_all["refused"]) == (documents, 1)
    assert (in_all["matched"], in_all["deliveries"]) == (documents - 1, len(expected))
    assert {name: told[name] for name in COUNTS} == {
        name: in_all[name] - earlier[name] for name in COUNTS
    }
    for document, subscriber in expected:
        if subscriber == "desk":
            assert driver.taken.pop(document) == bodies[document]
        else:
            box = driver.out / "outboxes" / subscriber
            assert (box / document).read_bytes() == bodies[document]
    assert not driver.taken, seen
    assert len(list((driver.out / "outboxes/archive").iterdir())) == documents - 1
    rows_of = spark.read.parquet(str(driver.out / "matches")).groupBy("document").count()
    assert rows_of.where("count > 1").count() == 0
    errors = spark.read.parquet(str(driver.out / "errors")).collect()
    assert [row.document for row in errors] == ["broken.xml"]
