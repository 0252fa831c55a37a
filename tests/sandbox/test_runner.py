"""XPath expressions in a worker process: answers, deadlines, and failures of the worker."""

from __future__ import annotations

import gc
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathcast.documents import Limits
from pathcast.errors import EvaluationError
from pathcast.matching.residual import Expression, Runner
from pathcast.sandbox import ProcessRunner

BODY = b"<a><b k='1'>tea</b><c xmlns='urn:c'/></a>"
AMPLE = 60.0  # seconds; for requests that must not exceed their deadline
SLOW = Expression("boolean(//*[//*=//*])", ())
LARGE = b"<r>" + b"".join(b"<a>%d</a>" % number for number in range(20_000)) + b"</r>"


def expressions(*xpaths: str) -> list[Expression]:
    return [Expression(xpath, ()) for xpath in xpaths]


def kinds(answers: list[bool | EvaluationError]) -> list[bool | str]:
    return [answer.kind if isinstance(answer, EvaluationError) else answer for answer in answers]


def pid_of(runner: ProcessRunner) -> int:
    assert runner._child is not None
    return runner._child.pid


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def runner() -> Iterator[ProcessRunner]:
    with ProcessRunner(deadline=AMPLE) as runner:
        yield runner


def test_process_runner_implements_runner(runner: ProcessRunner) -> None:
    as_runner: Runner = runner
    assert as_runner.run(BODY, expressions("boolean(//b)")) == [True]


def test_answers_are_in_request_order(runner: ProcessRunner) -> None:
    requested = expressions(
        "boolean(//b)", "boolean(//d)", "//b = 'tea'", "count(//*) = 3", "not(//c)"
    )
    assert runner.run(BODY, requested) == [True, False, True, True, True]
    assert runner.run(b"<d/>", requested) == [False, True, False, False, True]
    assert runner.run(BODY, []) == []


def test_namespaces(runner: ProcessRunner) -> None:
    bound = Expression("boolean(/a/p:c)", (("p", "urn:c"),))
    other = Expression("boolean(/a/p:c)", (("p", "urn:d"), ("q", "urn:c")))
    assert runner.run(BODY, [bound, other]) == [True, False]


def test_values_convert_by_the_boolean_function(runner: ProcessRunner) -> None:
    requested = expressions(
        "0", "1", "0 div 0", "-1 div 0", "''", "'x'", "//b", "//d", "//b/@k", "string(//d)"
    )
    expected = [False, True, False, True, False, True, True, False, True, False]
    assert runner.run(BODY, requested) == expected


def test_each_invalid_expression_has_its_own_error(runner: ProcessRunner) -> None:
    requested = expressions(
        "boolean(//b)", "//b[", "p:b", "nothing()", "$x", "\0", "\ud800", "document('x')", "true()"
    )
    answers = runner.run(BODY, requested)
    assert kinds(answers) == [True, *["residual"] * 7, True]
    test = Expression("re:test('a', 'a')", (("re", "http://exslt.org/regular-expressions"),))
    assert kinds(runner.run(BODY, [test])) == ["residual"]
    assert kinds(runner.run(BODY, [Expression("//b", (("", "urn:c"),))])) == ["residual"]


def test_malformed_document(runner: ProcessRunner) -> None:
    assert kinds(runner.run(b"<a>", expressions("//a", "//b"))) == ["document", "document"]
    assert runner.run(BODY, expressions("//b")) == [True]


def test_limits_apply_in_the_worker() -> None:
    with ProcessRunner(deadline=AMPLE, limits=Limits(elements=2)) as runner:
        assert kinds(runner.run(BODY, expressions("//a"))) == ["document"]
        assert runner.run(b"<a><b/></a>", expressions("//a")) == [True]


def test_large_document(runner: ProcessRunner) -> None:
    body = b"<a>" + b"x" * 9_000_000 + b"</a>"
    assert runner.run(body, expressions("string-length(/a) = 9000000")) == [True]


def test_worker_is_reused(runner: ProcessRunner) -> None:
    runner.run(BODY, expressions("//b"))
    pid = pid_of(runner)
    runner.run(BODY, expressions("//b["))
    runner.run(b"<a>", expressions("//b"))
    runner.run(BODY, expressions("//b"))
    assert pid_of(runner) == pid


def test_deadline_applies_to_each_expression() -> None:
    with ProcessRunner(deadline=0.5) as runner:
        quick, other = expressions("boolean(//a)", "boolean(//b)")
        answers = runner.run(LARGE, [quick, SLOW, other, quick])
        assert kinds(answers) == [True, "deadline", False, True]
        error = answers[1]
        assert isinstance(error, EvaluationError)
        assert error.message == "no answer within 0.5 s"
        assert kinds(runner.run(LARGE, [SLOW])) == ["deadline"]
        assert runner.run(BODY, [other]) == [True]


def test_worker_that_dies_during_a_request_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ProcessRunner(deadline=AMPLE) as runner:
        runner.run(LARGE, expressions("//b"))
        pid = pid_of(runner)
        with monkeypatch.context() as patch:
            # The worker's own timer ends it during the request, long before the deadline.
            patch.setattr("pathcast.sandbox.runner.GRACE_SECONDS", 0.1 - AMPLE)
            answer, still_loaded = runner._evaluate(SLOW)
        assert isinstance(answer, EvaluationError)
        assert (answer.kind, still_loaded) == ("helper", False)
        assert "SIGALRM" in str(answer)
        assert is_gone(pid)
        assert runner.run(LARGE, expressions("boolean(//a)")) == [True]


def test_worker_that_died_while_idle_is_replaced_without_an_error() -> None:
    with ProcessRunner(deadline=AMPLE) as runner:
        runner.run(BODY, expressions("//b"))
        pid = pid_of(runner)
        os.kill(pid, signal.SIGKILL)
        assert runner.run(BODY, expressions("//b", "//d")) == [True, False]
        assert pid_of(runner) != pid
        assert is_gone(pid)


def test_stopped_worker_is_replaced() -> None:
    with ProcessRunner(deadline=AMPLE) as runner:
        runner.run(BODY, expressions("//b"))
        pid = pid_of(runner)
        os.kill(pid, signal.SIGSTOP)
        runner._deadline = 0.1
        answer, still_loaded = runner._evaluate(expressions("//b")[0])
        assert isinstance(answer, EvaluationError)
        assert (answer.kind, still_loaded) == ("deadline", False)
        assert is_gone(pid)
        runner._deadline = AMPLE
        assert runner.run(BODY, expressions("//b")) == [True]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\nexit 3", "status 3"),
        ("#!/bin/sh\necho no such luck >&2; exit 1", "no such luck"),
        # It reads the document, so that its end is not noticed before its answer.
        (
            "#!/bin/sh\necho this is no frame at all; exec cat > /dev/null",
            "makes no sense: an answer of",
        ),
        ("#!/nowhere/to/be/found", "cannot be started"),
    ],
)
def test_worker_that_cannot_start_or_respond(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "python"
    fake.write_text(program)
    fake.chmod(0o755)
    with ProcessRunner(deadline=AMPLE) as runner:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(fake))
            answers = runner.run(BODY, expressions("//b", "//c"))
        assert kinds(answers) == ["helper", "helper"]
        assert reason in str(answers[0])
        assert runner.run(BODY, expressions("//b")) == [True]


def test_working_directory_is_not_on_the_module_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('trapped')")
    monkeypatch.chdir(tmp_path)
    with ProcessRunner(deadline=AMPLE) as runner:
        assert runner.run(BODY, expressions("//b")) == [True]


def test_threads_share_a_runner(runner: ProcessRunner) -> None:
    answers: list[bool | EvaluationError] = []

    def work(number: int) -> None:
        body = b"<a>%d</a>" % number
        for _ in range(20):
            answers.extend(runner.run(body, expressions(f"/a = {number}")))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 80


def test_each_forked_process_has_its_own_worker(runner: ProcessRunner) -> None:
    runner.run(BODY, expressions("//b"))
    pid = pid_of(runner)
    forked = os.fork()
    if forked == 0:  # the child must not return to pytest
        status = 1
        try:
            correct = runner.run(BODY, expressions("//b", "//d")) == [True, False]
            status = 0 if correct and pid_of(runner) != pid else 2
            runner.close()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert runner.run(BODY, expressions("//b", "//d")) == [True, False]
    assert pid_of(runner) == pid


def test_close() -> None:
    runner = ProcessRunner(deadline=AMPLE)
    runner.close()
    with pytest.raises(ValueError, match="closed"):
        runner.run(BODY, expressions("//b"))
    with ProcessRunner(deadline=AMPLE) as runner:
        runner.run(BODY, expressions("//b"))
        pid = pid_of(runner)
    assert is_gone(pid)
    runner.close()


def test_garbage_collection_of_a_runner_stops_its_worker() -> None:
    runner = ProcessRunner(deadline=AMPLE)
    runner.run(BODY, expressions("//b"))
    pid = pid_of(runner)
    del runner
    gc.collect()
    assert is_gone(pid)


@pytest.mark.parametrize("deadline", [0, -1, float("nan")])
def test_deadline_must_be_positive(deadline: float) -> None:
    with pytest.raises(ValueError, match="deadline"):
        ProcessRunner(deadline=deadline)


PROGRAM = """
    import os, signal, sys
    from pathcast.sandbox import ProcessRunner
    from pathcast.matching.residual import Expression

    runner = ProcessRunner(deadline=60)
    runner.run(b"<a/>", [Expression("//a", ())])
    print(runner._child.pid, flush=True)
    sys.stdin.readline()
"""


def start(program: str) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def test_worker_ends_with_its_interpreter() -> None:
    process, pid = start(PROGRAM)
    _, errors = process.communicate("\n")
    assert errors == ""
    assert is_gone(pid)


@pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="waiting for another process's child needs Linux"
)
def test_worker_ends_when_its_interpreter_is_killed() -> None:
    process, pid = start(PROGRAM)
    worker = os.pidfd_open(pid)
    try:
        process.kill()
        process.communicate()
        assert select.select([worker], [], [], AMPLE)[0] == [worker]
    finally:
        os.close(worker)
