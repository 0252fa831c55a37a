"""A standalone cluster does what local mode does, in other processes, and where workers have no pathcast of their own too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pathcast.pipeline.batches import BatchSettings
from pathcast.pipeline.running import PipelineRun, RunSpec
from pathcast.pipeline.sinks.files import FileOutboxes
from pathcast.pipeline.sources import Source
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests.pipeline.cluster import Cluster, cluster
from tests.pipeline.test_running import (
    LIMITS,
    boxes,
    delivered,
    twin,
    write_documents,
    write_subscriptions,
)

HOUSE = Path(__file__).parents[2]
TABLES = ("deliveries", "documents", "errors", "matches")
SUBSCRIPTIONS: list[dict[str, object]] = [
    {"id": "all", "xpath": "//*", "subscriber": "archive"},
    {"id": "third", "xpath": "//b[. mod 3 = 0]", "subscriber": "desk"},
    {"id": "seven", "xpath": "//b[. = 7]", "subscriber": "desk"},
    {"id": "c", "xpath": "/c"},
]
DOCUMENTS = {f"{number}.xml": b"<a><b>%d</b></a>" % number for number in range(24)} | {
    "deeper/c.xml": b"<c/>",
    "broken.xml": b"<c>",
}
BOTH = {  # no task begins before both executors are there
    "spark.cores.max": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "200s",
}


def test_cluster_and_local_mode_agree(spark: SparkSession, tmp_path: Path) -> None:
    prepare(tmp_path)
    with cluster(tmp_path / "cluster") as few:
        done = pathcast_run(tmp_path, few, BOTH)
        assert done.returncode == 0, done.stderr + few.said()
        assert list(few.tasks()) == ["worker0", "worker1"]
        assert all(few.tasks().values()), "one of the workers had nothing to do"
        assert few.drivers() == {"127.0.0.1"}
    wait_until_gone(tmp_path / "cluster")
    agrees(spark, tmp_path, done.stdout)


@pytest.mark.deep
def test_workers_without_pathcast(spark: SparkSession, tmp_path: Path) -> None:
    """Their own Python is a bare one; the archive brings another, the compiled core with it."""
    archive = tmp_path / "dist" / "pathcast-env.tar.gz"
    subprocess.run([HOUSE / "scripts/dist_env.sh", sys.executable, archive], check=True)
    venv.create(tmp_path / "bare")
    bare = {"PYSPARK_PYTHON": str(tmp_path / "bare/bin/python")}
    prepare(tmp_path)
    with cluster(tmp_path / "cluster") as few:
        done = pathcast_run(tmp_path, few, BOTH, **bare)
        assert done.returncode == 1, done.stderr
        assert "No module named 'pathcast'" in done.stderr
        assert not (tmp_path / "out/matches").exists()
        packed = {
            "spark.archives": f"{archive}#environment",
            "spark.pyspark.python": "./environment/bin/python",
            "spark.executorEnv.PATHCAST_REQUIRE_CORE": "1",
        }
        done = pathcast_run(tmp_path, few, BOTH | packed, **bare)  # in the same folder
        assert done.returncode == 0, done.stderr + few.said()
        unpacked = list((tmp_path / "cluster").glob("worker*/app-*/*/environment/pyvenv.cfg"))
        assert len(unpacked) == 2
    wait_until_gone(tmp_path / "cluster")
    shutil.rmtree(tmp_path / "cluster")  # a gigabyte
    agrees(spark, tmp_path, done.stdout)


def prepare(folder: Path) -> None:
    write_subscriptions(folder / "s.jsonl", SUBSCRIPTIONS)
    write_documents(folder / "in", DOCUMENTS)


def pathcast_run(
    folder: Path, few: Cluster, settings: dict[str, str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """`pathcast run` with a driver of its own, to `folder/out`."""
    paths = ("-s", str(folder / "s.jsonl"), "-d", str(folder / "in"), "-o", str(folder / "out"))
    conf = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    return subprocess.run(
        [sys.executable, "-m", "pathcast", "run", *paths, "--master", few.master, "--json", *conf],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=500,
    )


def agrees(spark: SparkSession, folder: Path, summary: str) -> None:
    """Compare what is in `folder/out` with local mode, and with a plain loop."""
    order = RunSpec(
        SubscriptionSource(folder / "s.jsonl"),
        Source(str(folder / "in"), "files", LIMITS.size),
        str(folder / "local"),
        BatchSettings(LIMITS, structures=0.1),
        make_outbox=lambda out: FileOutboxes(Path(out, "outboxes")),
    )
    here = PipelineRun(spark, order, lambda _: None).run_once()
    for table in TABLES:
        assert rows(spark, folder / "out" / table) == rows(spark, folder / "local" / table), table
    assert boxes(folder / "out") == boxes(folder / "local")
    expected = twin(folder / "s.jsonl", DOCUMENTS)
    assert delivered(spark, folder / "out") == expected
    assert boxes(folder / "out") == {pair: DOCUMENTS[pair[0]] for pair in expected}
    told = json.loads(summary)
    for name in ("documents", "matched", "unmatched", "refused", "matches", "deliveries"):
        assert told[name] == getattr(here, name), name
    assert (told["documents"], told["refused"]) == (len(DOCUMENTS), 1)
    assert told["versions"] == [here.version]


def rows(spark: SparkSession, table: Path) -> list[str]:
    return sorted(map(str, spark.read.parquet(str(table)).collect()))


def wait_until_gone(folder: Path) -> None:
    """Until no process works in the folder, or was started with its name: nothing is left of a cluster."""
    until = time.monotonic() + 60
    while left := [one for one in Path("/proc").glob("[0-9]*") if _belongs(one, str(folder))]:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def _belongs(process: Path, folder: str) -> bool:
    try:
        place, command = os.readlink(process / "cwd"), (process / "cmdline").read_text()
    except OSError:
        return False  # it has ended
    return place.startswith(folder) or folder in command
