"""What only shows in a process of its own: exit codes, closed pipes, signals, terminals, many files."""

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

MANY = 2000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 2,000 small documents, and subscriptions beside it."""
    top = tmp_path_factory.mktemp("many")
    for number in range(MANY):
        folder = top / "docs" / f"{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:04}.xml").write_text(f"<a><b{number % 7} c='{number}'/></a>")
    rows = [Subscription(number + 1, f"//b{number}[@c >= 0]") for number in range(7)]
    write_subscriptions(top / "subs.txt", rows)
    return top


def test_many_files_in_one_run(many: Path) -> None:
    result = run_process("match", many / "subs.txt", many / "docs")
    assert (result.code, result.stderr) == (0, "")
    assert len(result.rows) == MANY
    assert [row["document"] for row in result.rows] == sorted(
        row["document"] for row in result.rows
    )
    for row in result.rows:
        assert row["matches"] == [int(Path(row["document"]).stem) % 7 + 1]


def test_a_reader_that_goes_away_is_no_error(many: Path) -> None:
    command = [*COMMAND, "match", str(many / "subs.txt"), str(many / "docs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"document": ')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("command", [["--version"], ["generate", "presets"]])
def test_a_reader_that_is_gone_from_the_start(command: list[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        found = subprocess.run(
            [*COMMAND, *command], stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=60
        )
    finally:
        os.close(theirs)
    assert (found.returncode, found.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(
            [*COMMAND, "--version"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert (found.returncode, found.stderr.count(b"\n")) == (2, 1)
    assert b"No space left" in found.stderr


def test_an_interruption_ends_it_with_130_and_whole_lines(tmp_path: Path) -> None:
    write(tmp_path, s__txt="//a\n", a__xml="<a/>")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    start = (  # whoever runs the tests may have switched interruptions off
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from pathcast.cli import main; main()"
    )
    arguments = ["match", "s.txt", "a.xml", "pipe", "a.xml"]
    command = [sys.executable, "-c", start, *arguments]
    with (
        subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process,
        pipe.open("wb"),  # opens when the command opens it: it is at the second document
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
def test_exit_codes(tmp_path: Path, arguments: list[str], code: int) -> None:
    write(tmp_path, s__txt="//a\n", a__xml="<a/>", bad__xml="<a>")
    found = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, capture_output=True, check=False, timeout=60
    )
    assert found.returncode == code
    assert b"Traceback" not in found.stderr


def test_progress_is_shown_on_a_terminal_and_the_data_stay_clean(
    many: Path, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [*COMMAND, "match", str(many / "subs.txt"), str(many / "docs")]
    shown = b""
    with (
        (tmp_path / "out").open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=theirs, env=environment) as process,
        os.fdopen(ours, "rb", buffering=0) as terminal,
    ):
        os.close(theirs)
        try:
            while part := terminal.read(65536):
                shown += part
        except OSError:  # how Linux says that nobody writes to it any more
            pass
    assert process.returncode == 0
    assert b"matching" in shown
    stdout = (tmp_path / "out").read_bytes()
    assert stdout.count(b"\n") == MANY
    assert b"\x1b" not in stdout
