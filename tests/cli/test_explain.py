from __future__ import annotations

from pathlib import Path

import pytest

from pathcast.matching import explain
from tests.cli.running import run, write

BODY = "<news lang='en'>\n<person>Ann</person></news>"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, a__xml=BODY, broken__xml="<news>\n<p></news>")


@pytest.mark.parametrize(("xpath", "code"), [("//person[.='Ann']", 0), ("//persona", 1)])
def test_explanation_is_written_and_exit_code_is_the_result(xpath: str, code: int) -> None:
    explanation = explain(xpath, BODY.encode())
    result = run("explain", xpath, "a.xml")
    assert (result.code, result.stdout, result.stderr) == (code, f"{explanation}\n", "")
    result = run("explain", xpath, "a.xml", "--json")
    assert (result.code, result.stderr) == (code, "")
    assert result.rows[0]["document"] == "a.xml"
    assert result.rows[0]["matched"] is (code == 0)


def test_document_may_be_standard_input() -> None:
    assert run("explain", "//b", "-", stdin=b"<a><b/></a>").code == 0


def test_namespace_prefixes_are_resolved() -> None:
    arguments = ("explain", "//p:b", "-")
    assert run(*arguments, "-n", "p=urn:p", stdin=b"<b xmlns='urn:p'/>").code == 0
    assert run(*arguments, "-n", "p=urn:q", stdin=b"<b xmlns='urn:p'/>").code == 1
    assert run(*arguments, stdin=b"<b xmlns='urn:p'/>").code == 2


def test_bad_document_is_exit_code_1() -> None:
    result = run("explain", "//p", "broken.xml")
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.startswith("broken.xml: ")
    assert "(line 2" in result.stderr
    result = run("explain", "//p", "broken.xml", "--json")
    assert result.code == 1
    assert (result.rows[0]["document"], result.rows[0]["error"]["line"]) == ("broken.xml", 2)


def test_bad_xpath_is_exit_code_2_with_a_caret() -> None:
    result = run("explain", "//a[b==1]", "a.xml")
    assert (result.code, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert lines[lines.index("  //a[b==1]") + 1].strip() == "^"


def test_expensive_xpath_must_be_allowed() -> None:
    assert run("explain", "//*[//*=//*]", "a.xml").code == 2
    assert run("explain", "//*[//*=//*]", "a.xml", "--allow-expensive").code == 0


@pytest.mark.parametrize(
    ("document", "message"),
    [("none.xml", "none.xml: No such file"), (".", "a folder"), ("a\0b", "null")],
)
def test_bad_call_is_exit_code_2(document: str, message: str) -> None:
    result = run("explain", "//a", document)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr
