"""Merging: the paper's examples, weights counted path by path, and invariants under changes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from itertools import permutations
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pathcast.covering import covers
from pathcast.covering.merging import (
    Change,
    MergedTable,
    MergeOrder,
    PathDistribution,
    linear,
    merge,
)
from pathcast.covering.merging.linear import Steps, to_steps, to_xpath
from pathcast.covering.merging.rules import (
    merge_by_middle,
    merge_by_name,
    merge_by_operator,
    middle_proposals,
    name_proposals,
    operator_proposals,
)
from pathcast.errors import SubscriptionError
from pathcast.generators import presets
from pathcast.generators.bundled import bundled_schema
from pathcast.schema import PathAutomaton, Schema, parse_dtd, root_paths
from pathcast.xpath import parse
from tests.covering.patterns import paths
from tests.dtds import random_dtd

DEPTH = 5
SLOW = settings(max_examples=min(settings().max_examples, 700))
Path = tuple[str, ...]


@cache
def _steps(pattern: str) -> Steps:
    steps = to_steps(pattern)
    assert steps is not None
    return steps


def _matches(pattern: str, path: Path) -> bool:
    return _expression(pattern).fullmatch("".join(f"/{name}" for name in path)) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """Return the pattern as a regular expression on a path's text, the oracle."""
    steps = re.findall(r"(//?)([^/]+)", pattern if pattern.startswith("/") else "//" + pattern)
    parts = (
        ("(?:/[^/]+)*" if axis == "//" else "")
        + "/"
        + ("[^/]+" if name == "*" else re.escape(name))
        for axis, name in steps
    )
    return re.compile("".join(parts) + "(?:/.*)?")


def _leaves(schema: Schema) -> dict[Path, Fraction]:
    machine = PathAutomaton.of(schema)
    return {path: Fraction(1) for path in root_paths(schema, DEPTH) if machine.accepts(path)}


def _weight(rates: dict[Path, Fraction], pattern: str, without: Iterable[str] = ()) -> Fraction:
    others = list(without)
    return sum(
        (
            rate
            for path, rate in rates.items()
            if _matches(pattern, path) and not any(_matches(other, path) for other in others)
        ),
        Fraction(0),
    )


def _degree(rates: dict[Path, Fraction], merger: str, members: Iterable[str]) -> Fraction:
    total = _weight(rates, merger)
    return _weight(rates, merger, members) / total if total else Fraction(0)


@st.composite
def _publishers(draw: st.DrawFn) -> tuple[PathDistribution, dict[Path, Fraction]]:
    """Draw a distribution, and the same one path by path."""
    if draw(st.booleans()):
        dtd = random_dtd(Random(draw(st.integers(0, 10_000))))
        schema = parse_dtd(dtd.text, root="a")
        return PathDistribution.uniform(schema, DEPTH), _leaves(schema)
    path = st.lists(st.sampled_from("abcd"), min_size=1, max_size=DEPTH).map(tuple)
    rate = st.fractions(0, 5, max_denominator=8)
    rates = draw(st.dictionaries(path, rate, max_size=30))
    return PathDistribution.from_rates(rates), rates


# --- the paper's examples (Li, Hou and Jacobsen 2008, section 4.3) -------------------------------


def test_one_element_differs() -> None:
    assert merge_by_name(_steps("a/*/c/d"), _steps("a/*/c/e")) == _steps("a/*/c/*")


def test_figure_5() -> None:
    members = [_steps(text) for text in ("/a/b/a", "/a/b/b", "/a/b/d")]
    assert merge_by_name(*members) == _steps("/a/b/*")


def test_one_operator_and_one_element_differ() -> None:
    left, right = _steps("/a/c/*/*"), _steps("/a//c/*/c")
    merger = _steps("/a//c/*/*")
    assert merge_by_operator(left, right) == merge_by_operator(right, left) == merger


def test_the_middle_differs() -> None:
    assert merge_by_middle(_steps("/a/b/x/y/c"), _steps("/a/b/z/c")) == _steps("/a/b//c")
    assert merge_by_middle(_steps("/a/b/c"), _steps("/a/b/x/c")) == _steps("/a/b//c")
    # the first operator of the suffix may differ; prefix and suffix do not overlap
    assert merge_by_middle(_steps("/a/b/x//c"), _steps("/a/b/z/c")) == _steps("/a/b//c")
    assert merge_by_middle(_steps("/a/b/b/c"), _steps("/a/b/c")) == _steps("/a/b//c")
    # half is no majority
    assert merge_by_middle(_steps("/a/x/y/c"), _steps("/a/z/c")) is None


@pytest.mark.parametrize(
    "texts", [("/a/*", "/a/b"), ("/a/b", "/a//b"), ("/a/b", "/a/b/c"), ("/a/b", "/c/d")]
)
def test_covering_or_very_different_paths_are_not_merged(texts: tuple[str, str]) -> None:
    left, right = (_steps(text) for text in texts)
    assert merge_by_name(left, right) is None
    assert merge_by_operator(left, right) is None


FOURTH = parse_dtd(
    "<!ELEMENT a (x?)><!ELEMENT x (c)><!ELEMENT c (a|b|c|d|e)?>"
    "<!ELEMENT b EMPTY><!ELEMENT d EMPTY><!ELEMENT e EMPTY>",
    root="a",
)


def test_imperfect_degree_of_the_paper() -> None:
    """Five names are allowed at the fourth position; two of them are subscribed."""
    publisher = PathDistribution.uniform(FOURTH, depth=4)
    members = ["/a/*/c/d", "/a/*/c/e"]
    assert publisher.degree(_steps("/a/*/c/*"), [_steps(text) for text in members]) == Fraction(
        3, 5
    )
    for order in MergeOrder:
        assert merge(members, publisher, 0.59, order).entries == set(members)
        (merger,) = merge(members, publisher, 0.6, order).mergers()
        assert (merger.pattern, merger.degree) == ("/a/*/c/*", Fraction(3, 5))
        assert merger.members == set(members)


def test_a_merger_without_paths_is_perfect() -> None:
    publisher = PathDistribution.uniform(FOURTH, depth=4)
    assert publisher.degree(_steps("/z/*"), [_steps("/z/x")]) == 0
    assert merge(["/z/x", "/z/y"], publisher, 0).entries == {"/z/*"}


# --- the table -----------------------------------------------------------------------------------

LETTERS = PathDistribution.from_rates(
    {(first, two, three): 1 for first in "ab" for two in "cd" for three in "ef"}
)


def test_orders() -> None:
    """Greedy takes the first rule that fits; by saving, the perfect merger excludes the other."""
    patterns = ["/a/c/e", "/a/d/e", "/a/c/f", "/b/c/e"]
    greedy = merge(patterns, LETTERS, 0, MergeOrder.GREEDY)
    assert greedy.entries == {"/*/c/e", "/a/d/e", "/a/c/f"}
    rates: dict[Path, int] = {("a", "b"): 1, ("a", "c"): 1, ("x", "b"): 1, ("y", "b"): 8}
    publisher = PathDistribution.from_rates(rates)
    patterns = ["/a/b", "/x/b", "/a/c"]
    assert merge(patterns, publisher, 0.9, MergeOrder.GREEDY).entries == {"/*/b", "/a/c"}
    assert merge(patterns, publisher, 0.5).entries == {"/a/*", "/x/b"}


def test_mergers_are_merged_again_and_measured_by_the_originals() -> None:
    patterns = [f"/a/{two}/{three}" for two in "cd" for three in "ef"]
    assert merge(patterns, LETTERS, 0).entries == {"/a/*/*"}
    # Each step alone would waste a third at most; both together waste more than that.
    rates: dict[Path, int] = {("a", two, three): 1 for two in "cde" for three in "fgh"}
    publisher = PathDistribution.from_rates(rates)
    subscribed = [f"/a/{two}/{three}" for two in "cd" for three in "fg"]
    for order in MergeOrder:
        table = merge(subscribed, publisher, Fraction(1, 3), order)
        assert len(table) == 2
        assert all(merger.degree <= Fraction(1, 3) for merger in table.mergers())
        assert merge(subscribed, publisher, Fraction(5, 9), order).entries == {"/a/*/*"}


def test_members_by_order() -> None:
    """By saving, a merger has all roots that it covers as members.

    In the paper's order, it has only those that the rule merges; the third path differs too much.
    """
    publisher = PathDistribution.from_rates(
        {("a", "c", "e"): 1, ("a", "d", "e"): 1, ("a", "b", "e", "z", "y"): 1}
    )
    patterns = ["/a/c/e", "/a/d/e", "/a/b/e/z/y"]
    assert merge(patterns, publisher, 0).entries == {"/a/*/e"}
    assert len(merge(patterns, publisher, 0, MergeOrder.GREEDY)) == 3


def test_a_merger_hides_all_that_it_covers() -> None:
    table = merge(["/a/c/e", "/a/d", "/a/c/f", "/a//e/z"], LETTERS, 0)
    assert table.entries == {"/a/*"}
    assert table.mergers()[0].members == {"/a/c/e", "/a/c/f", "/a/d", "/a//e/z"}


def test_changes_of_a_table() -> None:
    table = MergedTable(LETTERS, 0)
    assert table.add("1", "/a/c/e") == Change(frozenset({"/a/c/e"}))
    assert table.add("2", "/a/c/f") == Change(frozenset({"/a/c/*"}), frozenset({"/a/c/e"}))
    assert table.add("3", "/a/c/f") == Change()
    assert table.remove("2") == Change()
    assert table.remove("3") == Change(frozenset({"/a/c/e"}), frozenset({"/a/c/*"}))
    # a covered path is hidden as long as the covering one is present
    assert table.add("4", "/a") == Change(frozenset({"/a"}), frozenset({"/a/c/e"}))
    assert table.remove("4") == Change(frozenset({"/a/c/e"}), frozenset({"/a"}))
    with pytest.raises(SubscriptionError, match="already"):
        table.add("1", "/b")
    with pytest.raises(KeyError):
        table.remove("4")


def test_a_subscription_equal_to_a_merger_replaces_it() -> None:
    table = merge(["/a/c/e", "/a/c/f"], LETTERS, 0)
    assert table.add("same", "/a/c/*") == Change()
    assert table.mergers() == []
    assert table.remove(0) == table.remove(1) == Change()
    assert table.entries == {"/a/c/*"}


def test_nonlinear_patterns_are_not_merged() -> None:
    table = MergedTable(LETTERS, 1)
    spaces = {"p": "urn:p"}
    others = [parse("/a/c[e]/f"), parse("/a/@x"), parse("/a/p:x", spaces), parse("count(//a) > 3")]
    for number, pattern in enumerate(others):
        assert table.add(number, pattern) == Change(frozenset({pattern}))
    assert table.add("again", "/a/@x") == Change()
    assert table.entries == set(others)
    assert table.remove(1) == Change()
    assert table.remove("again") == Change(hidden=frozenset({others[1]}))


def test_a_real_schema() -> None:
    news = bundled_schema("news")
    publisher = PathDistribution.uniform(news)
    assert publisher.total > 500_000
    patterns = list(presets.li2008_a().texts(seed=3, count=300))
    sizes = []
    for limit in (0.0, 0.1, 0.5):
        for order in MergeOrder:
            table = merge(patterns, publisher, limit, order)
            assert all(merger.degree <= limit for merger in table.mergers())
            sizes.append(len(table))
    assert sizes[0] >= sizes[2] >= sizes[4]


# --- properties ----------------------------------------------------------------------------------


@given(paths(), paths())
def test_covering_of_steps_is_covering(wide: str, narrow: str) -> None:
    answer = covers(wide, narrow).answer
    assert linear.covers(_steps(wide), _steps(narrow)) is answer
    if answer and covers(narrow, wide):
        assert _steps(wide) == _steps(narrow)


@given(_publishers(), paths(), st.lists(paths(), max_size=4))
def test_weights_are_counted(
    publisher: tuple[PathDistribution, dict[Path, Fraction]], pattern: str, others: list[str]
) -> None:
    distribution, rates = publisher
    total = sum(rates.values(), Fraction(0))
    assume(total)
    unit = distribution.total / total
    steps, members = _steps(pattern), [_steps(other) for other in others]
    assert distribution.weight(steps) == _weight(rates, pattern) * unit
    assert distribution.weight(steps, members) == _weight(rates, pattern, others) * unit
    degree = _degree(rates, pattern, others)
    assert distribution.degree(steps, members) == degree
    covered = [member for member in members if linear.covers(steps, member)]
    degree = _degree(rates, pattern, map(to_xpath, covered))
    for limit in (Fraction(0), Fraction(1, 4), degree):
        bounded = distribution.degree_within(steps, covered, limit)
        assert bounded == (degree if degree <= limit else None)


@st.composite
def _relatives(draw: st.DrawFn) -> tuple[Steps, Steps]:
    """Draw two paths with much in common."""
    original = draw(paths(6))
    steps = list(_steps(original))
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(steps) - 1))
        change = draw(st.sampled_from(["name", "operator", "insert", "delete"]))
        match change:
            case "name":
                operator = "//" if steps[at].startswith("//") else "/"
                steps[at] = operator + draw(st.sampled_from("abcd"))
            case "operator":
                operator = "/" if steps[at].startswith("//") else "//"
                steps[at] = operator + steps[at].lstrip("/")
            case "insert":
                steps.insert(at, "/d")
            case _ if len(steps) > 1:
                del steps[at]
    return _steps(original), _steps("".join(steps))


@given(_relatives())
def test_mergers_cover_their_members(pair: tuple[Steps, Steps]) -> None:
    left, right = pair
    for rule in (merge_by_name, merge_by_operator, merge_by_middle):
        merger = rule(left, right)
        assert merger == rule(right, left)
        if merger is not None:
            assert covers(to_xpath(merger), to_xpath(left))
            assert covers(to_xpath(merger), to_xpath(right))


@SLOW
@given(_relatives())
def test_proposals_yield_every_merger(pair: tuple[Steps, Steps]) -> None:
    left, right = pair
    merger = merge_by_name(left, right)
    assert merger is None or merger in {*name_proposals(left)} & {*name_proposals(right)}
    merger = merge_by_middle(left, right)
    assert merger is None or merger in {*middle_proposals(left), left} & {
        *middle_proposals(right),
        right,
    }
    merger = merge_by_operator(left, right)
    proposed_mergers = {
        merged
        for awaited, merged in operator_proposals(left)
        if awaited in {*name_proposals(right)}
    }
    proposed_mergers |= {
        merged
        for awaited, merged in operator_proposals(right)
        if awaited in {*name_proposals(left)}
    }
    proposed_mergers |= {*name_proposals(left)} & {
        *name_proposals(right)
    }  # trailing operators have no effect
    comparable = covers(to_xpath(left), to_xpath(right)) or covers(to_xpath(right), to_xpath(left))
    assert merger is None or merger in proposed_mergers or comparable
    for proposed in (
        *name_proposals(left),
        *middle_proposals(left),
        *(merged for _, merged in operator_proposals(left)),
    ):
        assert covers(to_xpath(proposed), to_xpath(left))


_limits = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)])


def _check(
    table: MergedTable, present: Iterable[str], rates: dict[Path, Fraction], limit: Fraction
) -> None:
    """Check the invariants by definition."""
    paths = {to_xpath(_steps(text)) for text in present}
    entries = {entry for entry in table.entries if isinstance(entry, str)}
    assert len(entries) == len(table) <= len(paths)
    for path in paths:
        assert any(linear.covers(_steps(entry), _steps(path)) for entry in entries)
    for entry in entries:
        assert not any(linear.covers(_steps(other), _steps(entry)) for other in entries - {entry})
    mergers = {merger.pattern: merger for merger in table.mergers()}
    assert mergers.keys() == entries - paths
    for merger in mergers.values():
        below = {path for path in paths if linear.covers(_steps(merger.pattern), _steps(path))}
        assert merger.members <= below
        assert len(merger.members) > 1
        assert merger.degree == _degree(rates, merger.pattern, merger.members) <= limit
        assert _degree(rates, merger.pattern, below) <= merger.degree


@SLOW
@given(
    _publishers(),
    _limits,
    st.sampled_from(MergeOrder),
    st.lists(st.tuples(st.integers(0, 9), paths(4)), min_size=1, max_size=25),
)
def test_invariants_hold_after_any_changes(
    publisher: tuple[PathDistribution, dict[Path, Fraction]],
    limit: Fraction,
    order: MergeOrder,
    moves: list[tuple[int, str]],
) -> None:
    """A present id is removed, an absent one is added; in the end all are removed."""
    distribution, rates = publisher
    table = MergedTable(distribution, limit, order)
    present: dict[int, str] = {}
    for id, pattern in moves:
        before = table.entries
        if id in present:
            del present[id]
            change = table.remove(id)
        else:
            present[id] = pattern
            change = table.add(id, pattern)
        assert change == Change(table.entries - before, before - table.entries)
        _check(table, present.values(), rates, limit)
    for id in present:
        table.remove(id)
    assert len(table) == 0
    assert not table.entries
    assert len(table._selection._candidates) == 0


@SLOW
@given(
    _publishers(),
    _limits,
    st.sampled_from(MergeOrder),
    st.lists(st.tuples(st.integers(0, 9), paths(4)), max_size=20),
)
def test_clients_never_see_a_false_positive(
    publisher: tuple[PathDistribution, dict[Path, Fraction]],
    limit: Fraction,
    order: MergeOrder,
    moves: list[tuple[int, str]],
) -> None:
    """A document that passes the table reaches a broker that has the subscriptions.

    No subscriber misses a path or gets a wrong one, and the wasted share of a merger is its D.
    """
    distribution, rates = publisher
    table = MergedTable(distribution, limit, order)
    present: dict[int, str] = {}
    for id, pattern in moves:
        if id in present:
            del present[id]
            table.remove(id)
        else:
            present[id] = pattern
            table.add(id, pattern)
    entries = {entry for entry in table.entries if isinstance(entry, str)}
    mergers = {merger.pattern: merger for merger in table.mergers()}
    wasted = dict.fromkeys(mergers, Fraction(0))
    for path, rate in rates.items():
        passes = {entry for entry in entries if _matches(entry, path)}
        wanted = {id for id, pattern in present.items() if _matches(pattern, path)}
        assert passes or not wanted
        assert passes <= mergers.keys() or wanted
        for entry in passes & mergers.keys():
            if not any(_matches(member, path) for member in mergers[entry].members):
                wasted[entry] += rate
    for entry, merger in mergers.items():
        assert wasted[entry] == merger.degree * _weight(rates, entry)


@SLOW
@given(_publishers(), _limits, st.sampled_from(MergeOrder), st.lists(paths(4), max_size=12))
def test_nothing_is_left_to_merge(
    publisher: tuple[PathDistribution, dict[Path, Fraction]],
    limit: Fraction,
    order: MergeOrder,
    patterns: list[str],
) -> None:
    distribution, rates = publisher
    table = merge(patterns, distribution, limit, order)
    _check(table, patterns, rates, limit)
    paths = {_steps(text) for text in patterns}
    roots = [path for path in paths if not any(linear.covers(o, path) for o in paths if o != path)]
    entries = [_steps(entry) for entry in table.entries if isinstance(entry, str)]
    for left, right in permutations(entries, 2):
        for merger in (
            rule(left, right) for rule in (merge_by_name, merge_by_operator, merge_by_middle)
        ):
            if merger is not None:
                # by saving, all covered roots are members; greedy counts only the merged ones
                parts = [merger] if order is MergeOrder.SAVING else [left, right]
                members = [root for root in roots if any(linear.covers(p, root) for p in parts)]
                assert _degree(rates, to_xpath(merger), map(to_xpath, members)) > limit
