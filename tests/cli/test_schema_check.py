from __future__ import annotations

from pathlib import Path

from pathcast.generators.bundled import bundled_schema
from tests.cli.running import run
from tests.oracle import oracle


def test_yes_no_and_not_known() -> None:
    found = run(
        "schema", "check", "news", "//body.head[headline]", "/news/boddy", "//p[following::a]"
    )
    assert found.code == 1
    yes, example, no, caret, reason, unknown, _ = found.stdout.splitlines()
    assert yes == "yes //body.head[headline]"
    assert oracle("//body.head[headline]", None, example.strip().encode())
    assert not bundled_schema("news").faults(example.strip().encode())
    assert (no, caret) == ("no  /news/boddy", "          ^")
    assert reason == "    news has no child boddy (near: body)"
    assert unknown == "?   //p[following::a]"


def test_a_file_of_subscriptions(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("one\t//book/title\ntwo\t//book/titel\n")
    found = run(
        "schema",
        "check",
        "book",
        "--subscriptions",
        tmp_path / "s.tsv",
        "--only-impossible",
        "--json",
    )
    assert found.code == 1
    assert found.rows == [
        {
            "id": "two",
            "xpath": "//book/titel",
            "satisfiable": False,
            "reason": "book has no child titel (near: title)",
            "position": 7,
            "near": ["title"],
        }
    ]


def test_all_can_match() -> None:
    found = run("schema", "check", "book", "//section/title", "--json")
    assert found.code == 0
    assert found.rows[0]["satisfiable"] is True


def test_bad_calls(tmp_path: Path) -> None:
    assert run("schema", "check", "book").code == 2
    assert run("schema", "check", "nothing.dtd", "//a").code == 2
    assert run("schema", "check", "book", "--subscriptions", tmp_path / "none.txt").code == 2
    bad = run("schema", "check", "book", "//a[", "//book")
    assert bad.code == 2
    assert "syntax" in bad.stderr
    assert "yes //book" in bad.stdout


def test_namespaces(tmp_path: Path) -> None:
    (tmp_path / "m.dtd").write_text(
        "<!ELEMENT m:a EMPTY><!ATTLIST m:a xmlns:m CDATA #FIXED 'urn:m'>"
    )
    found = run("schema", "check", tmp_path / "m.dtd", "//k:a", "--namespace", "k=urn:m", "--json")
    assert found.rows[0]["example"] == '<m:a xmlns:m="urn:m"/>'
