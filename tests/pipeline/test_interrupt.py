"""Signals end a command cleanly: a short message, 130, and no traceback of Python or Java."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
import typer
from pyspark.sql import SparkSession

from pathcast.cli.interruptible import run_interruptibly
from pathcast.pipeline.statistics.saved import SAVED_SCHEMAS
from tests.cli.running import run
from tests.pipeline.made_runs import random_run

WATCHDOG = 300  # seconds


@pytest.fixture
def cancellations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    monkeypatch.setattr("pathcast.pipeline.session.cancel_jobs", lambda: calls.append(1))
    return calls


class SignalOnce:
    """Raises a signal in the main thread the first time it is called."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._is_raised = False

    def __call__(self) -> None:
        if not self._is_raised:
            self._is_raised = True
            signal.raise_signal(self._number)


def fail_after_stop(stopping: threading.Event) -> None:
    assert stopping.wait(WATCHDOG)
    raise ValueError("the job was cancelled")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_cancelled_work_ends_with_the_number_of_the_signal(
    number: int, code: int, cancellations: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught:
        run_interruptibly(fail_after_stop, on_wait=SignalOnce(number))
    assert caught.value.exit_code == code
    assert cancellations
    assert capsys.readouterr().err == "pathcast: interrupted\n"


def test_work_that_is_not_cancelled_ends_by_itself(cancellations: list[int]) -> None:
    calls: list[str] = []
    result = run_interruptibly(
        lambda stopping: stopping.wait(WATCHDOG),
        cancel=False,
        on_stop=lambda: calls.append("stop"),
        on_wait=SignalOnce(signal.SIGINT),
    )
    assert (result, calls, cancellations) == (True, ["stop"], [])


@pytest.mark.usefixtures("cancellations")
def test_complete_work_and_its_errors_pass_through() -> None:
    handler = signal.getsignal(signal.SIGINT)
    assert run_interruptibly(lambda _: 7) == 7
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda _: 1 // 0)
    assert signal.getsignal(signal.SIGINT) == handler


SLOW_SHEET = """<a xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:for-each select="//row"><xsl:for-each select="//row"><xsl:for-each select="//row">
<xsl:if test="count(//row) = 0"/></xsl:for-each></xsl:for-each></xsl:for-each></a>"""


def test_interrupted_batch_run(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//a\n")
    (tmp_path / "slow.xsl").write_text(SLOW_SHEET)
    (tmp_path / "in").mkdir()
    rows = "".join(f"{n // 500},{n}\n" for n in range(20_000))
    (tmp_path / "in" / "rows.csv").write_text(f"group,n\n{rows}")
    command = [
        *(sys.executable, "-m", "pathcast", "run", "--master", "local[2,4]"),
        *("-s", "s.txt", "-d", "in/rows.csv", "--group-by", "group"),
        *("--xslt", "slow.xsl", "--xslt-deadline", "20", "-o", "out"),
    ]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + WATCHDOG
        while not list(tmp_path.glob("out/log/*.json")):
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        stdout, stderr = process.communicate(timeout=WATCHDOG)
    finally:
        process.kill()
    assert (process.returncode, stdout) == (130, ""), stderr
    lines = [line for line in stderr.splitlines() if "JDK_JAVA_OPTIONS" not in line]
    assert lines[-1] == "pathcast: interrupted"
    assert [line for line in lines if not line.startswith("pathcast: ")] == []
    assert not list(tmp_path.glob("out/done/*.json"))


def test_interrupted_report(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pathcast.pipeline.statistics.is_small_run", lambda *_: False)
    (tmp_path / "s.txt").write_text("//a\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.xml").write_text("<a/>")
    files = ("-s", tmp_path / "s.txt", "-d", tmp_path / "in", "-o", tmp_path / "out")
    assert run("run", "--master", "local[2,4]", *files).code == 0
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = run("report", tmp_path / "out")
    timer.join()
    assert (result.code, result.stdout) == (130, "")
    assert result.stderr.endswith("pathcast: interrupted\n")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out/report.html").exists()
    assert spark.range(3).count() == 3  # the session is still usable


@pytest.mark.usefixtures("cancellations")
def test_interrupted_report_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes while a table is computed; that is the last table."""
    module = "pathcast.pipeline.statistics.in_memory"
    names: list[str] = []
    is_signalled = threading.Event()
    send = SignalOnce(signal.SIGINT)

    def on_wait() -> None:
        if names:
            send()
            is_signalled.set()

    def wait_for_signal(*_arguments: object) -> pa.Table:
        names.append("rates")
        assert is_signalled.wait(WATCHDOG)
        return SAVED_SCHEMAS["rates"].empty_table()

    def note_structures(*_arguments: object) -> None:
        names.append("structures")

    monkeypatch.setattr(f"{module}.rates_table", wait_for_signal)
    monkeypatch.setattr(f"{module}.structures_table", note_structures)
    monkeypatch.setattr(
        "pathcast.cli.report.run_interruptibly", partial(run_interruptibly, on_wait=on_wait)
    )
    out = random_run(1).write(tmp_path)
    result = run("report", out)
    assert (result.code, result.stdout) == (130, "")
    assert result.stderr.endswith("pathcast: interrupted\n")
    assert "Traceback" not in result.stderr
    assert names == ["rates"]
    assert not (tmp_path / "report.html").exists()
    assert not (tmp_path / "statistics").exists()
