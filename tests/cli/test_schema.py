from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path
from subprocess import run as run_python

import pytest
from lxml import etree
from rich.console import Console

from pathcast.cli.schema_tables import element_table
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema, describe_schema
from pathcast.schema import count_paths, root_paths
from pathcast.schema.drawing.dot import dot
from pathcast.schema.drawing.svg import svg
from pathcast.schema.summary import describe_element, summarize
from tests.cli.running import Result, run

BOOK = """
<!ELEMENT book (title, author+, section+)><!ELEMENT title (#PCDATA)><!ELEMENT author (#PCDATA)>
<!ELEMENT section (title, (p | section)*)>
<!ATTLIST section id ID #IMPLIED level (easy | hard) 'easy'>
<!ELEMENT p (#PCDATA)>
"""


def show(*arguments: str | Path) -> Result:
    return run("schema", "show", *arguments)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "my.dtd"
    path.write_text(BOOK)
    return path


def lines(result: Result) -> list[str]:
    """Return the lines of the tables with runs of white space collapsed."""
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_help_has_an_example_and_the_exit_codes() -> None:
    for option in ("--help", "-h"):
        result = show(option)
        assert result.code == 0
        assert "Example: pathcast schema show " in result.stdout
        assert "Exit code: 0" in result.stdout
    assert "show" in run("schema", "-h").stdout
    assert " ".join(SCHEMA_NAMES[:2]).replace(" ", ", ") in show("-h").stdout


def test_summary_of_a_dtd_file(book: Path) -> None:
    result = show(book)
    assert (result.code, result.stderr) == (0, "")
    shown_lines = lines(result)
    assert shown_lines[0] == "my.dtd"
    for line in (
        "elements 5",
        "attributes 2",
        "root book",
        "recursion 1 cyclic element in one component",
        "self-recursive section",
        "longest root path unbounded: recursive",
        "1 1 1",
        "2 3 3",
        "3 1 3",
        "10 3",
        "1 section",
        "section 2 2 (title, (p | section)*)",
        "p 3 (#PCDATA)",
    ):
        assert line in shown_lines
    assert "\x1b" not in result.stdout


def test_summary_of_a_schema_without_recursion() -> None:
    shown_lines = lines(show("bib"))
    assert "recursion none" in shown_lines
    assert "longest root path 4" in shown_lines
    assert f"about {describe_schema('bib')}" in shown_lines
    assert "recursive components" not in shown_lines


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_bundled_schema_has_one_line_per_element(name: str) -> None:
    result = show(name)
    assert (result.code, result.stderr) == (0, "")
    shown_lines = lines(result)
    table = shown_lines[shown_lines.index("elements") + 4 :]
    assert [line.split()[0] for line in table] == list(bundled_schema(name).elements)
    for line, element in zip(table, bundled_schema(name).elements.values(), strict=True):
        assert line.endswith(f" {element.model}")  # not a terminal: nothing is cut


def test_narrow_terminal_cuts_only_content_models() -> None:
    text = StringIO()
    Console(file=text, width=72).print(element_table(bundled_schema("news")))
    rows = [
        line.rstrip().split(maxsplit=3) for line in text.getvalue().splitlines()[4:] if line.strip()
    ]
    assert [row[:2] for row in rows] == [
        [name, str(bundled_schema("news").graph.depth[name])]
        for name in bundled_schema("news").elements
    ]
    assert any(row[-1].endswith("\u2026") for row in rows)


def test_json_has_the_summary_and_all_elements(book: Path) -> None:
    (row,) = show("news", "--json").rows
    assert row["about"] == describe_schema("news")
    assert row["summary"] == json.loads(json.dumps(summarize(bundled_schema("news")).as_dict()))
    assert [element["name"] for element in row["elements"]] == list(bundled_schema("news").elements)
    (row,) = show(book, "--json").rows
    assert "about" not in row
    assert row["summary"]["name"] == "my.dtd"
    assert row["elements"][3]["parents"] == ["book", "section"]


def test_element_shows_its_details(book: Path) -> None:
    shown_lines = lines(show(book, "--element", "section"))
    for line in (
        "section",
        "content (title, (p | section)*)",
        "children title, p, section",
        "parents book, section",
        "nearest depth 2",
        "smallest tree 2 elements",
        "recursive with section",
        "self-recursive yes",
        "id ID #IMPLIED",
        'level (easy | hard) "easy"',
    ):
        assert line in shown_lines
    other_lines = lines(show(book, "--element", "p"))
    assert "attributes" not in other_lines
    assert not any("recursive" in line for line in other_lines)
    (row,) = show("news", "--element", "em", "--json").rows
    expected = json.loads(json.dumps(describe_element(bundled_schema("news"), "em").as_dict()))
    assert row == {"schema": "news", **expected}


def test_root_paths_are_listed_up_to_a_depth() -> None:
    result = show("news", "--paths", "5")
    expected = ["/" + "/".join(path) for path in root_paths(bundled_schema("news"), 5)]
    assert result.stdout.splitlines() == expected
    (row,) = show("book", "--paths", "3", "--json").rows
    assert row["counts"] == [1, 3, 4]
    assert row["paths"][-1] == "/book/section/section"
    assert len(show("bib", "--paths", "1000").stdout.splitlines()) == 11


def test_too_many_root_paths_are_rejected() -> None:
    result = show("news", "--paths", "50")
    assert (result.code, result.stdout) == (2, "")
    total = sum(count_paths(bundled_schema("news"), 10))
    assert (
        f"more than 1,000,000 root paths up to depth 50; --paths 10 has {total:,}" in result.stderr
    )


def test_root_option_replaces_the_root(book: Path) -> None:
    shown_lines = lines(show(book, "--root", "section"))
    assert "root section" in shown_lines
    assert "not below a root book, author" in shown_lines
    assert "root person" in lines(show("news", "--root", "person"))


def test_drawings_match_the_library(tmp_path: Path) -> None:
    assert show("news", "--dot").stdout == dot(bundled_schema("news"))
    assert show("news", "--svg", "-").stdout == svg(bundled_schema("news"))
    file = tmp_path / "out.svg"
    result = show("news", "--svg", file)
    assert (result.code, result.stderr) == (0, f"{file}: 125 elements drawn\n")
    assert result.stdout == show("news").stdout
    assert file.read_text(encoding="utf-8") == svg(bundled_schema("news"))
    etree.parse(file)


def test_unwritable_drawing_is_rejected(tmp_path: Path) -> None:
    result = show("news", "--svg", tmp_path / "none" / "out.svg")
    assert (result.code, result.stdout) == (2, "")
    assert "cannot write the drawing: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--dot", "--json"),
        ("--dot", "--element", "em"),
        ("--dot", "--paths", "2"),
        ("--paths", "2", "--element", "em"),
        ("--svg", "-", "--json"),
        ("--svg", "-", "--dot"),
    ],
)
def test_conflicting_views_are_rejected(arguments: tuple[str, ...]) -> None:
    result = show("news", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert "cannot be written at once" in result.stderr


def test_missing_parts_of_a_dtd_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.dtd").write_text(
        '<!ENTITY % m SYSTEM "module.mod">%m;<!ELEMENT a (b?, c?, d?)><!ELEMENT d (d)>'
    )
    result = show(tmp_path / "a.dtd")
    assert result.code == 0
    assert "module.mod" in result.stderr
    assert "undeclared elements in content models: b, c" in result.stderr
    assert "no finite content d" in lines(result)
    assert show(tmp_path / "a.dtd", "--json").code == 0


def test_long_warning_is_cut(tmp_path: Path) -> None:
    children = ", ".join(f"c{i}?" for i in range(40))
    (tmp_path / "a.dtd").write_text(f"<!ELEMENT a ({children})>")
    assert show(tmp_path / "a.dtd").stderr.rstrip().endswith("c8, c9 and 30 more")


def test_catalog_locates_included_files(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "others").mkdir()
    (tmp_path / "own" / "a.dtd").write_text('<!ENTITY % m SYSTEM "m.mod">%m;<!ELEMENT a (b)>')
    (tmp_path / "others" / "m.mod").write_text("<!ELEMENT b EMPTY>")
    (tmp_path / "catalog.xml").write_text(
        '<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">'
        f'<system systemId="{tmp_path}/own/m.mod" uri="others/m.mod"/></catalog>'
    )
    assert "m.mod" in show(tmp_path / "own" / "a.dtd").stderr
    result = show(tmp_path / "own" / "a.dtd", "--catalog", tmp_path / "catalog.xml")
    assert (result.code, result.stderr) == (0, "")
    assert "elements 2" in lines(result)


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (("nws",), ["unreadable: nws: No such file", "hint: did you mean news?"]),
        (("qqq",), ["No such file", "bundled schemas are news, protein"]),
        (("bad.dtd",), ["syntax: bad.dtd"]),
        (("empty.dtd",), ["empty: empty.dtd: no element is declared"]),
        ((".",), ["unreadable: .: Is a directory"]),
        (("news", "--root", "bdy"), ["news declares no element bdy", "near names: body"]),
        (("news", "--element", "persn"), ["news declares no element persn", "near names: person"]),
        (("news", "--catalog", "."), ["--catalog: the bundled schema news asks for no files"]),
        (("my.dtd", "--catalog", "none.xml"), ["unreadable: none.xml: No such file"]),
        (("my.dtd", "--catalog", "bad.dtd"), ["catalog: bad.dtd"]),
        (("my.dtd", "--paths", "0"), ["--paths"]),
    ],
)
def test_bad_arguments_are_rejected(
    arguments: tuple[str, ...],
    messages: list[str],
    tmp_path: Path,
    book: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "bad.dtd").write_text("<!ELEMENT a (b,>")
    (tmp_path / "empty.dtd").write_text("<!-- nothing -->")
    monkeypatch.chdir(tmp_path)
    result = show(*arguments)
    assert (result.code, result.stdout) == (2, "")
    for message in messages:
        assert message in result.stderr


def test_bundled_name_takes_precedence_over_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "news").write_text("<!ELEMENT mine EMPTY>")
    monkeypatch.chdir(tmp_path)
    assert "root news" in lines(show("news"))
    assert "root mine" in lines(show("./news"))


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "\x1b[2Jx.dtd"
    file.write_text("<!ELEMENT a (b?)><!ATTLIST a n CDATA '\u009b2J'>")
    for result in (show(file), show(file, "--element", "a"), show(file, "--dot")):
        assert result.code == 0
        assert not {"\x1b", "\u009b"} & set(result.stdout + result.stderr)


def test_other_commands_do_not_import_the_schema_package() -> None:
    code = "import sys, pathcast.cli.app; print({'networkx', 'pathcast.schema'} & set(sys.modules))"
    process = run_python([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "set()\n"
