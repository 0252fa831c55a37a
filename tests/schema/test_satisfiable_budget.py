"""Satisfiability within a work budget: unknown beyond it, and otherwise the same answer."""

from __future__ import annotations

from random import Random

import pytest

from pathcast.budget import DEFAULT_STEPS, WorkBudget
from pathcast.schema import Schema, parse_dtd, satisfiable
from tests import generate, oracle
from tests.dtds import large_recursive_dtd, random_dtd


@pytest.fixture(scope="module")
def large() -> Schema:
    return parse_dtd(large_recursive_dtd(), root="text")


@pytest.mark.parametrize(
    "text", ["//*//*//*//*//p", "//p//p//p//p//p", "//i1[.//i2][.//i3]//b1", "//p[i1[3]][i2]/p"]
)
def test_queries_that_took_a_minute(large: Schema, text: str) -> None:
    budget = WorkBudget()
    result = satisfiable(text, large, budget=budget)
    assert result.answer is True
    assert result.example is not None
    assert not large.faults(result.example)
    assert oracle.oracle(text, None, result.example)
    assert budget.spent < DEFAULT_STEPS // 2


BIG_TREE = "".join(f"<!ELEMENT e{n} (e{n + 1}, e{n + 1})>" for n in range(30))
STRING_TESTS = " and ".join(f"contains(., 'k{n}') and string-length(.) > {n}" for n in range(300))
# Ten attributes, each with one of eleven values: all eleven at once are impossible.
VALUES = [f"v{number}" for number in range(11)]
ATTRIBUTES = "".join(f"<!ATTLIST a x{n} ({'|'.join(VALUES)}) #IMPLIED>" for n in range(10))


@pytest.mark.parametrize(
    ("dtd", "root", "text"),
    [
        # many goals, each with many children
        (large_recursive_dtd(), "text", "//p[.//p][*]//*[.//i1]/p[.//i2]"),
        (large_recursive_dtd(), "text", "//*" * 300 + "/none"),
        # a smallest document of 2**31 elements
        (BIG_TREE + "<!ELEMENT e30 EMPTY>", "e0", "/e0"),
        # all assignments of tests to attributes
        (
            "<!ELEMENT a EMPTY>" + ATTRIBUTES,
            "a",
            "/a" + "".join(f"[@* = '{value}']" for value in VALUES),
        ),
        # candidates for a string
        (
            "<!ELEMENT a (#PCDATA)>",
            "a",
            f"/a[{STRING_TESTS} and . = 'q']",
        ),
    ],
)
def test_searches_end_at_the_budget(dtd: str, root: str, text: str) -> None:
    schema = parse_dtd(dtd, root=root)
    budget = WorkBudget(200_000)
    result = satisfiable(text, schema, budget=budget)
    assert result.answer is None
    assert result  # unknown counts as satisfiable
    assert result.reason == "budget: the answer takes more than 200,000 steps"
    assert budget.spent < 400_000  # no single payment is large


@pytest.mark.parametrize("text", ["//p", "//zebra", "//p[i1]", "/text/body = 'x'"])
def test_without_a_budget_all_is_unknown(large: Schema, text: str) -> None:
    assert satisfiable(text, large, budget=WorkBudget(0)).answer is None


def test_a_schema_in_use_spends_the_same_steps() -> None:
    """Relations and words that a schema keeps between questions change no answer."""
    text = "//p[em[2]]//a | //table[.//p]"
    spent = []
    schema = parse_dtd(large_recursive_dtd(20, 5), root="text")
    for _ in range(3):
        budget = WorkBudget()
        satisfiable(text.replace("em", "i1").replace("a ", "b1 "), schema, budget=budget)
        spent.append(budget.spent)
    assert len(set(spent)) == 1


def test_an_answer_within_a_budget_is_the_answer(deep: bool) -> None:
    """With the steps of the complete search the answer is equal; with fewer, equal or unknown."""
    rng = Random(11)
    unknown = equal = 0
    for _ in range(600 if deep else 120):
        schema = parse_dtd(random_dtd(rng).text, root="a")
        text = generate.expression(rng, generate.NATIVE)
        complete = WorkBudget(None)
        expected = satisfiable(text, schema, generate.NAMESPACES, budget=complete)
        steps = complete.spent
        enough = satisfiable(text, schema, generate.NAMESPACES, budget=WorkBudget(steps))
        assert enough == expected, (schema.text, text)
        for limit in {rng.randint(0, steps), steps // 2, steps - 1}:
            budget = WorkBudget(max(limit, 0))
            result = satisfiable(text, schema, generate.NAMESPACES, budget=budget)
            assert result.answer in (None, expected.answer), (schema.text, text, limit)
            unknown += result.answer is None and expected.answer is not None
            equal += result.answer is expected.answer
    assert min(unknown, equal) > 50
