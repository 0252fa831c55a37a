"""`pathcast simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run, run_process, write

HEAD = (
    "topology line 3\nlatency 5ms\npublisher P at b1 advertises anything\n"
    "subscribe s1 at b3 /a/b\nuntil idle\n"
)
GOOD = HEAD + (
    "publish d1 by P <a><b/></a>\npublish d2 by P <z/>\nuntil idle\nexpect d1 reaches s1\n"
)
BAD = GOOD + "expect d1 crosses b1-b2\nexpect wasted 3\n"
LOSSY = (
    "topology line 3\nlose 50% everywhere\npublisher P at b1 advertises anything\n"
    "subscribe s1 at b3 /a\nuntil idle\n"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, good__txt=GOOD, bad__txt=BAD, lossy__txt=LOSSY, wrong__txt="topology ring 3\n")


def rows(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if "  " in line]
    return {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines}


def test_summary_has_the_figures_of_the_run() -> None:
    result = run("simulate", "good.txt")
    assert (result.code, result.stderr) == (0, "")
    summary = rows(result.stdout)
    assert summary["overlay"] == "line 3: 3 brokers, 2 links"
    assert summary["strategy"] == "with-Adv-with-Cov"
    assert summary["messages"] == "6: advertise 2, publish 2, subscribe 2"
    assert summary["documents"] == "2 accepted, 1.00 links each"
    assert summary["deliveries"] == "1, after 10.000 ms on average, 10.000 ms at most, 2.00 links"
    assert summary["table entries"] == "3, most at b1: 1"
    assert summary["expectations"] == "1, all met"
    assert "wasted" not in summary


def test_failed_expectations_are_reported_with_their_lines() -> None:
    result = run("simulate", "bad.txt")
    assert result.code == 1
    assert rows(result.stdout)["expectations"] == "3, 2 failed"
    assert result.stderr.splitlines() == [
        "pathcast: bad.txt: line 10: expect d1 crosses b1-b2: it crossed b1-b2 b2-b3",
        "pathcast: bad.txt: line 11: expect wasted 3: there were 0",
    ]


def test_json_has_the_figures_and_failures() -> None:
    result = run("simulate", "bad.txt", "--json")
    assert result.code == 1
    (summary,) = result.rows
    assert summary["passed"] is False
    assert [failure["line"] for failure in summary["failures"]] == [10, 11]
    assert summary["received"] == {"advertise": 2, "publish": 2, "subscribe": 2}
    assert summary["traffic"] == 6
    assert (summary["wasted"], summary["duplicates"]) == (0, 0)
    assert (summary["vain"], summary["doubled"]) == (0, 0)  # deprecated names of the same
    assert summary["entries"] == {"b1": 1, "b2": 1, "b3": 1}
    assert (summary["brokers"], summary["links"], summary["strategy"]) == (
        3,
        2,
        "with-Adv-with-Cov",
    )
    assert summary["delay"] == pytest.approx(0.01)
    assert run("simulate", "good.txt", "--json").rows[0]["passed"] is True


def test_trace_is_written_to_a_file_or_stdout(tmp_path: Path) -> None:
    result = run("simulate", "good.txt", "--trace", "t.txt")
    assert result.code == 0
    lines = (tmp_path / "t.txt").read_text().splitlines()
    assert lines[0] == "> publisher P at b1 advertises anything"
    assert any(line.endswith("b3 delivers d1 to s1 for s1") for line in lines)
    shown = run("simulate", "good.txt", "--trace", "-").stdout.splitlines()
    assert shown == [*lines, *result.stdout.splitlines()]
    assert run("simulate", "good.txt", "--trace", "no/such/folder/t").code == 2


def test_options_override_the_scenario() -> None:
    flood = run("simulate", "good.txt", "--strategy", "no-Adv-no-Cov")
    assert "presence" in rows(flood.stdout)["messages"]
    slow = run("simulate", "good.txt", "--costs", "engine")
    assert rows(slow.stdout)["deliveries"].startswith("1, after 10.031 ms")
    first, same, other = (
        run("simulate", "lossy.txt", "--trace", "-", "--seed", str(seed)).stdout
        for seed in (1, 1, 2)
    )
    assert first == same != other


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
def test_bad_calls_are_rejected(arguments: list[str], complaint: str) -> None:
    result = run("simulate", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert complaint in result.stderr


def test_scenario_outside_utf_8_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"topology line 2\n\xff")
    result = run("simulate", "x.txt")
    assert result.code == 2
    assert "is not UTF-8" in result.stderr


def test_scenario_may_be_standard_input() -> None:
    result = run_process("simulate", "-", stdin=GOOD.encode())
    assert (result.code, result.stderr) == (0, "")
    assert "1, all met" in result.stdout


def test_help_has_an_example() -> None:
    assert "Example" in run("simulate", "--help").stdout


def test_inspect_and_why_show_tables_and_reasons() -> None:
    shown = run("simulate", "good.txt", "--inspect", "b2", "--why", "d1").stdout
    assert "b2: advertisements (SRT)" in shown
    assert "b2: interests (PRT), and how they were sent on" in shown
    assert "d1 at b1, as published" in shown
    assert "d1 at b3, from b2" in shown
    assert "taken: an entry matches" in shown
    (summary,) = run("simulate", "good.txt", "--json", "--inspect", "b2", "--why", "d2").rows
    assert [row["origin"] for row in summary["tables"]["b2"]["advertisements"]] == ["b1"]
    (visit,) = summary["why"]  # no subscriber matches, so it stays at its origin
    assert (visit["broker"], visit["from"]) == ("b1", None)
    assert [way["taken"] for way in visit["ways"]] == [False, False]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--inspect", "b9"], "there is no broker b9"),
        (["--why", "d9"], "no document d9 has been published"),
        (["--draw", "no/such/folder/x.svg"], "cannot be written"),
    ],
)
def test_unknown_names_and_unwritable_files_are_reported_after_the_summary(
    arguments: list[str], complaint: str
) -> None:
    result = run("simulate", "good.txt", *arguments)
    assert result.code == 2
    assert complaint in result.stderr
    assert rows(result.stdout)["expectations"] == "1, all met"  # the summary is shown all the same


def test_inspecting_a_broker_that_is_down(tmp_path: Path) -> None:
    write(tmp_path, down__txt=GOOD + "crash b2\n")
    result = run("simulate", "down.txt", "--inspect", "b2", "--why", "d1", "--why", "d2")
    assert result.code == 0
    shown = result.stdout.splitlines()
    assert "b2: it is down, and has no tables" in shown
    assert "d1 at b2, from b1: it is down, and has no tables" in shown
    assert "d2 at b1, as published" in shown
    (summary,) = run("simulate", "down.txt", "--inspect", "b2", "--why", "d1", "--json").rows
    assert (summary["down"], summary["tables"]) == (["b2"], {"b2": None})
    assert [visit["ways"] is None for visit in summary["why"]] == [False, True, False]


def test_refused_documents_are_listed(tmp_path: Path) -> None:
    text = GOOD + "publish d3 by P <a><b></a>\nuntil idle\nexpect d3 refused\n"
    write(tmp_path, refused__txt=text)
    result = run("simulate", "refused.txt", "--why", "d3")
    assert result.code == 0
    assert rows(result.stdout)["refused"].startswith("d3: malformed: ")
    assert "d3 at b1, as published: refused, malformed: " in result.stdout
    (summary,) = run("simulate", "refused.txt", "--why", "d3", "--json").rows
    assert list(summary["refusals"]) == ["d3"]
    assert summary["why"][0]["refused"] == summary["refusals"]["d3"]
    assert (summary["expectations"], summary["seed"]) == (2, 0)
    refused = "".join(f"publish e{n} by P <a>\n" for n in range(5))
    write(tmp_path, many__txt=text + refused)
    assert "and 3 more" in run("simulate", "many.txt").stdout


def test_reasons_why_the_overlay_is_not_idle_are_reported(tmp_path: Path) -> None:
    write(tmp_path, busy__txt=GOOD + "crash b1\npublish d3 by P <a/>\nuntil idle\n")
    result = run("simulate", "busy.txt")
    assert result.code == 1
    assert "b1 is down; P waits for b1 to take d3" in result.stderr
    assert rows(result.stdout)["expectations"] == "2, 1 failed"
    write(tmp_path, cut__txt=GOOD + "cut b2-b3\npublish d3 by P <a><b/></a>\nuntil idle\n")
    assert "b2-b3 is cut; b2 keeps d3 for others" in run("simulate", "cut.txt").stderr


def test_lost_frames_are_counted(tmp_path: Path) -> None:
    """Frames are lost at a broker that is down and on a cut link; crashed brokers count too."""
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
    lost, _, retransmitted, *_ = rows(result.stdout.partition("\noverlay")[2])["frames"].split()
    assert int(lost) >= 2
    assert int(retransmitted) >= 1


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert run("simulate", "bom.txt").code == 0


def test_tables_are_written_as_subscription_files(tmp_path: Path) -> None:
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


def test_tables_of_an_earlier_run_are_replaced(tmp_path: Path) -> None:
    run("simulate", "good.txt", "--tables", "tables")
    write(tmp_path, down__txt=GOOD + "crash b2\n")
    result = run("simulate", "down.txt", "--tables", "tables")
    assert (result.code, result.stderr) == (0, "pathcast: b2 is down, and has no table\n")
    assert not (tmp_path / "tables/b2.jsonl").exists()
    write(tmp_path, other__txt="topology line 2\nuntil idle\n")
    result = run("simulate", "other.txt", "--tables", "tables")
    assert result.code == 2
    assert "b3.jsonl is there already, and of another overlay" in result.stderr


def test_overlay_is_drawn(tmp_path: Path) -> None:
    assert run("simulate", "good.txt", "--draw", "x.svg").code == 0
    text = (tmp_path / "x.svg").read_text()
    assert "<svg" in text[:100]
    assert all(name in text for name in ("b1", "b2", "b3"))
