from __future__ import annotations

from pathlib import Path

from pathcast.generators.bundled import bundled_schema
from tests.cli.running import run
from tests.oracle import oracle


def test_answers_are_yes_no_and_undecided() -> None:
    result = run(
        "schema", "check", "news", "//body.head[headline]", "/news/boddy", "//p[following::a]"
    )
    assert result.code == 1
    yes, example, no, caret, reason, unknown, _ = result.stdout.splitlines()
    assert yes == "yes //body.head[headline]"
    assert oracle("//body.head[headline]", None, example.strip().encode())
    assert not bundled_schema("news").faults(example.strip().encode())
    assert (no, caret) == ("no  /news/boddy", "          ^")
    assert reason == "    news has no child boddy (near: body)"
    assert unknown == "?   //p[following::a]"


def test_file_of_subscriptions_is_checked(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("one\t//book/title\ntwo\t//book/titel\n")
    result = run(
        "schema",
        "check",
        "book",
        "--subscriptions",
        tmp_path / "s.tsv",
        "--only-impossible",
        "--json",
    )
    assert result.code == 1
    assert result.rows == [
        {
            "id": "two",
            "xpath": "//book/titel",
            "satisfiable": False,
            "reason": "book has no child titel (near: title)",
            "position": 7,
            "near": ["title"],
        }
    ]


def test_exit_code_is_0_if_all_can_match() -> None:
    result = run("schema", "check", "book", "//section/title", "--json")
    assert result.code == 0
    assert result.rows[0]["satisfiable"] is True


def test_bad_calls_are_rejected(tmp_path: Path) -> None:
    assert run("schema", "check", "book").code == 2
    assert run("schema", "check", "nothing.dtd", "//a").code == 2
    assert run("schema", "check", "book", "--subscriptions", tmp_path / "none.txt").code == 2
    bad = run("schema", "check", "book", "//a[", "//book")
    assert bad.code == 2
    assert "syntax" in bad.stderr
    assert "yes //book" in bad.stdout


def test_namespace_prefixes_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "m.dtd").write_text(
        "<!ELEMENT m:a EMPTY><!ATTLIST m:a xmlns:m CDATA #FIXED 'urn:m'>"
    )
    result = run("schema", "check", tmp_path / "m.dtd", "//k:a", "--namespace", "k=urn:m", "--json")
    assert result.rows[0]["example"] == '<m:a xmlns:m="urn:m"/>'


def test_budget_bounds_the_work() -> None:
    result = run("schema", "check", "book", "//section[p]", "//zebra", "--budget", "2")
    assert result.code == 0  # no expression is known to be impossible
    assert result.stdout.splitlines() == [
        "?   //section[p]",
        "    budget: the answer takes more than 2 steps",
        "?   //zebra",
        "    budget: the answer takes more than 2 steps",
    ]
    assert result.stderr == "0 can match, 0 cannot, 2 undecided\n"
