"""Behaviour that needs a process: exit codes, closed pipes, signals, terminals, large folders."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pathcast.files import Subscription, write_subscriptions
from tests.cli.running import COMMAND, run_process, write

DOCUMENT_COUNT = 2000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with 2,000 small documents in `docs`, and subscriptions in `subs.txt`."""
    top = tmp_path_factory.mktemp("corpus")
    for number in range(DOCUMENT_COUNT):
        folder = top / "docs" / f"{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:04}.xml").write_text(f"<a><b{number % 7} c='{number}'/></a>")
    rows = [Subscription(number + 1, f"//b{number}[@c >= 0]") for number in range(7)]
    write_subscriptions(top / "subs.txt", rows)
    return top


def test_thousands_of_files_are_matched_in_one_run(corpus: Path) -> None:
    result = run_process("match", corpus / "subs.txt", corpus / "docs")
    assert (result.code, result.stderr) == (0, "")
    assert len(result.rows) == DOCUMENT_COUNT
    assert [row["document"] for row in result.rows] == sorted(
        row["document"] for row in result.rows
    )
    for row in result.rows:
        assert row["matches"] == [int(Path(row["document"]).stem) % 7 + 1]


def test_stdout_closed_while_writing_exits_with_141(corpus: Path) -> None:
    command = [*COMMAND, "match", str(corpus / "subs.txt"), str(corpus / "docs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"document": ')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("command", [["--version"], ["generate", "presets"]])
def test_stdout_closed_before_writing_exits_with_141(command: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        process = subprocess.run(
            [*COMMAND, *command], stdout=write_end, stderr=subprocess.PIPE, check=False, timeout=60
        )
    finally:
        os.close(write_end)
    assert (process.returncode, process.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_full_disk_is_reported() -> None:
    with Path("/dev/full").open("wb") as full_device:
        process = subprocess.run(
            [*COMMAND, "--version"],
            stdout=full_device,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert (process.returncode, process.stderr.count(b"\n")) == (2, 1)
    assert b"No space left" in process.stderr


def test_interruption_exits_with_130_after_complete_lines(tmp_path: Path) -> None:
    write(tmp_path, s__txt="//a\n", a__xml="<a/>")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    start = (  # the test runner may ignore SIGINT, and its children inherit that
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from pathcast.cli import main; main()"
    )
    arguments = ["match", "s.txt", "a.xml", "pipe", "a.xml"]
    command = [sys.executable, "-c", start, *arguments]
    with (
        subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process,
        pipe.open("wb"),  # blocks until the command opens the second document
    ):
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == b'{"document": "a.xml", "matches": [1]}\n'
    assert b"Traceback" not in stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["match", "s.txt", "a.xml"], 0),
        (["match", "s.txt", "bad.xml"], 1),
        (["match", "s.txt", "none.xml"], 2),
        (["explain", "//b", "a.xml"], 1),
    ],
)
def test_exit_code_of_the_process(tmp_path: Path, arguments: list[str], code: int) -> None:
    write(tmp_path, s__txt="//a\n", a__xml="<a/>", bad__xml="<a>")
    process = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, capture_output=True, check=False, timeout=60
    )
    assert process.returncode == code
    assert b"Traceback" not in process.stderr


def test_progress_is_shown_on_a_terminal_but_not_in_the_data(corpus: Path, tmp_path: Path) -> None:
    controller, terminal_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [*COMMAND, "match", str(corpus / "subs.txt"), str(corpus / "docs")]
    screen = b""
    with (
        (tmp_path / "out").open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=terminal_end, env=environment) as process,
        os.fdopen(controller, "rb", buffering=0) as terminal,
    ):
        os.close(terminal_end)
        try:
            while chunk := terminal.read(65536):
                screen += chunk
        except OSError:  # Linux: the other end is closed
            pass
    assert process.returncode == 0
    assert b"matching" in screen
    stdout = (tmp_path / "out").read_bytes()
    assert stdout.count(b"\n") == DOCUMENT_COUNT
    assert b"\x1b" not in stdout
