"""Overlays recover by themselves from lost, duplicated and reordered frames, crashes and cuts.

Each seed is a scenario (`random_scenarios`), to which a model adds expectations (`delivery_model`):
no accepted document is lost, no subscriber receives a document that it does not match, tables are
right once everything is repaired, and empty once all clients are gone. A failing seed is shrunk and
reported as a text for `pathcast simulate`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from pathcast.routing.trees import Trees
from pathcast.sim.scenario import Scenario, actions, expectations, read_scenario, run_scenario
from tests.sim.delivery_model import add_expectations, failures, shrink
from tests.sim.random_scenarios import random_scenario

PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_every_expectation_holds_after_repair(part: int, deep: bool) -> None:
    for seed in range(part, 2_000 if deep else 100, PARTS):
        scenario = add_expectations(random_scenario(seed))
        assert read_scenario(str(scenario)) == scenario
        if failures(scenario):
            pytest.fail(report(seed))


def report(seed: int) -> str:
    """Return the shrunk scenario of a failing seed, with its failures."""
    small = add_expectations(
        shrink(random_scenario(seed), lambda scenario: bool(failures(add_expectations(scenario))))
    )
    comments = "\n".join(f"# {failure}" for failure in failures(small))
    return f"seed {seed}; run this with pathcast simulate:\n\n{small}\n{comments}"


def test_random_scenarios_exercise_every_fault() -> None:
    counts: Counter[str] = Counter()
    for seed in range(100):
        for statement in add_expectations(random_scenario(seed)).body:
            counts[type(statement).__name__] += 1
            match statement:
                case expectations.Reaches(bound=expectations.Bound.AT_LEAST, subscribers=must):
                    counts["must"] += len(must)
                case actions.RestartBroker(tables=tables):
                    counts[f"tables {tables}"] += 1
    for kind in (
        actions.CrashBroker,
        actions.CutLink,
        actions.SetFault,
        actions.CancelSubscription,
        actions.ReplaceAdvertisement,
        actions.RetractAdvertisement,
        expectations.NotWasted,
        expectations.IsRefused,
    ):
        assert counts[kind.__name__] > 50, kind
    assert counts["tables True"] > 50
    assert counts["tables False"] > 50
    assert counts["must"] > 400


def test_a_failure_is_reported_as_a_short_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that chooses any parent after it lost its tables leaves documents behind."""
    choose_parent = Trees.choose_parent

    def choose_any_parent(self: Trees, origin: str) -> None:
        self.expected_parents.clear()
        choose_parent(self, origin)

    monkeypatch.setattr(Trees, "choose_parent", choose_any_parent)
    seed = next(seed for seed in range(1_000) if failures(add_expectations(random_scenario(seed))))
    text = report(seed).partition("\n\n")[2]
    scenario = read_scenario(text)
    assert not run_scenario(scenario).passed
    original = add_expectations(random_scenario(seed))
    assert len(_without_expectations(scenario)) < len(_without_expectations(original)) / 2
    monkeypatch.undo()
    assert run_scenario(scenario).passed


def _without_expectations(scenario: Scenario) -> list[object]:
    return [statement for statement in scenario.body if not str(statement).startswith("expect")]
