"""Style sheets in a worker process: results, deadlines, limits, and failures of the worker."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from lxml import etree

from pathcast.documents import Limits
from pathcast.errors import EvaluationError, StylesheetError
from pathcast.generators.feeds import bundled_stylesheet, stock, weather
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.weather import WeatherOptions
from pathcast.sandbox.child import ChildProcess
from pathcast.sandbox.xslt import _MAX_REQUEST_DOCUMENTS, StylesheetRunner
from pathcast.xslt import rows_xml

XSL = "http://www.w3.org/1999/XSL/Transform"
AMPLE = 60.0  # seconds; for requests that must not exceed their deadline
SHORT = 0.5


def sheet(inside: str, spaces: str = "") -> bytes:
    return (
        f'<xsl:stylesheet version="1.0" xmlns:xsl="{XSL}"{spaces}>\n{inside}\n</xsl:stylesheet>'
    ).encode()


def body(inside: str, spaces: str = "") -> bytes:
    return sheet(f'<xsl:template match="/">\n{inside}\n</xsl:template>', spaces)


def doubling(inside: str, levels: int) -> bytes:
    """Return a style sheet that repeats `inside` 2 ** levels times; //@n overrides the levels."""
    recurse = (
        '<xsl:call-template name="d"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
    )
    return sheet(
        f"""<xsl:template name="d"><xsl:param name="n"/>
              <xsl:choose><xsl:when test="$n &gt; 0">{recurse}{recurse}</xsl:when>
              <xsl:otherwise>{inside}</xsl:otherwise></xsl:choose></xsl:template>
            <xsl:template match="/"><m><xsl:call-template name="d">
              <xsl:with-param name="n" select="sum(//@n) + {levels} * not(//@n)"/>
            </xsl:call-template></m></xsl:template>"""
    )


COPY = body('<m><xsl:copy-of select="/*/node()|/*/@*"/></m>')
ENDLESS = doubling("", 60)


def bundled_text(name: str) -> bytes:
    return (resources.files("pathcast.generators") / "stylesheets" / f"{name}.xsl").read_bytes()


def pid_of(runner: StylesheetRunner) -> int:
    assert runner._child is not None
    return runner._child.pid


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def kinds(answers: Iterator[bytes | EvaluationError]) -> list[str]:
    return ["" if isinstance(answer, bytes) else answer.kind for answer in answers]


def failure(runner: StylesheetRunner, document: bytes) -> EvaluationError:
    with pytest.raises(EvaluationError) as caught:
        runner.transform(document)
    return caught.value


@pytest.fixture(scope="module")
def copier() -> Iterator[StylesheetRunner]:
    with StylesheetRunner(COPY, "copy.xsl", AMPLE, 10_000_000) as runner:
        yield runner


def test_weather_equals_the_result_in_process() -> None:
    rows = [row.values for row in weather.rows(WeatherOptions(until=6000), 1)]
    assert len(rows) > 2 * _MAX_REQUEST_DOCUMENTS
    in_process = bundled_stylesheet("weather")
    with StylesheetRunner(bundled_text("weather"), "weather.xsl", AMPLE) as runner:
        expected = [in_process.transform_rows(weather.FIELDS, [row], timed="yes") for row in rows]
        documents = [rows_xml(weather.FIELDS, [row]) for row in rows]
        assert list(runner.transform_batch(documents, {"timed": "yes"})) == expected
        assert runner.transform_rows(weather.FIELDS, rows[:1], timed="yes") == expected[0]
        assert runner.transform_rows(weather.FIELDS, rows[:1]) == in_process.transform_rows(
            weather.FIELDS, rows[:1]
        )


def test_stock_equals_the_result_in_process() -> None:
    rows = [row.values for row in stock.rows(StockOptions(symbols=60, period=7000), 1)]
    groups = [rows[start : start + 60] for start in range(0, len(rows), 60)]
    in_process = bundled_stylesheet("stock")
    with StylesheetRunner(bundled_text("stock"), "stock.xsl", AMPLE) as runner:
        for group in groups:
            assert runner.transform_rows(stock.FIELDS, group) == in_process.transform_rows(
                stock.FIELDS, group
            )


def test_encodings_entities_and_comments(copier: StylesheetRunner) -> None:
    text = "é東<&>"
    document = f'<a b="1"><c>{text.replace("&", "&amp;").replace("<", "&lt;")}</c></a>'
    for encoding in ("utf-8", "utf-16"):
        root = etree.fromstring(copier.transform(document.encode(encoding)))
        assert (root.tag, root.get("b"), root.findtext("c")) == ("m", "1", text)
    entities = b"<!DOCTYPE a [<!ENTITY e 'inside'>]><a>&e;</a>"
    assert etree.fromstring(copier.transform(entities)).text == "inside"
    with StylesheetRunner(
        body('<m c="{count(/comment())}"/>'), "c.xsl", deadline=AMPLE
    ) as runner:  # nodes beside the root element belong to the document
        assert b'c="2"' in runner.transform(b"<!--1--><a/><!--2-->")


def test_documents_that_cannot_be_parsed(copier: StylesheetRunner, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    outside = f"<!DOCTYPE a [<!ENTITY e SYSTEM '{secret}'>]><a>&e;</a>".encode()
    error = failure(copier, b"<a>\n<b></a>")
    assert (error.kind, "line 2" in error.message) == ("malformed", True)
    assert kinds(copier.transform_batch([b"", b"<a/>", b"<a>\xff</a>"])) == [
        "empty",
        "",
        "encoding",
    ]
    assert b"secret" not in b"".join(
        answer for answer in copier.transform_batch([outside]) if isinstance(answer, bytes)
    )
    with StylesheetRunner(COPY, "copy.xsl", AMPLE, limits=Limits(size=10)) as runner:
        assert failure(runner, b"<abcdefghijk/>").kind == "size"


def test_empty_batch(copier: StylesheetRunner) -> None:
    assert list(copier.transform_batch([])) == []


def test_rows_that_cannot_be_xml_raise(copier: StylesheetRunner) -> None:
    with pytest.raises(StylesheetError, match="a row cannot be XML"):
        copier.transform_rows(("a b",), [("1",)])


def test_large_documents(copier: StylesheetRunner) -> None:
    bodies = [b"<a>" + bytes([letter]) * 9_000_000 + b"</a>" for letter in b"xyz"]
    for document, answer in zip(bodies, copier.transform_batch(bodies), strict=True):
        assert isinstance(answer, bytes)
        assert etree.fromstring(answer).text == document[3:-4].decode()


def test_large_results_end_a_response_early() -> None:
    with StylesheetRunner(doubling("<x>0123456789</x>", 15), "grow.xsl", AMPLE) as runner:
        answers = runner.transform_batch([b"<a/>"] * 12)
        sizes = [len(answer) for answer in answers if isinstance(answer, bytes)]
        assert len(sizes) == 12
        assert min(sizes) == max(sizes) > 500_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"<a", "own.xsl, line 1: "),
        (sheet('<xsl:include href="/x.xsl"/>'), "own.xsl, line 2: xsl:include is refused"),
        (body('<m a="{b[}"/>'), "own.xsl, line 3: "),
    ],
)
def test_constructor_rejects_a_bad_stylesheet(text: bytes, message: str) -> None:
    with pytest.raises(StylesheetError, match=message) as caught:
        StylesheetRunner(text, "own.xsl", AMPLE)
    assert caught.value.kind == "sheet"


def test_memory_of_the_parent_does_not_count() -> None:
    """The worker's peak must not include that of the process that forked it."""
    ballast = bytearray(b"x") * (700 << 20)
    with StylesheetRunner(body("text"), "own.xsl", AMPLE) as runner:
        assert failure(runner, b"<a/>").kind == "sheet"
    assert len(ballast) == 700 << 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            sheet('<xsl:template match="/"><xsl:apply-templates select="/"/></xsl:template>'),
            "recursion",
        ),
        (body("""<m><xsl:copy-of select="document('/etc/passwd')"/></m>"""), "own.xsl, line 3: "),
        (body('<xsl:message terminate="yes">not like this</xsl:message>'), "not like this"),
        (body("<m/><m/>"), "makes no XML document"),
        (body("text"), "makes no XML document"),
    ],
)
def test_failing_stylesheets(text: bytes, message: str) -> None:
    with StylesheetRunner(text, "own.xsl", AMPLE) as runner:
        error = failure(runner, b"<a/>")
        assert error.kind == "sheet"
        assert message in error.message
        pid = pid_of(runner)
        assert kinds(runner.transform_batch([b"<a/>", b"<b/>"])) == ["sheet", "sheet"]
        assert pid_of(runner) == pid


@pytest.mark.parametrize(
    "text",
    [
        ENDLESS,
        doubling("<x/>", 60),
        doubling("<xsl:message>hello</xsl:message>", 60),
        doubling('<xsl:value-of select="//*[//*[//*]]"/>', 60),
    ],
)
def test_endless_stylesheets(text: bytes) -> None:
    with StylesheetRunner(text, "own.xsl", SHORT) as runner:
        error = failure(runner, b"<a/>")
        assert (error.kind, error.message) == ("deadline", "own.xsl took longer than 0.5 s")


def test_deadline_applies_to_each_document() -> None:
    slow, quick = b"<a n='60'/>", b"<a n='1'/>"
    with StylesheetRunner(doubling("<x/>", 1), "own.xsl", 1.0) as runner:
        runner.transform(quick)
        pid = pid_of(runner)
        answers = runner.transform_batch([quick, slow, slow, quick])
        assert kinds(answers) == ["", "deadline", "deadline", ""]
        assert is_gone(pid)
        assert runner.transform(quick) == b'<?xml version="1.0"?>\n<m><x/><x/></m>\n'


def test_result_over_max_bytes_is_an_error_of_its_document_alone() -> None:
    with StylesheetRunner(doubling("<x/>", 1), "own.xsl", AMPLE, max_bytes=1000) as runner:
        bodies = [b"<a n='2'/>", b"<a n='12'/>", b"<a n='2'/>"]
        assert kinds(runner.transform_batch(bodies)) == ["", "size", ""]
        assert "more than 1,000" in failure(runner, bodies[1]).message


STRING = sheet(
    """<xsl:template name="s"><xsl:param name="s"/><xsl:param name="n"/>
         <xsl:choose><xsl:when test="$n &gt; 0"><xsl:call-template name="s">
           <xsl:with-param name="s" select="concat($s, $s)"/>
           <xsl:with-param name="n" select="$n - 1"/>
         </xsl:call-template></xsl:when>
         <xsl:otherwise><xsl:value-of select="string-length($s)"/></xsl:otherwise></xsl:choose>
       </xsl:template>
       <xsl:template match="/"><m><xsl:call-template name="s">
         <xsl:with-param name="s" select="'0123456789'"/><xsl:with-param name="n" select="//@n"/>
       </xsl:call-template></m></xsl:template>"""
)


def test_memory_is_limited() -> None:
    with StylesheetRunner(STRING, "own.xsl", AMPLE, memory=200 << 20) as runner:
        assert b"<m>40</m>" in runner.transform(b"<a n='2'/>")
        pid = pid_of(runner)
        bodies = [b"<a n='2'/>", b"<a n='60'/>", b"<a n='3'/>"]
        answers = list(runner.transform_batch(bodies))
        assert kinds(iter(answers)) == ["", "memory", ""]
        assert is_gone(pid)
        assert "200 MB allowed" in str(answers[1])


def test_worker_is_reused_until_close() -> None:
    with StylesheetRunner(COPY, "copy.xsl", AMPLE) as runner:
        runner.transform(b"<a/>")
        pid = pid_of(runner)
        failure(runner, b"<a>")
        runner.transform(b"<a/>")
        assert pid_of(runner) == pid
    assert is_gone(pid)
    with pytest.raises(ValueError, match="closed"):
        runner.transform(b"<a/>")


def test_worker_that_died_while_idle_is_replaced_without_an_error() -> None:
    with StylesheetRunner(COPY, "copy.xsl", AMPLE) as runner:
        runner.transform(b"<a/>")
        pid = pid_of(runner)
        os.kill(pid, signal.SIGKILL)
        assert b"<m>1</m>" in runner.transform(b"<a>1</a>")
        assert pid_of(runner) != pid


def test_worker_killed_during_a_request_loses_no_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker dies between two responses; the second is longer than a pipe's capacity."""
    killed: list[int] = []
    receive = ChildProcess.receive

    def receive_then_kill(child: ChildProcess, seconds: float, max_bytes: int) -> bytes:
        answer = receive(child, seconds, max_bytes)
        if not killed:
            killed.append(child.pid)
            os.kill(child.pid, signal.SIGKILL)
        return answer

    with StylesheetRunner(doubling("<x/>", 1), "own.xsl", AMPLE) as runner:
        monkeypatch.setattr(ChildProcess, "receive", receive_then_kill)
        answers = list(runner.transform_batch([b"<a n='1'/>", b"<a n='15'/>", b"<a n='1'/>"]))
        assert len(killed) == 1
        assert killed != [pid_of(runner)]
        sizes = [answer.count(b"<x/>") for answer in answers if isinstance(answer, bytes)]
        assert sizes == [2, 1 << 15, 2]


def test_document_that_kills_its_worker_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's own timer ends it during the request, long before the deadline."""
    monkeypatch.setattr("pathcast.sandbox.xslt.GRACE_SECONDS", 0.3 - AMPLE)
    with StylesheetRunner(doubling("<x/>", 1), "own.xsl", AMPLE) as runner:
        bodies = [b"<a n='1'/>", b"<a n='60'/>", b"<a n='1'/>"]
        answers = list(runner.transform_batch(bodies))
        assert kinds(iter(answers)) == ["", "helper", ""]
        assert "SIGALRM" in str(answers[1])


def test_stopped_worker_is_replaced() -> None:
    with StylesheetRunner(COPY, "copy.xsl", 1.0) as runner:
        runner.transform(b"<a/>")
        pid = pid_of(runner)
        os.kill(pid, signal.SIGSTOP)
        assert failure(runner, b"<a/>").kind == "deadline"
        assert is_gone(pid)
        assert runner.transform(b"<a/>")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\necho no such luck >&2; exit 1", "no such luck"),
        ("#!/bin/sh\necho this is no frame at all; exec cat >/dev/null", "makes no sense"),
        ("#!/nowhere/to/be/found", "No such file"),
    ],
)
def test_worker_that_cannot_start_raises(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "python"
    fake.write_text(program)
    fake.chmod(0o755)
    with StylesheetRunner(COPY, "copy.xsl", AMPLE) as runner:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(fake))
            with pytest.raises(EvaluationError, match=reason) as caught:
                list(runner.transform_batch([b"<a/>"]))
        assert caught.value.kind == "helper"
        assert runner.transform(b"<a/>")


def test_threads_share_a_runner(copier: StylesheetRunner) -> None:
    answers: dict[int, list[bytes | EvaluationError]] = {}

    def work(number: int) -> None:
        answers[number] = list(
            copier.transform_batch([b"<a>%d</a>" % number] * (2 * _MAX_REQUEST_DOCUMENTS))
        )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        assert set(answers[number]) == {b'<?xml version="1.0"?>\n<m>%d</m>\n' % number}


def test_abandoned_iteration_leaves_no_response_behind(copier: StylesheetRunner) -> None:
    answers = copier.transform_batch(
        [b"<a>%d</a>" % number for number in range(3 * _MAX_REQUEST_DOCUMENTS)]
    )
    assert b"<m>0</m>" in next(answers)  # type: ignore[operator]
    assert b"<m>new</m>" in copier.transform(b"<a>new</a>")
    assert b"<m>1</m>" in next(answers)  # type: ignore[operator]
    del answers
    assert b"<m>new</m>" in copier.transform(b"<a>new</a>")


def test_each_forked_process_has_its_own_worker(copier: StylesheetRunner) -> None:
    copier.transform(b"<a/>")
    pid = pid_of(copier)
    forked = os.fork()
    if forked == 0:  # the child must not return to pytest
        status = 1
        try:
            correct = b"<m>1</m>" in copier.transform(b"<a>1</a>")
            status = 0 if correct and pid_of(copier) != pid else 2
            copier.close()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert b"<m>2</m>" in copier.transform(b"<a>2</a>")
    assert pid_of(copier) == pid


@pytest.mark.parametrize("deadline", [0, -1, float("nan")])
def test_deadline_must_be_positive(deadline: float) -> None:
    with pytest.raises(ValueError, match="deadline"):
        StylesheetRunner(COPY, "copy.xsl", deadline)
