"""The scenario language: text to values and back, and errors that point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import RoutingError, ScenarioError
from pathcast.sim.scenario import (
    Scenario,
    actions,
    expectations,
    header,
    read_scenario,
    run_scenario,
)
from pathcast.sim.scenario.units import (
    percent_text,
    read_percent,
    read_time,
    time_text,
)
from tests.sim.delivery_model import add_expectations
from tests.sim.random_scenarios import random_scenario

ALL = """\
seed 7
topology random 5 2
latency 2ms
bandwidth 125000
strategy with-Adv-with-CovIPM(0.1)
mergers by dtd book
mergers by path /a/b 5
costs li2008
refuse outside
keep tables
retry 50ms 1s 64
perfect links
namespace p urn:example
schema small <!ELEMENT a (b*)> <!ELEMENT b EMPTY>
sample one <a><b/></a>
publisher P at b1 advertises dtd book
publisher Q at b1 advertises /a(/b)+/c /a/d
publisher R at b2 advertises like one
publisher S at b2 advertises anything
publisher T at b2
advertise P anything
retract P
subscribe s1 at b4 //a[b = 'x  y']
subscribe s2 for ann at b4 //a[. = '#']
cancel s1
publish d1 by P <a>x  y</a>
publish d2 by P file d.xml
publish d3 by P sample one
publish d4 by P generated from book
publish d5..d9 by P generated from book every 10ms
publish e1..e3 by P <a> every 5ms </a> every 10ms
cut b1-b2
heal b1-b2
heal everywhere
lose 10% on b1-b2
duplicate 12.5% everywhere
reorder 0.0001% everywhere
delay 100% up to 300ms on b1-b2
clear faults on b1-b2
clear faults everywhere
crash b3
restart b3 with its tables
restart b3 without its tables
at 5s
after 1500us
until idle
expect d1 reaches s1 s3
expect d1 reaches none
expect d1 reaches at least s1
expect d1 reaches at most s1 s3
expect d1 crosses b1-b2 b2-b4
expect d1 crosses none
expect d1 not wasted
expect d1 refused
expect entries b1 3
expect b1 sent b2 /a ; //b[c]
expect b1 sent b2 none
expect messages subscribe 12
expect wasted 2
expect duplicates 1
expect tables empty"""


def test_every_statement_is_read_and_written() -> None:
    scenario = read_scenario(ALL)
    assert str(scenario) == ALL
    assert read_scenario(str(scenario)) == scenario
    kinds = {type(statement) for statement in scenario.statements()}
    assert kinds == {
        *header.Setting.__args__,
        *actions.Action.__args__,
        *expectations.Expectation.__args__,
    } - {header.LinkSetting}


def test_lines_comments_and_continuations() -> None:
    scenario = read_scenario(
        "\n# a comment\nlink  b1-b2   5ms\n  # another\npublisher P at b1 advertises\n"
        "  /a/b\n\t/a/c\n\nuntil idle\n"
    )
    assert str(scenario) == "link b1-b2 5ms\npublisher P at b1 advertises /a/b /a/c\nuntil idle"
    assert [statement.line for statement in scenario.statements()] == [3, 5, 9]


@given(st.integers(0, 10**6))
def test_random_scenarios_are_read_as_they_are_written(seed: int) -> None:
    scenario = add_expectations(random_scenario(seed))
    assert read_scenario(str(scenario)) == scenario


@given(st.integers(0, 10**15))
def test_times(time: int) -> None:
    assert read_time(time_text(time)) == time


@given(st.integers(0, 10**6))
def test_percentages(probability: int) -> None:
    assert read_percent(percent_text(probability)) == probability


@pytest.mark.parametrize(
    "text", ["5", "5m", "-1s", "1.0000001s", "s", "1e3s", "٣s", "9" * 30 + "s"]
)
def test_invalid_times(text: str) -> None:
    assert read_time(text) is None


def syntax_error(text: str) -> ScenarioError | None:
    try:
        read_scenario(text)
    except ScenarioError as error:
        return error
    return None


@given(st.text(max_size=40), st.lists(st.sampled_from(ALL.split()), max_size=8))
def test_any_text_is_a_scenario_or_an_error_with_its_line(text: str, words: list[str]) -> None:
    for candidate in (text, " ".join(words)):
        error = syntax_error(candidate)
        if error is not None:
            assert 1 <= error.line <= len(candidate.splitlines())
            assert error.expected
            json.dumps(error.as_dict())


@pytest.mark.parametrize(
    ("line", "position", "expected", "hint"),
    [
        ("subscrib s1 at b1 /a", 0, "a statement", "did you mean subscribe?"),
        ("subscribe s1 on b1 /a", 13, "at", "subscribe s1 at b4 /a/b"),
        ("subscribe s1 at b1", 18, "an XPath", None),
        ("subscribe 1 at b1 /a", 10, "a name for the subscription", "start with a letter"),
        ("publish d1 by P text", 16, "a document such as", "or file NAME"),
        ("publish d1 by P", 15, "a document such as", "or file NAME"),
        ("publish d9..d1 by P <a/>", 8, "several such as d1..d20", None),
        ("publish d1..e2 by P <a/>", 8, "several such as d1..d20", None),
        ("publish d1 by P sample x every 1s", 8, "several documents", None),
        ("publish d1 by P <a/> every 1s", 8, "several documents", None),
        ("publish d1..d2 by P <a/> every day", 31, "a time such as", "whole microseconds"),
        ("lose 101% everywhere", 5, "a probability such as 10%", "at most 100%"),
        ("subscribe none at b1 /a", 10, "a name for the subscription", "no subscriber"),
        ("retry 1s 50ms", 9, "not shorter than the first", None),
        ("lose 10%", 8, "on", "everywhere"),
        ("delay 10% everywhere", 10, "up", "up to"),
        ("cut b1", 4, "a link such as b1-b2", None),
        ("restart b1", 10, "one of with, without", None),
        ("restart b1 wihout its tables", 11, "one of with", "without"),
        ("at noon", 3, "a time such as", "whole microseconds"),
        ("seed " + "9" * 30, 5, "a number", "at most 18 digits"),
        ("until idle # now", 11, "the end of the line", "a line of its own"),
        ("strategy best", 9, "the name of a strategy", "with-Adv-with-Cov"),
        ("publisher P at b1 advertises book", 29, "anything, dtd NAME", None),
        ("mergers by path a/b 3", 16, "a path such as /a/b", None),
        ("expect messages hello 3", 16, "one of advertise", None),
        ("expect d1 gets s1", 10, "one of reaches", None),
        ("seed -1", 5, "a number", None),
    ],
)
def test_errors_point(line: str, position: int, expected: str, hint: str | None) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_scenario(f"# first\n\n{line}\nuntil idle\n")
    error = caught.value
    assert isinstance(error, RoutingError)
    assert (error.line, error.text, error.position) == (3, line, position)
    assert error.expected is not None
    assert expected in error.expected
    assert (error.hint is None) if hint is None else hint in str(error.hint)
    assert str(error).startswith("line 3: syntax: unexpected ")


def test_the_head_comes_first() -> None:
    with pytest.raises(ScenarioError, match="line 3"):
        read_scenario("topology line 2\nuntil idle\nseed 3\n")


HEAD = "topology line 3\n"
PUBLISHED = HEAD + "publisher P at b1\npublish d1 by P <a/>\n"
MERGING = HEAD + "strategy with-Adv-with-CovPM\n"


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("until idle\n", 1, "there are no brokers"),
        ("topology line x\nuntil idle", 1, "a number is expected"),
        ("seed 1\nseed 2\ntopology line 2\n", 2, "an earlier line has this setting"),
        ("topology line 2\nlink b1-b2\n", 2, "its links already"),
        ("link b1-b2\nlink b3-b4\n", 2, "nothing leads from b1 to b3"),
        ("costs nothing\ntopology line 2\n", 1, "nothing cannot be read"),
        (HEAD + "subscribe s1 at b9 /a", 2, "no broker b9"),
        ("topology line 99999999999\nuntil idle", 1, "at most 10,000 brokers"),
        (HEAD + "schema x <!ELEMENT a (b\nuntil idle", 2, "unexpected|expected"),
        (HEAD + "mergers by path /a/b 5\nmergers by dtd book\nuntil idle", 3, "an earlier line"),
        (HEAD + "mergers by dtd book\nmergers by path /a/b 5\nuntil idle", 3, "an earlier line"),
        (HEAD + "publisher P at b1 advertises dtd boook", 2, "nor a schema of that name"),
        (HEAD + "publisher P at b1\npublish d1..d99999999999 by P <a/>", 3, "at most 1,000,000"),
        (
            HEAD + "publisher P at b1\npublish d2 by P <a/>\npublish d1..d3 by P <a/>",
            4,
            "a document d2 already",
        ),
        (PUBLISHED + "expect d1 reaches at most s1", 4, "no subscriber s1"),
        (PUBLISHED + "expect d1 crosses b1-b9", 4, "no link b1-b9"),
        (HEAD + "crash b1\nexpect entries b1 0", 3, "b1 is down"),
        (HEAD + "subscribe s1 at b1 /a[", 2, "ends too soon"),
        (HEAD + "cancel s1", 2, "no subscription s1"),
        (HEAD + "publish d1 by P <a/>", 2, "no publisher P"),
        (HEAD + "publisher P at b9", 2, "no broker b9"),
        (HEAD + "publisher P at b1\npublisher P at b2", 3, "P is at b1"),
        (HEAD + "publisher P at b1 advertises dtd nothing.dtd", 2, "nothing.dtd"),
        (HEAD + "publisher P at b1 advertises like x", 2, "no sample x"),
        (HEAD + "publisher P at b1 advertises //a", 2, "unexpected"),
        (HEAD + "publisher P at b1\npublish d1 by P file no.xml", 3, "no.xml cannot be read"),
        (HEAD + "cut b1-b3", 2, "no link b1-b3"),
        (HEAD + "heal b1-b3", 2, "no link b1-b3"),
        (HEAD + "crash b1\ncrash b1", 3, "down already"),
        (HEAD + "restart b1 without its tables", 2, "b1 is up"),
        (HEAD + "crash b1\nrestart b1 with its tables", 3, "has not kept its tables"),
        (HEAD + "after 2s\nat 1s", 3, "has passed"),
        (HEAD + "expect d1 reaches none", 2, "no document d1"),
        (HEAD + "expect entries b9 1", 2, "no broker b9"),
        (HEAD + "expect b1 sent b3 none", 2, "no neighbour"),
        (HEAD + "perfect links\ncut b1-b2", 3, "nothing fails"),
        (MERGING + "publisher P at b1 advertises anything", 2, "judges mergers by the paths"),
    ],
)  # fmt: skip
def test_errors_of_statements(text: str, line: int, complaint: str) -> None:
    with pytest.raises(RoutingError, match=complaint) as caught:
        run_scenario(text)
    assert isinstance(caught.value, ScenarioError)
    assert caught.value.line == line


def test_errors_in_expressions_point_into_them() -> None:
    with pytest.raises(ScenarioError) as caught:
        run_scenario(HEAD + "subscribe s1 at b1 //a[b==1]")
    assert (caught.value.text, caught.value.position) == ("//a[b==1]", 5)


def test_files_are_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_text("<a><b/></a>")
    (tmp_path / "d.dtd").write_text("<!ELEMENT a (b*)><!ELEMENT b EMPTY>")
    text = (
        "topology line 2\nrefuse outside\npublisher P at b1 advertises dtd d.dtd\n"
        "subscribe s1 at b2 //b\nuntil idle\n"
        "publish d1 by P file d.xml\nuntil idle\nexpect d1 reaches s1\n"
    )
    assert run_scenario(text, tmp_path).passed


def test_namespaces_and_subscribers() -> None:
    text = (
        "topology line 2\nnamespace p urn:p\npublisher P at b1 advertises /p:a/p:b\n"
        "subscribe s1 for ann at b2 //p:b\nsubscribe s2 for ann at b2 /p:a\nuntil idle\n"
        "publish d1 by P <a xmlns='urn:p'><b/></a>\npublish d2 by P <a><b/></a>\nuntil idle\n"
        "expect d1 reaches ann\nexpect d2 reaches none\n"
    )
    outcome = run_scenario(text)
    assert outcome.passed
    assert outcome.summary.deliveries == 1


FAILING = [
    ("expect d1 reaches none", "it reached s1"),
    ("expect d1 reaches at least s1 s2", "it reached s1"),
    ("expect d1 reaches at most s2", "it reached s1"),
    ("expect d1 crosses none", "it crossed b1-b2"),
    ("expect d1 refused", "it was not"),
    ("expect entries b1 7", "it has 1"),
    ("expect b2 sent b1 none", "it sent /a"),
    ("expect messages subscribe 9", "there were 1"),
    ("expect wasted 9", "there were 0"),
    ("expect duplicates 9", "there were 0"),
    ("expect tables empty", "b1 has"),
]


@pytest.mark.parametrize(("expectation", "actual"), FAILING)
def test_expectations_that_fail(expectation: str, actual: str) -> None:
    text = (
        "topology line 2\npublisher P at b1 advertises anything\n"
        "subscribe s1 at b2 /a\nsubscribe s2 at b2 /a/b\nuntil idle\n"
        f"publish d1 by P <a/>\nuntil idle\n{expectation}\n"
    )
    (failure,) = run_scenario(text).failures
    assert (failure.line, failure.statement) == (8, expectation)
    assert failure.actual.startswith(actual)


def test_wasted_crossings_are_reported() -> None:
    text = (
        "topology line 3\nschema small <!ELEMENT a (b?, c?, d?)> <!ELEMENT b EMPTY>\n"
        " <!ELEMENT c EMPTY> <!ELEMENT d EMPTY>\n"
        "strategy with-Adv-with-CovIPM(0.4)\npublisher P at b1 advertises dtd small\n"
        "subscribe s1 at b3 /a/b\nsubscribe s2 at b3 /a/c\nuntil idle\n"
        "publish d1 by P <a><d/></a>\nuntil idle\n"
        "expect d1 not wasted\n"
    )
    (failure,) = run_scenario(text).failures
    assert failure.actual == "it crossed b2-b3 to no subscriber"


def test_an_overlay_with_a_broker_down_is_not_idle() -> None:
    outcome = run_scenario(
        "topology line 2\nuntil idle\ncrash b2\npublisher P at b1 advertises anything\nuntil idle\n"
    )
    assert [failure.line for failure in outcome.failures] == [5]


def test_statements_are_one_line() -> None:
    with pytest.raises(RoutingError, match="one line"):
        Scenario((), (actions.AddSubscription("s1", "b1", "/a\n/b"),))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("quiet", "until idle"),
        ("double 5% everywhere", "duplicate 5% everywhere"),
        ("calm everywhere", "clear faults everywhere"),
        ("calm on b1-b2", "clear faults on b1-b2"),
        ("expect vain 2", "expect wasted 2"),
        ("expect doubled 1", "expect duplicates 1"),
        ("expect d1 in vain nowhere", "expect d1 not wasted"),
        ("expect d1 reaches nobody", "expect d1 reaches none"),
        ("expect d1 reaches at most nobody", "expect d1 reaches at most none"),
        ("expect d1 crosses nothing", "expect d1 crosses none"),
        ("expect b1 tells b2 /a ; //b", "expect b1 sent b2 /a ; //b"),
        ("expect b1 tells b2 nothing", "expect b1 sent b2 none"),
        ("patience 50ms 1s 64", "retry 50ms 1s 64"),
    ],
)
def test_deprecated_words_are_read_and_written_as_the_new_ones(old: str, new: str) -> None:
    scenario = read_scenario(old)
    assert scenario == read_scenario(new)
    assert str(scenario) == new
