"""`pathcast run` and `pathcast demo` as commands; `test_kill` runs them as processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pathcast.cli.report import BusySubscription, busiest_lines
from tests.cli.running import run
from tests.pipeline.test_running import read_deliveries, write_documents

MASTER = ("--master", "local[2,4]")


def test_rows_through_a_stylesheet(spark: SparkSession, tmp_path: Path) -> None:
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
    assert read_deliveries(spark, tmp_path / "out") == {
        ("stock.csv:2", "2"): ["2"],
        ("stock.csv:3", "1"): ["1"],
        ("stock.csv:3", "2"): ["2"],
    }


def test_tables_without_deliveries(tmp_path: Path) -> None:
    """`--deliver none` needs no deliveries, and the summary does not say that there are none."""
    (tmp_path / "s.txt").write_text("//a\n")
    write_documents(tmp_path / "in", {"1.xml": b"<a/>"})
    base = ("run", *MASTER, "--deliver", "none", "-s", tmp_path / "s.txt", "-d", tmp_path / "in")
    result = run(*base, "-o", tmp_path / "out")
    assert (result.code, "matches         1" in result.stdout) == (0, True), result.stderr
    assert "\ndeliveries" not in result.stdout
    assert not (tmp_path / "out/deliveries").exists()
    (summary,) = run(*base, "-o", tmp_path / "second", "--deliveries", "--json").rows
    assert summary["deliveries"] == 1
    assert (tmp_path / "second/deliveries").exists()


def test_invalid_options(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//a[\n//b\n//c==1\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "sheet.xsl").write_text("<a>")
    base = ("run", "-s", tmp_path / "s.txt", "-d", tmp_path / "in", "-o", tmp_path / "out")
    for options, expected_message in (
        (("--once",), "needs --stream"),
        (("--deadline", "3"), "needs --allow-expensive"),
        (("--deliver", "post"), "is not segments, files, links, none or an address"),
        (("--deliver", "nats://x:1/a b"), "cannot be the beginning of a subject"),
        (("--dedupe", "soon"), "--dedupe: 'soon' is not a time"),
        (("--conf", "x"), "is not KEY=VALUE"),
        (("--xslt", tmp_path / "sheet.xsl"), "sheet.xsl"),
        (("--xslt", tmp_path / "none.xsl"), "No such file"),
        (("--group-by", "x", "--read", "files"), "only rows can be grouped"),
    ):
        result = run(*base, *options)
        assert (result.code, result.stdout) == (2, ""), options
        assert expected_message in result.stderr, options
    assert not (tmp_path / "out").exists()


def test_invalid_subscriptions_are_reported_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output folder is not created."""
    monkeypatch.setattr("pathcast.pipeline.session.session_for", None)
    (tmp_path / "s.txt").write_text("//a[\n//b\n//c==1\n")
    (tmp_path / "in").mkdir()
    result = run(
        *("run", *MASTER, "-s", tmp_path / "s.txt", "-d", tmp_path / "in", "-o", tmp_path / "out")
    )
    assert (result.code, result.stdout) == (2, "")
    assert "s.txt:1:" in result.stderr
    assert "s.txt:3:" in result.stderr
    assert "write = instead" in result.stderr
    assert "2 of 3 are bad" in result.stderr
    assert "--skip-bad" in result.stderr
    assert not (tmp_path / "out").exists()


def test_all_invalid_lines_are_counted(tmp_path: Path) -> None:
    lines = (
        "{",
        "[]",
        '{"id": 1, "xpath": "//a"}',
        '{"id": 2, "xpath": "//a["}',
        '{"id": 1, "xpath": "//b"}',
    )
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    base = ("run", "-d", tmp_path, "-o", tmp_path / "_out", "-s")
    assert "4 of 5 are bad" in run(*base, tmp_path / "s.jsonl").stderr
    assert "none.jsonl" in run(*base, tmp_path / "none.jsonl").stderr


@pytest.mark.parametrize(
    "options", [(), pytest.param(("--stream", "--once"), marks=pytest.mark.deep)]
)
def test_failed_run_does_not_claim_the_folder(
    spark: SparkSession, tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "s.txt").write_text("//a\n")
    write_documents(tmp_path / "in", {"1.xml": b"<a/>"})
    files = ("-s", str(tmp_path / "s.txt"), "-o", str(tmp_path / "out"))
    base = ("run", *MASTER, *files, *options, "-d")
    result = run(*base, tmp_path / "im")
    assert result.code == 2
    assert "im" in result.stderr
    assert run(*base, tmp_path / "in").code == 0
    assert read_deliveries(spark, tmp_path / "out") == {("1.xml", "1"): ["1"]}
    result = run(*base, tmp_path / "im")
    assert result.code == 2
    assert "belongs to another run (documents: " in result.stderr
    repeated = run(*base, f"{tmp_path}/./in/")  # the same folder
    assert (repeated.code, "earlier run" in repeated.stderr) == (
        (0, False) if options else (2, True)
    )


def test_report_of_a_folder_without_a_run(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = run("report", tmp_path)
    assert (result.code, result.stdout) == (2, "")
    assert "holds no run" in result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


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
    assert any((tmp_path / "demo/results/segments").iterdir())
    assert "<svg" in (tmp_path / "demo/results/report.html").read_text()


def test_demo_replaces_only_demos(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = run("demo", "--out", tmp_path)
    assert result.code == 2
    assert "no demo made it" in result.stderr
    assert (tmp_path / "mine").exists()


def test_busiest_subscriptions_are_shown_with_their_expressions() -> None:
    rows = [BusySubscription("a", "//a[1]", 1_234), BusySubscription("hop", None, 7)]
    assert busiest_lines(rows) == [
        "busiest         1,234  //a[1]  (a)",
        "                    7  -  (hop)",
    ]
