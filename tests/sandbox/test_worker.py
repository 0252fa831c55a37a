"""The XPath worker process, driven over its pipes without a runner."""

from __future__ import annotations

import io
import signal
import subprocess

import pytest

from pathcast.sandbox.frames import HEADER, JsonObject, frame, read_frame, unpack
from pathcast.sandbox.processes import child_environment, python_module_command

LIMITS = {"size": 1000, "depth": 10, "attributes": 10, "elements": 10, "attributes_total": 10}


def request(xpath: str, seconds: float = 60) -> bytes:
    return frame({"xpath": xpath, "namespaces": [], "seconds": seconds})


def document(body: bytes) -> bytes:
    return frame({"document": LIMITS, "seconds": 60}) + frame(body)


def exchange(requests: bytes) -> tuple[list[JsonObject], subprocess.CompletedProcess[bytes]]:
    process = subprocess.run(
        python_module_command("pathcast.sandbox.worker"),
        input=requests,
        capture_output=True,
        check=False,
        env=child_environment(),
    )
    source = io.BytesIO(process.stdout)
    responses = []
    while (octets := read_frame(source)) is not None:
        responses.append(unpack(octets))
    return responses, process


def test_requests_are_answered_in_order() -> None:
    requests = (
        document(b"<a/>") + request("//a") + request("//b") + document(b"<b/>") + request("//b")
    )
    responses, process = exchange(requests)
    assert responses == [{}, {"holds": True}, {"holds": False}, {}, {"holds": True}]
    assert (process.returncode, process.stderr) == (0, b"")


def test_expressions_without_a_document_are_errors() -> None:
    responses, _ = exchange(request("//a") + document(b"<a") + request("//a") + document(b"<a/>"))
    assert [list(response) for response in responses] == [["error"], ["error"], ["error"], []]


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 20])
def test_truncated_input_ends_the_worker(cut: int) -> None:
    responses, process = exchange(document(b"<a/>") + document(b"<a/>")[:cut])
    assert responses == [{}]
    assert process.returncode == 0


def test_worker_ends_itself_if_not_killed() -> None:
    body = b"<r>" + b"<a>x</a>" * 8 + b"</r>"
    slow = "//*" + "[//*" * 10 + "[. = 1]" + "]" * 10
    responses, process = exchange(document(body) + request(slow, seconds=0.2))
    assert responses == [{}]
    assert process.returncode == -signal.SIGALRM


def test_frame_round_trip() -> None:
    assert HEADER.size == 8
    assert read_frame(io.BytesIO(frame(b"") + b"rest")) == b""
    assert read_frame(io.BytesIO(b"")) is None
    assert read_frame(io.BytesIO(frame(b"abc")[:-1])) is None
    assert unpack(b'{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="one JSON object"):
        unpack(b"[]")
