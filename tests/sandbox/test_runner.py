"""Expressions in a process of their own: answers, deadlines, and helpers that come to grief."""

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
PLENTY = 60.0  # seconds; only what is meant to run into its deadline has a short one
SLOW = Expression("boolean(//*[//*=//*])", ())
MANY = b"<r>" + b"".join(b"<a>%d</a>" % number for number in range(20_000)) + b"</r>"


def ask(*xpaths: str) -> list[Expression]:
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
    with ProcessRunner(deadline=PLENTY) as runner:
        yield runner


def test_it_is_a_runner(runner: ProcessRunner) -> None:
    as_runner: Runner = runner
    assert as_runner.run(BODY, ask("boolean(//b)")) == [True]


def test_answers_come_in_order(runner: ProcessRunner) -> None:
    wanted = ask("boolean(//b)", "boolean(//d)", "//b = 'tea'", "count(//*) = 3", "not(//c)")
    assert runner.run(BODY, wanted) == [True, False, True, True, True]
    assert runner.run(b"<d/>", wanted) == [False, True, False, False, True]
    assert runner.run(BODY, []) == []


def test_namespaces(runner: ProcessRunner) -> None:
    known = Expression("boolean(/a/p:c)", (("p", "urn:c"),))
    other = Expression("boolean(/a/p:c)", (("p", "urn:d"), ("q", "urn:c")))
    assert runner.run(BODY, [known, other]) == [True, False]


def test_values_become_booleans_as_xpath_says(runner: ProcessRunner) -> None:
    wanted = ask(
        "0", "1", "0 div 0", "-1 div 0", "''", "'x'", "//b", "//d", "//b/@k", "string(//d)"
    )
    expected = [False, True, False, True, False, True, True, False, True, False]
    assert runner.run(BODY, wanted) == expected


def test_what_cannot_be_evaluated_is_an_error_of_its_own(runner: ProcessRunner) -> None:
    wanted = ask(
        "boolean(//b)", "//b[", "p:b", "nothing()", "$x", "\0", "\ud800", "document('x')", "true()"
    )
    answers = runner.run(BODY, wanted)
    assert kinds(answers) == [True, *["residual"] * 7, True]
    test = Expression("re:test('a', 'a')", (("re", "http://exslt.org/regular-expressions"),))
    assert kinds(runner.run(BODY, [test])) == ["residual"]
    assert kinds(runner.run(BODY, [Expression("//b", (("", "urn:c"),))])) == ["residual"]


def test_a_document_that_is_none(runner: ProcessRunner) -> None:
    assert kinds(runner.run(b"<a>", ask("//a", "//b"))) == ["document", "document"]
    assert runner.run(BODY, ask("//b")) == [True]


def test_limits_reach_the_helper() -> None:
    with ProcessRunner(deadline=PLENTY, limits=Limits(elements=2)) as runner:
        assert kinds(runner.run(BODY, ask("//a"))) == ["document"]
        assert runner.run(b"<a><b/></a>", ask("//a")) == [True]


def test_a_big_document(runner: ProcessRunner) -> None:
    body = b"<a>" + b"x" * 9_000_000 + b"</a>"
    assert runner.run(body, ask("string-length(/a) = 9000000")) == [True]


def test_the_helper_stays_warm(runner: ProcessRunner) -> None:
    runner.run(BODY, ask("//b"))
    pid = pid_of(runner)
    runner.run(BODY, ask("//b["))
    runner.run(b"<a>", ask("//b"))
    runner.run(BODY, ask("//b"))
    assert pid_of(runner) == pid


def test_a_deadline_is_for_one_expression_only() -> None:
    with ProcessRunner(deadline=0.5) as runner:
        quick, other = ask("boolean(//a)", "boolean(//b)")
        answers = runner.run(MANY, [quick, SLOW, other, quick])
        assert kinds(answers) == [True, "deadline", False, True]
        error = answers[1]
        assert isinstance(error, EvaluationError)
        assert error.message == "no answer within 0.5 s"
        assert kinds(runner.run(MANY, [SLOW])) == ["deadline"]
        assert runner.run(BODY, [other]) == [True]


def test_a_helper_that_is_killed_while_it_works_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ProcessRunner(deadline=PLENTY) as runner:
        runner.run(MANY, ask("//b"))
        pid = pid_of(runner)
        with monkeypatch.context() as patch:
            # Its own alarm strikes in the middle of the work, long before the deadline.
            patch.setattr("pathcast.sandbox.runner._GRACE", 0.1 - PLENTY)
            answer, still_loaded = runner._evaluate(SLOW)
        assert isinstance(answer, EvaluationError)
        assert (answer.kind, still_loaded) == ("helper", False)
        assert "SIGALRM" in str(answer)
        assert is_gone(pid)
        assert runner.run(MANY, ask("boolean(//a)")) == [True]


def test_a_helper_that_died_in_between_is_replaced_without_a_word() -> None:
    with ProcessRunner(deadline=PLENTY) as runner:
        runner.run(BODY, ask("//b"))
        pid = pid_of(runner)
        os.kill(pid, signal.SIGKILL)
        assert runner.run(BODY, ask("//b", "//d")) == [True, False]
        assert pid_of(runner) != pid
        assert is_gone(pid)


def test_a_helper_that_stands_still_is_replaced() -> None:
    with ProcessRunner(deadline=PLENTY) as runner:
        runner.run(BODY, ask("//b"))
        pid = pid_of(runner)
        os.kill(pid, signal.SIGSTOP)
        runner._deadline = 0.1
        answer, still_loaded = runner._evaluate(ask("//b")[0])
        assert isinstance(answer, EvaluationError)
        assert (answer.kind, still_loaded) == ("deadline", False)
        assert is_gone(pid)
        runner._deadline = PLENTY
        assert runner.run(BODY, ask("//b")) == [True]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\nexit 3", "status 3"),
        ("#!/bin/sh\necho no such luck >&2; exit 1", "no such luck"),
        # It takes the document, so that it is never known to have ended before it answered.
        (
            "#!/bin/sh\necho this is no frame at all; exec cat > /dev/null",
            "makes no sense: an answer of",
        ),
        ("#!/nowhere/to/be/found", "cannot be started"),
    ],
)
def test_a_helper_that_cannot_work(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "python"
    fake.write_text(program)
    fake.chmod(0o755)
    with ProcessRunner(deadline=PLENTY) as runner:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(fake))
            answers = runner.run(BODY, ask("//b", "//c"))
        assert kinds(answers) == ["helper", "helper"]
        assert reason in str(answers[0])
        assert runner.run(BODY, ask("//b")) == [True]


def test_modules_in_the_working_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('trapped')")
    monkeypatch.chdir(tmp_path)
    with ProcessRunner(deadline=PLENTY) as runner:
        assert runner.run(BODY, ask("//b")) == [True]


def test_threads_take_turns(runner: ProcessRunner) -> None:
    answers: list[bool | EvaluationError] = []

    def work(number: int) -> None:
        body = b"<a>%d</a>" % number
        for _ in range(20):
            answers.extend(runner.run(body, ask(f"/a = {number}")))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 80


def test_after_a_fork_each_process_has_its_own(runner: ProcessRunner) -> None:
    runner.run(BODY, ask("//b"))
    pid = pid_of(runner)
    forked = os.fork()
    if forked == 0:  # in here nothing may reach pytest
        status = 1
        try:
            right = runner.run(BODY, ask("//b", "//d")) == [True, False]
            status = 0 if right and pid_of(runner) != pid else 2
            runner.close()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert runner.run(BODY, ask("//b", "//d")) == [True, False]
    assert pid_of(runner) == pid


def test_close() -> None:
    runner = ProcessRunner(deadline=PLENTY)
    runner.close()
    with pytest.raises(ValueError, match="closed"):
        runner.run(BODY, ask("//b"))
    with ProcessRunner(deadline=PLENTY) as runner:
        runner.run(BODY, ask("//b"))
        pid = pid_of(runner)
    assert is_gone(pid)
    runner.close()


def test_a_runner_that_is_forgotten_takes_its_helper_along() -> None:
    runner = ProcessRunner(deadline=PLENTY)
    runner.run(BODY, ask("//b"))
    pid = pid_of(runner)
    del runner
    gc.collect()
    assert is_gone(pid)


@pytest.mark.parametrize("deadline", [0, -1, float("nan")])
def test_a_deadline_must_be_positive(deadline: float) -> None:
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


def test_no_helper_outlives_its_interpreter() -> None:
    process, pid = start(PROGRAM)
    _, errors = process.communicate("\n")
    assert errors == ""
    assert is_gone(pid)


@pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="waiting for a stranger's process takes Linux"
)
def test_no_helper_outlives_an_interpreter_that_is_killed() -> None:
    process, pid = start(PROGRAM)
    helper = os.pidfd_open(pid)
    try:
        process.kill()
        process.communicate()
        assert select.select([helper], [], [], PLENTY)[0] == [helper]
    finally:
        os.close(helper)
