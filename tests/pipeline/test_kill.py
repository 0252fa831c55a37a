"""The driver is killed, as often as one likes, and started again: every delivery is there once.

It is killed when something is seen in its folder (a plan, a staged table, a batch that is complete, a delivery, a batch that is done),
and a little later or not. Meanwhile a subscriber takes its mail away, as soon as it comes: nothing may come twice.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
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
WATCHDOG = 300  # seconds for one life of a driver


class Driver:
    """`pathcast run` as a process, and the subscriber `desk` that takes its mail away."""

    def __init__(self, folder: Path, batch: int) -> None:
        self.out = folder / "out"
        self.taken: dict[str, bytes] = {}
        self._log = (folder / "stderr").open("ab")
        self._command = [
            *(sys.executable, "-m", "pathcast", "run", "--stream", "--once"),
            *("--master", "local[2,4]", "--batch-size", str(batch)),
            *("--subscriptions", str(folder / "s.jsonl"), "--documents", str(folder / "in")),
            *("--out", str(self.out)),
        ]

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def live(self) -> Iterator[None]:
        """One life; whoever stops asking kills it."""
        process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=self._log, start_new_session=True
        )
        until = time.monotonic() + WATCHDOG
        try:
            while process.poll() is None:
                assert time.monotonic() < until, "the driver hangs"
                self.take()
                yield
                time.sleep(0.005)
            assert process.returncode == 0
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)  # not its Java: that must find out by itself
                process.wait()
        self.take()

    def take(self) -> None:
        box = self.out / "outboxes" / "desk"
        for file in list(box.iterdir()) if box.is_dir() else []:
            assert file.name not in self.taken, f"{file.name} came twice"
            self.taken[file.name] = file.read_bytes()
            file.unlink()


@pytest.mark.parametrize(
    ("kills", "documents", "batch"),
    [(3, 60, 15), pytest.param(20, 2000, 80, marks=pytest.mark.deep)],
)
def test_kill(spark: SparkSession, tmp_path: Path, kills: int, documents: int, batch: int) -> None:
    chance = random.Random(kills)
    rows: list[dict[str, object]] = [
        {"id": "all", "xpath": "//*", "subscriber": "archive"},
        {"id": "some", "xpath": "//b[. mod 3 = 0]", "subscriber": "desk"},
        {"id": "few", "xpath": "//b[. = 7]", "subscriber": "desk"},
    ]
    file = write_subscriptions(tmp_path / "s.jsonl", rows)
    bodies = {f"{number}.xml": b"<a><b>%d</b></a>" % number for number in range(documents)}
    write_documents(tmp_path / "in", bodies)
    seen = []
    with Driver(tmp_path, batch) as driver:
        for _ in range(kills):
            sign = chance.choice(SIGNS)
            before = set(driver.out.glob(sign))
            for _ in driver.live():
                if set(driver.out.glob(sign)) - before:
                    time.sleep(chance.choice([0, 0, 0.05, 0.3]))
                    break
            seen.append((sign, len(list(driver.out.glob("done/*.json")))))
        for _ in driver.live():
            pass
        expected = twin(file, bodies)
        assert delivered(spark, driver.out) == expected, seen
        for document, subscriber in expected:
            if subscriber == "desk":
                assert driver.taken.pop(document) == bodies[document]
            else:
                box = driver.out / "outboxes" / subscriber
                assert (box / document).read_bytes() == bodies[document]
        assert not driver.taken, seen
        assert len(list((driver.out / "outboxes/archive").iterdir())) == documents
    rows_of = spark.read.parquet(str(driver.out / "matches")).groupBy("document").count()
    assert rows_of.where("count > 1").count() == 0
