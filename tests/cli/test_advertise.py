"""`pathcast advertise`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathcast.generators.bundled import bundled_schema
from pathcast.routing.advertisement import Advertisement, infer
from tests.cli.running import Result, run, write

ENTANGLED_DTD = "\n".join(
    f"<!ELEMENT e{i} ({' | '.join(f'e{j}' for j in range(24) if j != i)} | l{i})*>"
    f"<!ELEMENT l{i} EMPTY>"
    for i in range(24)
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        my__dtd="<!ELEMENT a (b*)><!ELEMENT b (c | b)><!ELEMENT c EMPTY><!ELEMENT d (c)>",
        infinite__dtd="<!ELEMENT a (a)>",
        entangled__dtd=ENTANGLED_DTD,
    )
    samples = tmp_path / "samples"
    samples.mkdir()
    write(samples, one__xml="<a><b/></a>", two__xml="<a><p:b xmlns:p='urn:p'><c/></p:b></a>")


def advertise(*arguments: str) -> Result:
    return run("advertise", *arguments)


def test_help_has_examples_and_the_exit_codes() -> None:
    result = advertise("-h")
    assert result.code == 0
    assert "Example: pathcast advertise book" in result.stdout
    assert "Exit code: 0" in result.stdout
    assert "advertise" in run("-h").stdout


def test_expressions_are_listed_with_their_classes() -> None:
    result = advertise("book")
    assert result.code == 0
    assert result.stdout.splitlines() == [
        "non-recursive       /book/author",
        "simple-recursive    /book(/section)+/figure/image",
        "simple-recursive    /book(/section)+/figure/title",
        "simple-recursive    /book(/section)+/p",
        "simple-recursive    /book(/section)+/title",
        "non-recursive       /book/title",
    ]
    assert result.stderr == (
        "book: 6 advertisements (2 non-recursive, 4 simple-recursive);"
        " as one automaton: 7 elements, 9 edges\n"
    )


def test_root_option_selects_the_expressions() -> None:
    assert advertise("my.dtd", "--root", "a").stdout.split() == [
        *("non-recursive", "/a"),
        *("simple-recursive", "/a(/b)+/c"),
    ]
    assert advertise("my.dtd", "--root", "d").stdout.split() == ["non-recursive", "/d/c"]
    bad = advertise("my.dtd", "--root", "x")
    assert (bad.code, bad.stdout) == (2, "")


def test_long_expressions_are_abbreviated_and_all_are_counted() -> None:
    result = advertise("news", "--limit", "300")
    lines = result.stdout.splitlines()
    assert len(lines) == 300
    assert max(map(len, lines)) < 500
    assert " names ...)" in result.stdout
    assert "news: 259,959 advertisements" in result.stderr
    assert "the first 300 are shown (--limit)" in result.stderr


def test_depth_omits_longer_expressions() -> None:
    assert advertise("book", "--depth", "2").stdout.split() == [
        *("non-recursive", "/book/author"),
        *("non-recursive", "/book/title"),
    ]


def test_leaf_paths_are_listed_up_to_a_depth() -> None:
    result = advertise("book", "--paths", "--depth", "3")
    assert result.stdout.split() == [
        *("/book/author", "/book/title", "/book/section/p", "/book/section/title"),
    ]
    assert result.stderr == "book: 4 leaf paths up to depth 3\n"
    cut = advertise("book", "--paths", "--limit", "1")
    assert cut.stdout == "/book/author\n"
    assert "the first 1 of them shown (--limit)" in cut.stderr
    row = advertise("book", "--paths", "--depth", "3", "--json").rows[0]
    assert (row["counts"], len(row["paths"])) == ([0, 2, 2], 4)


def test_json_has_the_automaton() -> None:
    (row,) = advertise("book", "--json", "--limit", "2").rows
    assert row["count"] == sum(row["classes"].values()) == 6
    assert row["advertisements"][1] == {
        "class": "simple-recursive",
        "text": "/book(/section)+/figure/image",
        "names": 4,
    }
    assert len(row["advertisements"]) == 2
    assert Advertisement.from_json(row["automaton"]) == Advertisement.of(bundled_schema("book"))


def test_overlaps_answers_each_xpath() -> None:
    result = advertise("book", "--overlaps", "//section[p]", "--overlaps", "/book/p")
    assert (result.code, result.stdout) == (1, "yes //section[p]\nno  /book/p\n")
    assert advertise("book", "--overlaps", "//p").code == 0
    rows = advertise("book", "--overlaps", "//p", "--overlaps", "//q", "--json").rows
    assert rows == [{"xpath": "//p", "overlaps": True}, {"xpath": "//q", "overlaps": False}]
    bad = advertise("book", "--overlaps", "//p[")
    assert (bad.code, bad.stdout) == (2, "")
    assert "//p[" in bad.stderr


def test_advertisement_is_inferred_from_samples() -> None:
    result = advertise("--samples", "samples")
    assert result.code == 0
    assert result.stdout.split() == [
        *("non-recursive", "/a/b"),
        *("non-recursive", "/a/{urn:p}b/c"),
    ]
    assert "2 samples read, 4 elements seen" in result.stderr
    arguments = ("--samples", "samples/one.xml", "--samples", "samples/two.xml", "-n", "k=urn:p")
    assert advertise(*arguments, "--overlaps", "//k:b/c").stdout == "yes //k:b/c\n"
    (row,) = advertise("--samples", "samples/one.xml", "--json").rows
    assert Advertisement.from_json(row["automaton"]) == infer([b"<a><b/></a>"])


def test_malformed_samples_are_reported_and_ignored(tmp_path: Path) -> None:
    write(tmp_path / "samples", bad__xml="<a><x></a>")
    result = advertise("--samples", "samples")
    assert result.code == 1
    assert "samples/bad.xml: " in result.stderr
    assert "/a/b" in result.stdout
    assert advertise("--samples", "samples/bad.xml").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("book", "--samples", "samples"),
        ("--samples", "samples", "--root", "a"),
        ("--samples", "nowhere"),
        ("boook",),
        ("book", "--overlaps", "//p", "--paths"),
        ("book", "--depth", "0"),
    ],
)
def test_bad_calls_are_rejected(arguments: tuple[str, ...]) -> None:
    result = advertise(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr


def test_dtd_without_finite_documents_has_no_advertisements() -> None:
    result = advertise("infinite.dtd")
    assert (result.code, result.stdout) == (0, "")
    assert "0 advertisements; as one automaton: 0 elements, 0 edges" in result.stderr


def test_entangled_dtd_is_rejected_except_for_overlaps() -> None:
    result = advertise("entangled.dtd", "--root", "e0")
    assert (result.code, result.stdout) == (2, "")
    assert "too entangled" in result.stderr
    assert "hint: --paths" in result.stderr
    assert advertise("entangled.dtd", "--root", "e0", "--overlaps", "//e3/l3").code == 0


def test_budget_bounds_the_work() -> None:
    result = advertise("book", "--overlaps", "//section", "--overlaps", "/none", "--budget", "0")
    assert (result.code, result.stdout) == (0, "?   //section\n?   /none\n")
    assert result.stderr == "2 undecided within 0 steps (--budget)\n"
    row = advertise("book", "--overlaps", "//section", "--budget", "0", "--json").rows[0]
    assert row == {"xpath": "//section", "overlaps": None}
    for arguments in ((), ("--paths",), ("--json",)):
        result = advertise("book", "--budget", "2", *arguments)
        assert (result.code, result.stdout) == (2, "")  # part of a list would be narrower
        assert "more than 2 steps" in result.stderr
        assert "--budget N" in result.stderr
