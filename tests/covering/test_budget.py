"""Containment within a work budget: unknown beyond it, and otherwise the same answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.budget import DEFAULT_STEPS, WorkBudget
from pathcast.covering import Aggregate, covers
from pathcast.covering.encode import TwigEncoder
from pathcast.schema import Schema, parse_dtd
from pathcast.xpath import parse
from tests import oracle
from tests.covering.patterns import twigs
from tests.dtds import large_recursive_dtd


@pytest.fixture(scope="module")
def large() -> Schema:
    return parse_dtd(large_recursive_dtd(), root="text")


def nest_negations(depth: int, innermost: str) -> str:
    """Return a condition with negations in each other, each beside alternatives."""
    if not depth:
        return innermost
    return f"b[c or d or e or f][g or h or i][not({nest_negations(depth - 1, innermost)})]"


def chain_of_branches(depth: int) -> str:
    """Return nested predicates that libxml2 evaluates for every chain of elements."""
    return "x" if not depth else f"*[y][.//{chain_of_branches(depth - 1)}]"


POSITIONS = " and ".join(f"//a[{number}]" for number in range(1, 101))


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("count(//a) > 100", POSITIONS),  # thousands of nodes in each model
        ("//x[y]", " | ".join(f"//a[{number}][//b[. = //c]]" for number in range(30))),  # models
        ("//a[//b[//c = //d] = //e]", "/a" + "/b" * 50),  # an expensive expression
    ],
)
def test_searches_end_at_the_budget(wide: str, narrow: str) -> None:
    verdict = covers(wide, narrow, budget=WorkBudget(100_000))
    assert verdict.answer is None
    assert not verdict
    assert verdict.reason == "budget: the answer takes more than 100,000 steps"


def test_searches_under_a_dtd_end_at_the_budget(large: Schema) -> None:
    wide = "//p[i1]/*/*/*[i2]/*/i3"
    verdict = covers(wide, "//*[.//i3]//i1", dtd=large, budget=WorkBudget(100_000))
    assert verdict.answer is None
    assert verdict.reason.startswith("budget: ")


@pytest.mark.parametrize(
    ("wide", "narrow", "answer"),
    [
        ("//p//p", "//*//p//*", False),
        ("//*/*/*/p", "//p//p", True),
        ("//i1//p | //b1", "//*//i1//*//p", True),
    ],
)
def test_paths_under_a_large_dtd(large: Schema, wide: str, narrow: str, answer: bool) -> None:
    budget = WorkBudget()
    verdict = covers(wide, narrow, dtd=large, budget=budget)
    assert verdict.answer is answer
    assert budget.spent < DEFAULT_STEPS
    if verdict.witness is not None:
        assert not large.faults(verdict.witness)
        assert oracle.oracle(narrow, None, verdict.witness)
        assert not oracle.oracle(wide, None, verdict.witness)


def test_nested_negations_take_polynomial_work() -> None:
    """Each pair of conditions is compared once: the work grows linearly with the nesting."""
    spent = []
    for depth in (4, 8, 16):
        budget = WorkBudget()
        wide, narrow = (f"//a[not({nest_negations(depth, name)})]" for name in "xy")
        assert covers(wide, narrow, budget=budget).answer is None
        spent.append(budget.spent)
    assert spent[2] < 3 * spent[1] < 9 * spent[0]


def test_libxml2_does_not_start_what_it_cannot_finish() -> None:
    """The wide pattern has binomial(200, 12) chains of elements to visit."""
    wide, narrow = "//" + chain_of_branches(12), "/a[y]" * 200
    verdict = covers(wide, narrow)
    assert verdict.answer in (False, None)
    assert verdict.answer is not None or verdict.reason.startswith("budget: ")


def test_a_witness_is_kept_when_minimising_ends() -> None:
    wide, narrow = "//q", "/a" + "".join(f"[b{number}/c]" for number in range(60))
    least = WorkBudget(None)
    minimal = covers(wide, narrow, budget=least)
    assert minimal.witness is not None
    verdict = covers(wide, narrow, budget=WorkBudget(least.spent // 3))
    assert verdict.answer is False
    assert verdict.witness is not None
    assert oracle.oracle(narrow, None, verdict.witness)
    assert not oracle.oracle(wide, None, verdict.witness)
    assert len(verdict.witness) >= len(minimal.witness)


@pytest.mark.parametrize("narrow", ["/a" + "/a" * 900, "/a[not(c)]" + "/a" * 900])
def test_patterns_deeper_than_documents(narrow: str) -> None:
    for wide in ("/b", "//a[not(b)]"):
        verdict = covers(wide, narrow)
        assert verdict.answer is None or verdict.answer is (wide != "/b")
    assert covers("//a//a", narrow).answer is True


@pytest.mark.parametrize("pair", [("//a", "//a"), ("//a", "/b"), ("//a[not(b)]", "//c or //d")])
def test_without_a_budget_all_is_unknown(pair: tuple[str, str]) -> None:
    verdict = covers(*pair, budget=WorkBudget(0))
    assert (verdict.answer, verdict.witness) == (None, None)
    assert verdict.reason == "budget: the answer takes more than 0 steps"


_patterns = st.one_of(
    twigs(values=True), st.tuples(twigs(), twigs()).map(lambda pair: f"//a[not({pair[0][1:]})]")
)


@given(_patterns, _patterns, st.floats(0, 1))
def test_an_answer_within_a_budget_is_the_answer(wide: str, narrow: str, share: float) -> None:
    complete = WorkBudget(None)
    expected = covers(wide, narrow, budget=complete)
    assert covers(wide, narrow, budget=WorkBudget(complete.spent)) == expected
    verdict = covers(wide, narrow, budget=WorkBudget(int(share * (complete.spent - 1))))
    assert verdict.answer in (None, expected.answer)
    if verdict.witness is not None:
        assert oracle.oracle(narrow, None, verdict.witness)
        assert not oracle.oracle(wide, None, verdict.witness)


BIB = parse_dtd(
    """<!ELEMENT a (b | c)*> <!ELEMENT b (a?, c?)> <!ELEMENT c (#PCDATA | b)*>
    <!ATTLIST a x CDATA #IMPLIED>"""
)


@given(twigs(), twigs(), st.floats(0, 1))
def test_an_answer_under_a_dtd_is_the_answer(wide: str, narrow: str, share: float) -> None:
    complete = WorkBudget(None)
    expected = covers(wide, narrow, dtd=BIB, budget=complete)
    assert covers(wide, narrow, dtd=BIB, budget=WorkBudget(complete.spent)) == expected
    limit = int(share * (complete.spent - 1))
    verdict = covers(wide, narrow, dtd=BIB, budget=WorkBudget(limit))
    assert verdict.answer in (None, expected.answer)


def test_an_aggregate_keeps_what_it_cannot_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels beyond the budget count as unrelated, so both patterns stay roots."""
    texts = ["//a[not(b/c)]", "//a[not(b)]"]

    def roots() -> set[object]:
        table: Aggregate[int] = Aggregate.of()
        for number, text in enumerate(texts):
            table.add(number, parse(text))
        return set(table.roots())

    assert roots() == {0}
    monkeypatch.setattr("pathcast.covering.encode.WorkBudget", lambda: WorkBudget(1))
    assert roots() == {0, 1}


def test_a_pattern_too_large_to_expand_is_one_label(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = parse("//a[b or c][d or e]")
    assert len(TwigEncoder().encode(pattern)) == 4
    monkeypatch.setattr("pathcast.covering.to_twigs.WorkBudget", lambda: WorkBudget(1))
    (twig,) = TwigEncoder().encode(pattern)
    assert len(twig[0]) == 2
