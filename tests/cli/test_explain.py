from __future__ import annotations

import zipfile
from collections import Counter
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


# one subscription, many documents

PRICE = "step 1, //item: in [price[. < 10]], step 1, /price: [. < 10] failed"
MALFORMED = "Premature end of data in tag news line 1"


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder of five documents, one of them malformed, and subscriptions."""
    write(tmp_path, s__tsv="cheap\t//item[price < 10]\nbad\t//item[\nall\t//item\n")
    (tmp_path / "feed").mkdir()
    write(
        tmp_path / "feed",
        a__xml="<news><item><price>12</price></item></news>",
        b__xml="<news><item><price>7</price></item></news>",
        c__xml="<news><items/></news>",
        d__xml="<news>\n<item><price>99</price></item></news>",
        e__xml="<news>",
    )
    return tmp_path


def test_failures_are_grouped_with_an_example(feed: Path) -> None:
    result = run("explain", "s.tsv", "cheap", "feed")
    assert result.code == 1, "a document is bad"
    assert result.stdout.splitlines() == [
        "cheap: //item[price < 10]",
        "1 of 5 documents matched, the first is feed/b.xml",
        "2 failed, the first is feed/a.xml",
        f"  {PRICE}, found '12' (line 1)",
        "1 failed, the first is feed/c.xml",
        "  step 1, //item: the document has no descendant 'item'",
        "  hint: no 'item'; did you mean 'items'?",
        f"1 could not be read (malformed), the first is feed/e.xml: {MALFORMED}",
    ]


def test_groups_as_json_equal_the_explanations_of_single_documents(feed: Path) -> None:
    (row,) = run("explain", "s.tsv", "cheap", "feed", "--json").rows
    assert (row["id"], row["xpath"]) == ("cheap", "//item[price < 10]")
    assert (row["documents"], row["matched"], row["first_match"]) == (5, 1, "feed/b.xml")
    assert [error["count"] for error in row["errors"]] == [1]
    counts: Counter[tuple[str, ...]] = Counter()
    for name in "abcd":
        body = (feed / f"feed/{name}.xml").read_bytes()
        explanation = explain("//item[price < 10]", body)
        counts.update([explanation.failures] if not explanation.matched else [])
    assert {tuple(group["failures"]): group["count"] for group in row["failed"]} == counts
    assert [group["document"] for group in row["failed"]] == ["feed/a.xml", "feed/c.xml"]


def test_exit_code_is_0_if_a_document_matches(feed: Path) -> None:
    assert run("explain", "s.tsv", "cheap", "feed/a.xml", "feed/b.xml").code == 0
    assert run("explain", "s.tsv", "cheap", "feed/a.xml", "feed/c.xml").code == 1


def test_archives_and_ids_of_lines_are_read(feed: Path) -> None:
    write(feed, n__txt="//p:item\n")
    with zipfile.ZipFile(feed / "a.zip", "w") as archive:
        archive.writestr("m.xml", "<item xmlns='urn:p'/>")
    result = run("explain", "n.txt", "1", "a.zip", "-n", "p=urn:p")
    assert result.code == 0
    assert "the first is a.zip!m.xml" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s.tsv", "none", "feed"], "there is no subscription 'none' in s.tsv"),
        (["none.tsv", "all", "feed"], "none.tsv: No such file"),
        (["//item", "feed/a.xml", "feed/b.xml"], "an XPath is explained on one document"),
        (["s.tsv", "all", "none"], "none: No such file"),
        (["s.tsv", "bad", "feed"], "s.tsv:2: "),
        (["feed", "all", "feed"], "is not known"),
        (["-", "all", "-", "--format", "tsv"], "both"),
    ],
)
def test_bad_call_of_the_second_form(feed: Path, arguments: list[str], message: str) -> None:
    result = run("explain", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr


def test_missing_documents_are_reported(feed: Path) -> None:
    (feed / "empty").mkdir()
    result = run("explain", "s.tsv", "all", "empty")
    assert result.code == 1
    assert "there are no documents in empty" in result.stderr
    assert "0 of 0 documents matched" in result.stdout


def test_twenty_groups_are_listed(feed: Path) -> None:
    names = [f"x{number}" for number in range(30)]
    write(feed, many__txt=" | ".join(f"//{name}/y" for name in names) + "\n")
    (feed / "many").mkdir()
    for name in names:
        (feed / f"many/{name}.xml").write_text(f"<{name}/>")
    result = run("explain", "many.txt", "1", "many")
    assert result.stdout.splitlines()[-1] == "10 failed in 10 other ways"
    (row,) = run("explain", "many.txt", "1", "many", "--json").rows
    assert len(row["failed"]) == 30
