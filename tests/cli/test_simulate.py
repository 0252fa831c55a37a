"""`pathcast simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run, run_process, write

HEAD = "topology line 3\nlatency 5ms\npublisher P at b1 advertises anything\nsubscribe s1 at b3 /a/b\nuntil idle\n"
GOOD = HEAD + "publish d1 by P <a><b/></a>\npublish d2 by P <z/>\nuntil idle\nexpect d1 reaches s1\n"
BAD = GOOD + "expect d1 crosses b1-b2\nexpect wasted 3\n"
LOSSY = "topology line 3\nlose 50% everywhere\npublisher P at b1 advertises anything\nsubscribe s1 at b3 /a\nuntil idle\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, good__txt=GOOD, bad__txt=BAD, lossy__txt=LOSSY, wrong__txt="topology ring 3\n")


def rows(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if "  " in line]
    return {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines}


def test_the_summary() -> None:
    result = run("simulate", "good.txt")
    assert (result.code, result.stderr) == (0, "")
    found = rows(result.stdout)
    assert found["overlay"] == "line 3: 3 brokers, 2 links"
    assert found["strategy"] == "with-Adv-with-Cov"
    assert found["messages"] == "6: advertise 2, publish 2, subscribe 2"
    assert found["documents"] == "2 accepted, 1.00 links each"
    assert found["deliveries"] == "1, after 10.000 ms on average, 10.000 ms at most, 2.00 links"
    assert found["table entries"] == "3, most at b1: 1"
    assert found["expectations"] == "1, all met"
    assert "wasted" not in found


def test_failed_expectations() -> None:
    result = run("simulate", "bad.txt")
    assert result.code == 1
    assert rows(result.stdout)["expectations"] == "3, 2 failed"
    assert result.stderr.splitlines() == [
        "pathcast: bad.txt: line 10: expect d1 crosses b1-b2: it crossed b1-b2 b2-b3",
        "pathcast: bad.txt: line 11: expect wasted 3: there were 0",
    ]


def test_json() -> None:
    result = run("simulate", "bad.txt", "--json")
    assert result.code == 1
    (found,) = result.rows
    assert found["passed"] is False
    assert [one["line"] for one in found["failures"]] == [10, 11]
    assert found["received"] == {"advertise": 2, "publish": 2, "subscribe": 2}
    assert found["traffic"] == 6
    assert (found["wasted"], found["duplicates"]) == (0, 0)
    assert (found["vain"], found["doubled"]) == (0, 0)  # deprecated names of the same
    assert found["entries"] == {"b1": 1, "b2": 1, "b3": 1}
    assert (found["brokers"], found["links"], found["strategy"]) == (3, 2, "with-Adv-with-Cov")
    assert found["delay"] == pytest.approx(0.01)
    assert run("simulate", "good.txt", "--json").rows[0]["passed"] is True


def test_traces(tmp_path: Path) -> None:
    result = run("simulate", "good.txt", "--trace", "t.txt")
    assert result.code == 0
    lines = (tmp_path / "t.txt").read_text().splitlines()
    assert lines[0] == "> publisher P at b1 advertises anything"
    assert any(line.endswith("b3 delivers d1 to s1 for s1") for line in lines)
    shown = run("simulate", "good.txt", "--trace", "-").stdout.splitlines()
    assert shown == [*lines, *result.stdout.splitlines()]
    assert run("simulate", "good.txt", "--trace", "no/such/folder/t").code == 2


def test_changes() -> None:
    flood = run("simulate", "good.txt", "--strategy", "no-Adv-no-Cov")
    assert "presence" in rows(flood.stdout)["messages"]
    slow = run("simulate", "good.txt", "--costs", "engine")
    assert rows(slow.stdout)["deliveries"].startswith("1, after 10.031 ms")
    one, same, other = (
        run("simulate", "lossy.txt", "--trace", "-", "--seed", str(seed)).stdout
        for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["no.txt"], "no.txt cannot be read: No such file"),
        (["wrong.txt"], "wrong.txt: line 1: topology: there is no topology 'ring 3'"),
        (["good.txt", "--strategy", "best"], "there is no strategy 'best'"),
        (["good.txt", "--costs", "none"], "--costs: costs: none cannot be read"),
        (["good.txt", "--seed", "x"], "--seed"),
        (["good.txt", "--strategy", ""], "--strategy: strategy: there is no strategy ''"),
        (
            ["good.txt", "--strategy", "with-Adv-with-CovPM"],
            "good.txt: merging: with-Adv-with-CovPM",
        ),
        (["good.txt", "--trace", "good.txt"], "--trace: good.txt is the scenario"),
        (["good.txt", "--trace", "./x.svg", "--draw", "x.svg"], "--draw: x.svg is --trace"),
        (["good.txt", "--draw", "x.png"], "x.png should end with .svg"),
        (["good.txt", "--draw", "-"], "- should end with .svg"),
    ],
)
def test_bad_calls(arguments: list[str], complaint: str) -> None:
    result = run("simulate", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert complaint in result.stderr


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"topology line 2\n\xff")
    result = run("simulate", "x.txt")
    assert result.code == 2
    assert "is not UTF-8" in result.stderr


def test_from_stdin_as_a_process() -> None:
    result = run_process("simulate", "-", stdin=GOOD.encode())
    assert (result.code, result.stderr) == (0, "")
    assert "1, all met" in result.stdout


def test_help_has_an_example() -> None:
    assert "Example" in run("simulate", "--help").stdout


def test_tables_and_reasons() -> None:
    shown = run("simulate", "good.txt", "--inspect", "b2", "--why", "d1").stdout
    assert "b2: advertisements (SRT)" in shown
    assert "b2: interests (PRT), and how they were sent on" in shown
    assert "d1 at b1, as published" in shown
    assert "d1 at b3, from b2" in shown
    assert "taken: an entry matches" in shown
    (found,) = run("simulate", "good.txt", "--json", "--inspect", "b2", "--why", "d2").rows
    assert [one["origin"] for one in found["tables"]["b2"]["advertisements"]] == ["b1"]
    (only,) = found["why"]  # nobody wants it, so it stays where it was published
    assert (only["broker"], only["from"]) == ("b1", None)
    assert [way["taken"] for way in only["ways"]] == [False, False]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--inspect", "b9"], "there is no broker b9"),
        (["--why", "d9"], "no document d9 has been published"),
        (["--draw", "no/such/folder/x.svg"], "cannot be written"),
    ],
)
def test_what_cannot_be_shown(arguments: list[str], complaint: str) -> None:
    result = run("simulate", "good.txt", *arguments)
    assert result.code == 2
    assert complaint in result.stderr
    assert (
        rows(result.stdout)["expectations"] == "1, all met"
    )  # what was found is told all the same


def test_what_is_told_of_those_who_are_down(tmp_path: Path) -> None:
    write(tmp_path, down__txt=GOOD + "crash b2\n")
    result = run("simulate", "down.txt", "--inspect", "b2", "--why", "d1", "--why", "d2")
    assert result.code == 0
    told = result.stdout.splitlines()
    assert "b2: it is down, and has no tables" in told
    assert "d1 at b2, from b1: it is down, and has no tables" in told
    assert "d2 at b1, as published" in told
    (found,) = run("simulate", "down.txt", "--inspect", "b2", "--why", "d1", "--json").rows
    assert (found["down"], found["tables"]) == (["b2"], {"b2": None})
    assert [one["ways"] is None for one in found["why"]] == [False, True, False]


def test_what_is_told_of_refused_documents(tmp_path: Path) -> None:
    text = GOOD + "publish d3 by P <a><b></a>\nuntil idle\nexpect d3 refused\n"
    write(tmp_path, refused__txt=text)
    result = run("simulate", "refused.txt", "--why", "d3")
    assert result.code == 0
    assert rows(result.stdout)["refused"].startswith("d3: malformed: ")
    assert "d3 at b1, as published: refused, malformed: " in result.stdout
    (found,) = run("simulate", "refused.txt", "--why", "d3", "--json").rows
    assert list(found["refusals"]) == ["d3"]
    assert found["why"][0]["refused"] == found["refusals"]["d3"]
    assert (found["expectations"], found["seed"]) == (2, 0)
    many = "".join(f"publish e{n} by P <a>\n" for n in range(5))
    write(tmp_path, many__txt=text + many)
    assert "and 3 more" in run("simulate", "many.txt").stdout


def test_what_keeps_it_from_being_quiet(tmp_path: Path) -> None:
    write(tmp_path, busy__txt=GOOD + "crash b1\npublish d3 by P <a/>\nuntil idle\n")
    result = run("simulate", "busy.txt")
    assert result.code == 1
    assert "b1 is down; P waits for b1 to take d3" in result.stderr
    assert rows(result.stdout)["expectations"] == "2, 1 failed"
    write(tmp_path, cut__txt=GOOD + "cut b2-b3\npublish d3 by P <a><b/></a>\nuntil idle\n")
    assert "b2-b3 is cut; b2 keeps d3 for others" in run("simulate", "cut.txt").stderr


def test_frames_that_are_lost(tmp_path: Path) -> None:
    """At a broker that is down, and on a link when it is cut; what dead brokers have counted counts."""
    write(
        tmp_path,
        lost__txt=GOOD
        + "publish d3 by P <a><b/></a>\ncut b1-b2\nafter 1s\nheal everywhere\nuntil idle\n",
    )
    result = run("simulate", "lost.txt", "--trace", "-")
    assert "b1 -> b2 publish d3 of b1 is lost: the link was cut" in result.stdout
    assert rows(result.stdout.partition("\noverlay")[2])["frames"].startswith("2 lost")
    write(tmp_path, gone__txt=GOOD + "crash b2\npublish d3 by P <a><b/></a>\nafter 2s\ncrash b1\n")
    result = run("simulate", "gone.txt", "--trace", "-")
    assert "b1 -> b2 publish d3 of b1 is lost: b2 is down" in result.stdout
    lost, _, again, *_ = rows(result.stdout.partition("\noverlay")[2])["frames"].split()
    assert int(lost) >= 2
    assert int(again) >= 1


def test_a_byte_order_mark_and_no_stdin(tmp_path: Path) -> None:
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert run("simulate", "bom.txt").code == 0


def test_tables_as_files(tmp_path: Path) -> None:
    assert run("simulate", "good.txt", "--tables", "tables").code == 0
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "b1.jsonl",
        "b2.jsonl",
        "b3.jsonl",
    ]
    (entry,) = map(json.loads, (tmp_path / "tables/b1.jsonl").read_text().splitlines())
    assert (entry["xpath"], entry["subscriber"]) == ("/a/b", "b2")
    (own,) = map(json.loads, (tmp_path / "tables/b3.jsonl").read_text().splitlines())
    assert own["subscriber"] == "here"
    assert run("simulate", "good.txt", "--tables", "good.txt").code == 2


def test_tables_of_another_time(tmp_path: Path) -> None:
    run("simulate", "good.txt", "--tables", "tables")
    write(tmp_path, down__txt=GOOD + "crash b2\n")
    result = run("simulate", "down.txt", "--tables", "tables")
    assert (result.code, result.stderr) == (0, "pathcast: b2 is down, and has no table\n")
    assert not (tmp_path / "tables/b2.jsonl").exists()
    write(tmp_path, other__txt="topology line 2\nuntil idle\n")
    result = run("simulate", "other.txt", "--tables", "tables")
    assert result.code == 2
    assert "b3.jsonl is there already, and of another overlay" in result.stderr


def test_a_picture(tmp_path: Path) -> None:
    assert run("simulate", "good.txt", "--draw", "x.svg").code == 0
    text = (tmp_path / "x.svg").read_text()
    assert "<svg" in text[:100]
    assert all(name in text for name in ("b1", "b2", "b3"))
