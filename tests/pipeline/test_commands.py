"""`pathcast run` and `pathcast demo` as a user calls them: as processes of their own where that makes a difference."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli.running import run
from tests.pipeline.nats_server import wait_for
from tests.pipeline.test_running import (
    DOCUMENTS,
    SUBSCRIPTIONS,
    delivered,
    twin,
    write_documents,
    write_subscriptions,
)

MASTER = ("--master", "local[2,4]")


def test_a_stream_until_it_is_interrupted(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    command = [
        *(sys.executable, "-m", "pathcast", "run", "--stream", "--json", *MASTER),
        *("--subscriptions", str(file), "--documents", str(tmp_path / "in")),
        *("--out", str(tmp_path / "out")),
    ]
    done = tmp_path / "out" / "done"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            wait_for(lambda: process.poll() is not None or any(done.glob("*.json")), 300)
            process.send_signal(signal.SIGINT)
            output, said = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 0, said
    summary = json.loads(output)
    assert {key: summary[key] for key in ("documents", "matched", "refused", "matches")} == {
        "documents": 4,
        "matched": 3,
        "refused": 1,
        "matches": 7,
    }
    assert b"ending after this batch" in said
    assert delivered(spark, tmp_path / "out") == twin(file, DOCUMENTS)


def test_rows_through_a_sheet(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//price[. > 10]\n//price\n")
    (tmp_path / "stock.csv").write_text("symbol,price\nA,9\nB,12\nC\n")
    (tmp_path / "sheet.xsl").write_text(
        '<quote xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
        '<price><xsl:value-of select="//@price"/></price></quote>'
    )
    result = run(
        *("run", *MASTER, "-s", tmp_path / "s.txt", "-d", tmp_path / "stock.csv"),
        *("--xslt", tmp_path / "sheet.xsl", "-o", tmp_path / "out"),
    )
    assert result.code == 0, result.stderr
    assert "refused         1" in result.stdout
    assert delivered(spark, tmp_path / "out") == {
        ("stock.csv:2", "2"): ["2"],
        ("stock.csv:3", "1"): ["1"],
        ("stock.csv:3", "2"): ["2"],
    }


def test_bad_calls(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//a[\n//b\n//c==1\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "sheet.xsl").write_text("<a>")
    base = ("run", "-s", tmp_path / "s.txt", "-d", tmp_path / "in", "-o", tmp_path / "out")
    for more, said in (
        (("--once",), "needs --stream"),
        (("--deadline", "3"), "needs --allow-expensive"),
        (("--deliver", "post"), "neither files, none nor an address"),
        (("--deliver", "nats://x:1/a b"), "cannot be the beginning of a subject"),
        (("--dedupe", "soon"), "is not a time"),
        (("--conf", "x"), "is not KEY=VALUE"),
        (("--xslt", tmp_path / "sheet.xsl"), "sheet.xsl"),
        (("--xslt", tmp_path / "none.xsl"), "No such file"),
        (("--group-by", "x", "--read", "files"), "only rows can be grouped"),
    ):
        result = run(*base, *more)
        assert (result.code, result.stdout) == (2, ""), more
        assert said in result.stderr, more
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark")
def test_bad_subscriptions(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//a[\n//b\n//c==1\n")
    (tmp_path / "in").mkdir()
    result = run(
        *("run", *MASTER, "-s", tmp_path / "s.txt", "-d", tmp_path / "in", "-o", tmp_path / "out")
    )
    assert (result.code, result.stdout) == (2, "")
    assert "s.txt:1:" in result.stderr
    assert "s.txt:3:" in result.stderr
    assert "write = instead" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("spark")
def test_demo(tmp_path: Path) -> None:
    result = run(
        *("demo", "--documents", "40", "--subscriptions", "200", "--readers", "20"),
        *("--out", tmp_path / "demo", "--json"),
    )
    assert result.code == 0, result.stderr
    (summary,) = result.rows
    assert (summary["documents"], summary["audit"]["wrong"]) == (40, [])
    assert summary["audit"]["deliveries"] > 0
    assert len(summary["versions"]) == 2
    assert len(list((tmp_path / "demo/feed").iterdir())) == 40
    assert any((tmp_path / "demo/results/outboxes").iterdir())
    assert "<svg" in (tmp_path / "demo/results/report.html").read_text()


def test_a_demo_replaces_nothing_but_demos(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = run("demo", "--out", tmp_path)
    assert result.code == 2
    assert "no demo made it" in result.stderr
    assert (tmp_path / "mine").exists()
