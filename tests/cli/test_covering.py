"""`pathcast covers` and `pathcast aggregate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run, write

TEXTS = "/a/b\n//b\n//b\n/a/b/c\n//item[price>15]\n//item[price>20]\n/x//y\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, s__txt=TEXTS, bad__txt="//a\n//b[\n")


@pytest.mark.parametrize(
    ("a", "b", "relation", "code"),
    [
        ("//item[price>15]", "/shop/item[price>20]", "covers", 0),
        ("/a/b", "//b", "covered", 1),
        ("/a[b and c]", "/a[c][b]", "equivalent", 0),
        ("/a", "/b", "incomparable", 1),
        ("//a[lang('en')]", "//a[lang('fr')]", "unknown", 1),
    ],
)
def test_covers_names_the_relation(a: str, b: str, relation: str, code: int) -> None:
    result = run("covers", a, b)
    assert (result.code, result.stdout.splitlines()[0], result.stderr) == (code, relation, "")
    row = run("covers", a, b, "--json").rows[0]
    assert row["relation"] == relation
    assert row["covers"]["answer"] is {"unknown": None}.get(relation, code == 0)


def test_witness_is_shown() -> None:
    result = run("covers", "/a/b", "//b", "--witness")
    assert result.stdout == "covered\n  matches B, not A: <b/>\n"


def test_unknown_relation_is_explained() -> None:
    assert "is unknown: " in run("covers", "//a[lang('en')]", "//a[lang('fr')]").stdout


def test_budget_bounds_the_work() -> None:
    result = run("covers", "//a", "/b//a", "--budget", "0")
    assert result.code == 1
    assert result.stdout.splitlines() == [
        "unknown",
        "  whether A covers B is unknown: budget: the answer takes more than 0 steps",
        "  whether B covers A is unknown: budget: the answer takes more than 0 steps",
    ]
    row = run("covers", "//a", "/b//a", "--json", "--budget", "0").rows[0]
    assert row["covers"]["answer"] is None
    assert run("covers", "//a", "/b//a", "--budget", "100000").stdout == "covers\n"
    assert run("covers", "//a", "/b//a", "--budget", "-1").code == 2


def test_namespace_prefixes_are_resolved() -> None:
    assert run("covers", "//p:*", "//p:a", "-n", "p=urn:p").code == 0
    assert run("covers", "//p:*", "//p:a").code == 2


def test_bad_expression_is_rejected() -> None:
    result = run("covers", "//a[", "//a")
    assert (result.code, result.stdout) == (2, "")
    assert "//a[" in result.stderr


def test_aggregate_lists_the_roots() -> None:
    result = run("aggregate", "s.txt")
    assert result.code == 0
    assert result.stdout == "2\t4\t//b\n5\t2\t//item[price>15]\n7\t1\t/x//y\n"
    assert "7 subscriptions, 6 of them different: 3 roots (42.9%)" in result.stderr


def test_aggregate_draws_trees() -> None:
    lines = run("aggregate", "s.txt", "--tree").stdout.splitlines()
    assert lines[:4] == ["2\t//b", "  1\t/a/b", "  3\t//b", "  4\t/a/b/c"]


def test_aggregate_writes_json() -> None:
    rows = run("aggregate", "s.txt", "--json").rows
    assert rows[0] == {"id": 2, "xpath": "//b", "stands_for": [1, 2, 3, 4]}
    assert sorted(id for row in rows for id in row["stands_for"]) == [1, 2, 3, 4, 5, 6, 7]


INDEXES = ["features", "factorization", "regions", "subscription-tree"]


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("form", [[], ["--tree"], ["--json"]])
def test_every_index_gives_the_same_output(index: str, form: list[str]) -> None:
    default = run("aggregate", "s.txt", *form)
    selected = run("aggregate", "s.txt", *form, "--index", index)
    assert (selected.code, selected.stdout) == (0, default.stdout)
    assert selected.stderr == default.stderr


def test_unknown_index_is_rejected() -> None:
    result = run("aggregate", "s.txt", "--index", "btree")
    assert (result.code, result.stdout) == (2, "")
    assert f"--index: 'btree' is not one of {', '.join(INDEXES)}" in result.stderr


def test_bad_subscriptions_are_reported_with_their_lines() -> None:
    result = run("aggregate", "bad.txt")
    assert (result.code, result.stdout) == (2, "")
    assert "bad.txt:2:" in result.stderr
    skipped = run("aggregate", "bad.txt", "--skip-bad")
    assert (skipped.code, skipped.stdout) == (0, "1\t1\t//a\n")


def test_aggregate_of_an_empty_file(tmp_path: Path) -> None:
    write(tmp_path, none__txt="# empty\n")
    result = run("aggregate", "none.txt")
    assert (result.code, result.stdout) == (0, "")
    assert "0 subscriptions" in result.stderr


def test_roots_are_merged(tmp_path: Path) -> None:
    dtd = "<!ELEMENT a (b, c, d)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY> <!ELEMENT d EMPTY>"
    write(tmp_path, a__dtd=dtd, paths__txt="/a/b\n/a/c\n//a/c\n//z[@x]\n")
    perfect = run("aggregate", "paths.txt", "--merge", "0", "--dtd", "a.dtd")
    assert perfect.stdout == "1\t1\t/a/b\n3\t2\t//a/c\n4\t1\t//z[@x]\n"
    loose = run("aggregate", "paths.txt", "--merge", "0.4", "--dtd", "a.dtd")
    assert loose.stdout == "-\t3\t//a/*\tD = 0.333\n4\t1\t//z[@x]\n"
    assert "3 roots (75.0%); merged: 2 entries" in loose.stderr
    row = run("aggregate", "paths.txt", "--merge", "0.4", "--dtd", "a.dtd", "--json").rows[0]
    assert (row["id"], row["stands_for"]) == (None, [1, 2, 3])
    forest = run("aggregate", "paths.txt", "--merge", "0.4", "--dtd", "a.dtd", "--tree").stdout
    assert forest.splitlines()[:2] == ["-\t//a/*\tD = 0.333", "  3\t//a/c"]


def test_merge_and_dtd_require_each_other() -> None:
    assert run("aggregate", "s.txt", "--merge", "0").code == 2
    assert run("aggregate", "s.txt", "--dtd", "news").code == 2
