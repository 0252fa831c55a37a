"""The helper's side of the pipes, without a runner."""

from __future__ import annotations

import io
import signal
import subprocess

import pytest

from pathcast.sandbox.frames import HEADER, Message, frame, read_frame, unpack
from pathcast.sandbox.processes import child_environment, python_module_command

LIMITS = {"size": 1000, "depth": 10, "attributes": 10, "elements": 10, "attributes_total": 10}


def question(xpath: str, seconds: float = 60) -> bytes:
    return frame({"xpath": xpath, "namespaces": [], "seconds": seconds})


def document(body: bytes) -> bytes:
    return frame({"document": LIMITS, "seconds": 60}) + frame(body)


def converse(said: bytes) -> tuple[list[Message], subprocess.CompletedProcess[bytes]]:
    done = subprocess.run(
        python_module_command("pathcast.sandbox.worker"),
        input=said,
        capture_output=True,
        check=False,
        env=child_environment(),
    )
    source = io.BytesIO(done.stdout)
    answers = []
    while (octets := read_frame(source)) is not None:
        answers.append(unpack(octets))
    return answers, done


def test_a_conversation() -> None:
    said = (
        document(b"<a/>") + question("//a") + question("//b") + document(b"<b/>") + question("//b")
    )
    answers, done = converse(said)
    assert answers == [{}, {"holds": True}, {"holds": False}, {}, {"holds": True}]
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_question_without_a_document() -> None:
    answers, _ = converse(question("//a") + document(b"<a") + question("//a") + document(b"<a/>"))
    assert [list(answer) for answer in answers] == [["error"], ["error"], ["error"], []]


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 20])
def test_input_that_ends_early(cut: int) -> None:
    answers, done = converse(document(b"<a/>") + document(b"<a/>")[:cut])
    assert answers == [{}]
    assert done.returncode == 0


def test_a_helper_that_nobody_kills_ends_itself() -> None:
    body = b"<r>" + b"<a>x</a>" * 8 + b"</r>"
    slow = "//*" + "[//*" * 10 + "[. = 1]" + "]" * 10
    answers, done = converse(document(body) + question(slow, seconds=0.2))
    assert answers == [{}]
    assert done.returncode == -signal.SIGALRM


def test_frames() -> None:
    assert HEADER.size == 8
    assert read_frame(io.BytesIO(frame(b"") + b"rest")) == b""
    assert read_frame(io.BytesIO(b"")) is None
    assert read_frame(io.BytesIO(frame(b"abc")[:-1])) is None
    assert unpack(b'{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="one JSON object"):
        unpack(b"[]")
