"""A standalone cluster gives the results of local mode, even without pathcast in its workers."""

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
from pathcast.pipeline.sources import Source
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests.pipeline.cluster import SparkCluster, cluster
from tests.pipeline.test_running import (
    LIMITS,
    expected_deliveries,
    read_deliveries,
    read_outboxes,
    segment_outboxes,
    write_documents,
    write_subscriptions,
)

ROOT = Path(__file__).parents[2]
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
BOTH_WORKERS = {  # start tasks only when both executors are registered
    "spark.cores.max": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "200s",
}


def test_cluster_and_local_mode_agree(spark: SparkSession, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    with cluster(tmp_path / "cluster") as spark_cluster:
        process = pathcast_run(tmp_path, spark_cluster, BOTH_WORKERS)
        assert process.returncode == 0, process.stderr + spark_cluster.executor_logs()
        assert list(spark_cluster.tasks()) == ["worker0", "worker1"]
        assert all(spark_cluster.tasks().values()), "one of the workers had nothing to do"
        assert spark_cluster.drivers() == {"127.0.0.1"}
    wait_for_exit(tmp_path / "cluster")
    assert_agrees_with_local(spark, tmp_path, process.stdout)


@pytest.mark.deep
def test_workers_without_pathcast(spark: SparkSession, tmp_path: Path) -> None:
    """The workers' Python has no packages; the archive provides one with the compiled core."""
    archive = tmp_path / "dist" / "pathcast-env.tar.gz"
    subprocess.run([ROOT / "scripts/dist_env.sh", sys.executable, archive], check=True)
    venv.create(tmp_path / "bare")
    bare = {"PYSPARK_PYTHON": str(tmp_path / "bare/bin/python")}
    write_inputs(tmp_path)
    with cluster(tmp_path / "cluster") as spark_cluster:
        process = pathcast_run(tmp_path, spark_cluster, BOTH_WORKERS, **bare)
        assert process.returncode == 1, process.stderr
        assert "No module named 'pathcast'" in process.stderr
        assert not (tmp_path / "out/matches").exists()
        packed = {
            "spark.archives": f"{archive}#environment",
            "spark.pyspark.python": "./environment/bin/python",
            "spark.executorEnv.PATHCAST_REQUIRE_CORE": "1",
        }
        process = pathcast_run(
            tmp_path, spark_cluster, BOTH_WORKERS | packed, **bare
        )  # in the same folder
        assert process.returncode == 0, process.stderr + spark_cluster.executor_logs()
        unpacked = list((tmp_path / "cluster").glob("worker*/app-*/*/environment/pyvenv.cfg"))
        assert len(unpacked) == 2
    wait_for_exit(tmp_path / "cluster")
    shutil.rmtree(tmp_path / "cluster")  # a gigabyte
    assert_agrees_with_local(spark, tmp_path, process.stdout)


def write_inputs(folder: Path) -> None:
    write_subscriptions(folder / "s.jsonl", SUBSCRIPTIONS)
    write_documents(folder / "in", DOCUMENTS)


def pathcast_run(
    folder: Path, spark_cluster: SparkCluster, settings: dict[str, str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `pathcast run` in a process of its own, to `folder/out`."""
    paths = ("-s", str(folder / "s.jsonl"), "-d", str(folder / "in"), "-o", str(folder / "out"))
    conf = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pathcast",
            "run",
            *paths,
            "--master",
            spark_cluster.master,
            "--json",
            *conf,
        ],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=500,
    )


def assert_agrees_with_local(spark: SparkSession, folder: Path, summary: str) -> None:
    """Compare `folder/out` with local mode and with a plain loop."""
    order = RunSpec(
        SubscriptionSource(folder / "s.jsonl"),
        Source(str(folder / "in"), "files", LIMITS.size),
        str(folder / "local"),
        BatchSettings(LIMITS, structures=0.1),
        make_outbox=segment_outboxes,
    )
    local_outcome = PipelineRun(spark, order, lambda _: None).run_once()
    for table in TABLES:
        assert rows(spark, folder / "out" / table) == rows(spark, folder / "local" / table), table
    assert read_outboxes(folder / "out") == read_outboxes(folder / "local")
    expected = expected_deliveries(folder / "s.jsonl", DOCUMENTS)
    assert read_deliveries(spark, folder / "out") == expected
    assert read_outboxes(folder / "out") == {pair: DOCUMENTS[pair[0]] for pair in expected}
    summary_fields = json.loads(summary)
    for name in ("documents", "matched", "unmatched", "refused", "matches", "deliveries"):
        assert summary_fields[name] == getattr(local_outcome, name), name
    assert (summary_fields["documents"], summary_fields["refused"]) == (len(DOCUMENTS), 1)
    assert summary_fields["versions"] == [local_outcome.version]


def rows(spark: SparkSession, table: Path) -> list[str]:
    return sorted(map(str, spark.read.parquet(str(table)).collect()))


def wait_for_exit(folder: Path) -> None:
    """Wait until no process works in the folder or names it in its command line."""
    until = time.monotonic() + 60
    while processes := [
        process for process in Path("/proc").glob("[0-9]*") if _belongs(process, str(folder))
    ]:
        assert time.monotonic() < until, processes
        time.sleep(0.05)


def _belongs(process: Path, folder: str) -> bool:
    try:
        working_folder, command = os.readlink(process / "cwd"), (process / "cmdline").read_text()
    except OSError:
        return False  # it has ended
    return working_folder.startswith(folder) or folder in command
