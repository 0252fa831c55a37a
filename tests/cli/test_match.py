from __future__ import annotations

import gzip
import json
import os
import zipfile
from array import array
from pathlib import Path

import pytest

from pathcast.errors import DocumentError, EvaluationError
from pathcast.files import Subscription, write_documents, write_subscriptions
from pathcast.matching import Matcher, Matches
from tests.cli.running import run, write


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with three documents (the last is malformed) and subscriptions; return it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    write(tmp_path / "docs", a__xml="<a><b/></a>", b__xml="<b>\n<c/></b>", c__xml="<c>\n<d></c>")
    write(tmp_path, subs__txt="//b\n# none\n\n/b/c\n", bad__txt="//b\n//c[\n//b==1\n/b\n")
    return tmp_path


def test_each_document_is_a_line_with_its_matches(here: Path) -> None:
    result = run("match", "subs.txt", "docs/a.xml", "docs/b.xml")
    assert result.code == 0
    assert result.rows == [
        {"document": "docs/a.xml", "matches": [1]},
        {"document": "docs/b.xml", "matches": [1, 4]},
    ]
    assert result.stderr == "", "all subscriptions matched"


def test_failed_document_is_a_line_and_exit_code_1(here: Path) -> None:
    result = run("match", "subs.txt", "docs")
    assert result.code == 1
    assert [row["document"] for row in result.rows] == ["docs/a.xml", "docs/b.xml", "docs/c.xml"]
    with pytest.raises(DocumentError) as caught:
        Matcher().match((here / "docs/c.xml").read_bytes())
    assert result.rows[2] == {"document": "docs/c.xml", "error": caught.value.as_dict()}
    assert caught.value.line == 2


def test_unreadable_file_is_a_line(here: Path) -> None:
    (here / "docs/aa.xml").symlink_to("nowhere")
    result = run("match", "subs.txt", "docs")
    assert result.code == 1
    error = {"kind": "unreadable", "message": "No such file or directory"}
    assert result.rows[1] == {"document": "docs/aa.xml", "error": error}
    assert len(result.rows) == 4


def test_bad_subscriptions_are_all_reported_and_nothing_is_matched(here: Path) -> None:
    result = run("match", "bad.txt", "docs/a.xml")
    assert result.code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines if line.startswith("bad.txt")] == [
        "bad.txt:2",
        "bad.txt:3",
    ]
    assert "  //b==1" in lines
    assert lines[lines.index("  //b==1") + 1].strip() == "^"
    assert "hint:" in result.stderr
    assert "2 bad subscriptions in bad.txt; nothing was done" in lines[-1]


def test_skip_bad_reports_bad_subscriptions_and_continues(here: Path) -> None:
    result = run("match", "--skip-bad", "bad.txt", "docs/b.xml")
    assert result.code == 0
    assert result.rows == [{"document": "docs/b.xml", "matches": [1, 4]}]
    assert "bad.txt:2: " in result.stderr
    assert "2 bad subscriptions in bad.txt skipped, 2 accepted" in result.stderr


def test_malformed_rows_are_reported_like_bad_xpaths(here: Path) -> None:
    write(here, mixed__jsonl='{"id": "x", "xpath": "//b["}\n{"id": 1}\n{"id": 7, "xpath": "//b"}\n')
    result = run("match", "mixed.jsonl", "docs/a.xml", "--skip-bad")
    assert result.rows == [{"document": "docs/a.xml", "matches": [7]}]
    assert "mixed.jsonl:1: subscription 'x': " in result.stderr
    assert "mixed.jsonl:2: columns: there is no 'xpath'" in result.stderr


@pytest.mark.parametrize("name", ["s.tsv", "s.jsonl", "s.parquet", "s.txt.gz", "s.jsonl.gz"])
def test_every_subscription_format_is_read(here: Path, name: str) -> None:
    key: str | int = 1 if ".txt" in name else "x"
    write_subscriptions(here / name, [Subscription(key, "//b")])
    result = run("match", name, "docs/a.xml")
    assert (result.code, result.rows) == (0, [{"document": "docs/a.xml", "matches": [key]}])


def test_standard_input_as_document_or_as_subscriptions(here: Path) -> None:
    result = run("match", "subs.txt", "docs/a.xml", "-", stdin=b"<b><c/></b>")
    assert result.rows[1] == {"document": "-", "matches": [1, 4]}
    packed = gzip.compress(b"x\t//b\n")
    result = run("match", "-", "docs/a.xml", "--format", "tsv", stdin=packed)
    assert result.rows == [{"document": "docs/a.xml", "matches": ["x"]}]


def test_namespace_options_apply_to_all_subscriptions(here: Path) -> None:
    write(here, n__txt="//p:a\n//q:a\n", n__xml="<a xmlns='urn:p'/>")
    result = run("match", "-n", "p=urn:p", "--namespace", "q=urn:q?x=y", "n.txt", "n.xml")
    assert result.rows == [{"document": "n.xml", "matches": [1]}]


def test_every_limit_is_enforced(here: Path) -> None:
    write(here, n__xml="<a><a><a b='1' c='2'/></a></a>", x__txt="//a\n")
    for option, value in (
        ("--max-size", "20"),
        ("--max-depth", "2"),
        ("--max-elements", "2"),
        ("--max-attributes", "1"),
        ("--max-attributes-total", "1"),
    ):
        result = run("match", "x.txt", "n.xml", option, value)
        assert (result.code, list(result.rows[0])) == (1, ["document", "error"]), option
    assert run("match", "x.txt", "n.xml", "--max-size", "1K", "--max-depth", "3").code == 0


def test_stats_are_json_on_stderr(here: Path) -> None:
    result = run("match", "--stats", "subs.txt", "docs/a.xml")
    assert len(result.rows) == 1
    assert isinstance(json.loads(result.stderr), dict)


def test_undecided_subscriptions_are_listed_with_exit_code_1(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undecided: dict[str | int, EvaluationError] = {4: EvaluationError("deadline", "too slow")}
    matches = Matches([1, 4, 5], array("i", [0]), undecided)
    monkeypatch.setattr(Matcher, "match", lambda self, body: matches)
    write(here, subs__txt="//b\n\n\n//c\n//d\n")
    result = run("match", "subs.txt", "docs/a.xml")
    error = {"4": {"kind": "deadline", "message": "too slow"}}
    assert result.rows == [{"document": "docs/a.xml", "matches": [1], "errors": error}]
    assert "1 of 3 subscriptions matched no document" in result.stderr, "4 might have matched"
    assert result.code == 1


def test_expensive_subscriptions_are_refused_unless_allowed(here: Path) -> None:
    write(here, x__txt="//*[//*=//*]\n//b\n")
    result = run("match", "x.txt", "docs/a.xml")
    assert result.code == 2
    assert "x.txt:1: " in result.stderr
    result = run("match", "x.txt", "docs/a.xml", "--allow-expensive", "--deadline", "30")
    assert (result.code, result.rows) == (0, [{"document": "docs/a.xml", "matches": [1, 2]}])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["subs.txt", "none.xml"], "none.xml: No such file or directory"),
        (["none.txt", "docs"], "none.txt: file: No such file or directory"),
        (["docs", "docs"], "the format of 'docs' is not known"),
        (["subs.txt", "-", "-"], "given twice"),
        (["-", "-", "--format", "txt"], "both"),
        (["-", "docs"], "standard input is not known"),
        (["subs.txt"], "Missing argument"),
        (["subs.txt", "docs", "--format", "csv"], "'csv' is not one of txt, tsv, jsonl, parquet"),
        (["subs.txt", "docs", "-n", "p"], "'p' is not PREFIX=URI"),
        (["subs.txt", "docs", "-n", "=u"], "'=u' is not PREFIX=URI"),
        (["subs.txt", "docs", "-n", "p=u", "-n", "p=v"], "given twice"),
        (["subs.txt", "docs", "--max-size", "64X"], "'64X' is not a size"),
        (["subs.txt", "docs", "--max-depth", "257"], "256"),
        (["subs.txt", "docs", "--deadline", "1"], "needs --allow-expensive"),
        (["subs.txt", "docs", "--allow-expensive", "--deadline", "0"], "more than 0"),
        (["subs.txt", "docs", "--nonsense"], "--nonsense"),
    ],
)
def test_bad_call_is_exit_code_2_without_output(
    here: Path, arguments: list[str], message: str
) -> None:
    result = run("match", *arguments)
    assert result.code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_document_names_outside_utf_8_are_valid_json(here: Path) -> None:
    name = os.fsdecode(b"docs/\xff\xc3\xa9.xml")
    Path(name).write_text("<b/>")
    result = run("match", "subs.txt", name, "docs/a.xml")
    assert [row["document"] for row in result.rows] == ["docs/\\xFFé.xml", "docs/a.xml"]


def test_control_characters_in_names_are_escaped(here: Path) -> None:
    result = run("match", "subs.txt", "\x1b[31mred")
    assert "\x1b" not in result.stderr
    assert "\\x1b[31mred" in result.stderr


def test_ten_bad_subscriptions_are_reported_and_the_others_counted(here: Path) -> None:
    (here / "bad.txt").write_text("//b[\n" * 5_000 + "//*:b\n" * 5_000 + "//b\n")
    result = run("match", "bad.txt", "docs/a.xml")
    assert result.code == 2
    lines = result.stderr.splitlines()
    assert sum(line.startswith("bad.txt:") and ": syntax: " in line for line in lines) == 10
    assert lines[-2] == "bad.txt: and 9,990 more"
    assert "10,000 bad subscriptions in bad.txt; nothing was done" in lines[-1]
    result = run("match", "--skip-bad", "bad.txt", "docs/a.xml")
    assert result.rows == [{"document": "docs/a.xml", "matches": [10_001]}]
    assert len(result.stderr.splitlines()) < 60


def test_missing_subscriptions_are_reported(here: Path) -> None:
    write(here, none__txt="# none yet\n")
    result = run("match", "none.txt", "docs/a.xml")
    assert (result.code, result.rows) == (0, [{"document": "docs/a.xml", "matches": []}])
    assert result.stderr == "pathcast: there are no subscriptions in none.txt\n"
    write(here, all_bad__txt="//b[\n")
    result = run("match", "--skip-bad", "all_bad.txt", "docs/a.xml")
    assert result.code == 0
    assert "there are no subscriptions in all_bad.txt" in result.stderr


def test_missing_documents_are_reported(here: Path) -> None:
    (here / "empty").mkdir()
    result = run("match", "subs.txt", "empty")
    assert (result.code, result.stdout) == (0, "")
    assert "there are no documents in empty" in result.stderr


def test_archives_lines_and_tables_are_read(here: Path) -> None:
    with zipfile.ZipFile(here / "docs/d.zip", "w") as archive:
        archive.writestr("m.xml", "<x><b/><b><c/></b></x>")
        archive.writestr("_x.xml", "<b/>")
    write(here, lines__jsonl='{"id": "own", "body": "<b/>"}\n{"text": "<b/>"}\n')
    write_documents(here / "t.parquet", [("7", b"<b><c/></b>")])
    result = run("match", "subs.txt", "docs", "lines.jsonl", "t.parquet")
    assert result.code == 1
    matches = {row["document"]: row.get("matches") for row in result.rows}
    assert matches == {
        "docs/a.xml": [1],
        "docs/b.xml": [1, 4],
        "docs/c.xml": None,
        "docs/d.zip!m.xml": [1],
        "own": [1],
        "lines.jsonl:2": None,
        "7": [1, 4],
    }
    result = run("match", "subs.txt", "lines.jsonl", "--body", "text")
    assert [row.get("matches") for row in result.rows] == [None, [1]]
    result = run("match", "subs.txt", "docs/d.zip", "--record", "b")
    assert result.rows == [
        {"document": "docs/d.zip!m.xml#1", "matches": [1]},
        {"document": "docs/d.zip!m.xml#2", "matches": [1, 4]},
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docs", "--body", "text"], "only JSON lines and tables"),
        (["docs", "--group-by", "a", "--read", "files"], "only rows can be grouped"),
        (["t.parquet", "--record", "b"], "only files are split into records"),
        (["t.parquet", "--body", "text"], "t.parquet has no column text"),
    ],
)
def test_options_that_do_not_fit_are_bad_calls(
    here: Path, arguments: list[str], message: str
) -> None:
    write_documents(here / "t.parquet", [("7", b"<b/>")])
    result = run("match", "subs.txt", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr


def test_unmatched_subscriptions_are_named_with_reasons(here: Path) -> None:
    write(here, n__txt="//b\n//boddy\n//b/a\n", b__xml="<b xmlns='urn:b'><body/></b>")
    result = run("match", "n.txt", "b.xml", "docs/a.xml")
    assert result.code == 0
    assert len(result.rows) == 2, "stdout has data only"
    assert result.stderr.splitlines() == [
        "pathcast: 2 of 3 subscriptions matched no document",
        "  2: no element 'boddy'; did you mean 'body'?",
        "  3: its names occur, but not as it demands",
        "  hint: pathcast explain n.txt ID DOCUMENT... says where one fails",
    ]
    assert run("match", "--no-unmatched", "n.txt", "b.xml").stderr == ""


def test_ten_unmatched_subscriptions_are_named(here: Path) -> None:
    (here / "many.txt").write_text("".join(f"//x{number}\n" for number in range(1_000)) + "//b\n")
    lines = run("match", "many.txt", "docs/a.xml").stderr.splitlines()
    assert lines[0] == "pathcast: 1,000 of 1,001 subscriptions matched no document"
    assert lines[1:] == [f"  {line}: no element 'x{line - 1}'" for line in range(1, 11)] + [
        "  and 990 more"
    ]


def test_nothing_is_said_of_subscriptions_if_no_document_was_matched(here: Path) -> None:
    assert run("match", "subs.txt", "docs/c.xml").stderr == ""
