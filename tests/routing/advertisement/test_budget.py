"""Advertisements within a work budget: overlap counts as yes, inclusion as no, lists as errors."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from pathcast.budget import DEFAULT_STEPS, WorkBudget
from pathcast.errors import AdvertisementError
from pathcast.generators.bundled import bundled_schema
from pathcast.routing.advertisement import (
    Advertisement,
    count_paths,
    covers,
    decide_overlap,
    expressions,
    leaf_paths,
    overlaps,
    parse_advertisement,
    tally,
)
from pathcast.schema import parse_dtd
from pathcast.xpath import parse
from tests import generate
from tests.dtds import large_recursive_dtd, random_dtd

NEWS = Advertisement.of(bundled_schema("news"))
# Two states have the name b: an overlap tests each path of a twig on its own.
AMBIGUOUS = parse_advertisement("/a(/b/c|/b/d|(/b)+/c)")


@pytest.mark.parametrize("text", ["/news/p", "//body//p", "//zebra", "//p[em]/a"])
def test_without_a_budget_all_overlaps(text: str) -> None:
    pattern = parse(text)
    assert decide_overlap(NEWS, pattern, budget=WorkBudget(0)) is None
    assert overlaps(NEWS, pattern, budget=WorkBudget(0))
    assert not covers(NEWS, AMBIGUOUS, budget=WorkBudget(0))


def test_overlap_of_long_twigs_is_bounded() -> None:
    """Each branch is evaluated with all steps before it: the work is quadratic."""
    spent = []
    for length in (50, 100):
        budget = WorkBudget()
        assert overlaps(AMBIGUOUS, parse("//b[.//c]" * length), budget=budget)
        spent.append(budget.spent)
    assert spent[1] > 3 * spent[0]
    budget = WorkBudget(spent[1] - 1)
    assert decide_overlap(AMBIGUOUS, parse("//b[.//c]" * 100), budget=budget) is None


def test_a_memoised_overlap_spends_the_same_steps(deep: bool) -> None:
    rng = Random(5)
    answers = set()
    for _ in range(300 if deep else 60):
        schema = parse_dtd(random_dtd(rng).text, root="a")
        pattern = parse(generate.expression(rng, generate.NATIVE), generate.NAMESPACES)
        for advertisement in (Advertisement.of(schema), AMBIGUOUS):
            budgets = [WorkBudget(None) for _ in range(3)]
            first, *others = [
                decide_overlap(advertisement, pattern, budget=budget) for budget in budgets
            ]
            assert others == [first, first]
            steps = budgets[0].spent
            assert [budget.spent for budget in budgets] == [steps] * 3
            enough = decide_overlap(advertisement, pattern, budget=WorkBudget(steps))
            fewer = decide_overlap(advertisement, pattern, budget=WorkBudget(steps // 2))
            assert enough is first
            assert fewer in (None, first)
            answers |= {first, fewer}
    assert answers == {True, False, None}


def test_entangled_advertisements_are_refused_within_the_budget() -> None:
    advertisement = Advertisement.of(parse_dtd(large_recursive_dtd(), root="text"))
    for convert in (tally, expressions):
        with pytest.raises(AdvertisementError, match="too entangled") as caught:
            list(convert(advertisement))
        assert caught.value.kind == "budget"


def test_a_long_cycle_is_refused() -> None:
    """Its expressions would be nested deeper than the stack of this process."""
    names = [f"n{number}" for number in range(400)]
    lines = [f"<!ELEMENT {name} ({names[at - 1]})?>" for at, name in enumerate(names)]
    advertisement = Advertisement.of(parse_dtd("".join(lines), root="n0"))
    with pytest.raises(AdvertisementError, match="too entangled"):
        tally(advertisement)


def test_a_list_is_complete_or_an_error() -> None:
    """A shorter list would be a narrower advertisement."""
    auction = Advertisement.of(bundled_schema("auction"))
    complete = WorkBudget(None)
    expected = [str(expression) for expression in expressions(auction, budget=complete)]
    steps = complete.spent
    enough = expressions(auction, budget=WorkBudget(steps))
    assert [str(expression) for expression in enough] == expected
    for limit in (0, steps // 2, steps - 1):
        with pytest.raises(AdvertisementError, match="too entangled"):
            list(expressions(auction, budget=WorkBudget(limit)))
    counts = count_paths(NEWS, 6)
    for limit in (0, 100):
        with pytest.raises(AdvertisementError) as caught:
            count_paths(NEWS, 6, budget=WorkBudget(limit))
        assert caught.value.kind == "budget"
        with pytest.raises(AdvertisementError):
            list(leaf_paths(NEWS, 6, budget=WorkBudget(limit)))
    assert len(list(leaf_paths(NEWS, 6, budget=WorkBudget(None)))) == sum(counts)


def test_paths_with_few_ends_are_bounded() -> None:
    """Only every twentieth element of a path decides whether it ends where the length requires."""
    window = parse_advertisement("/a(/a|/b)+" + "/a" * 20)
    with pytest.raises(AdvertisementError, match="cannot be listed"):
        list(islice(leaf_paths(window, 1000), 1000))


def test_bundled_schemas_are_within_the_default_budget() -> None:
    for name in ("news", "auction", "book", "bib"):
        advertisement = Advertisement.of(bundled_schema(name))
        budget = WorkBudget()
        assert tally(advertisement, budget=budget).total() > 0
        assert budget.spent < DEFAULT_STEPS
