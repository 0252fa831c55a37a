"""Overlays on which messages are lost, doubled, reordered and delayed, brokers crash, links are cut; afterwards all is right again by itself.

Each seed is a scenario (`disasters`), to which a model adds what is expected (`judging`): nothing that was accepted is lost, nobody gets what is not
theirs, tables are right when everything is mended, and empty when everything is cancelled. A seed that fails is shrunk and told as
a text that `pathcast simulate` runs.
"""

from __future__ import annotations

import pytest

from pathcast.routing.trees import Trees
from pathcast.sim.scenario import Scenario, actions, expectations, read_scenario, run_scenario
from tests.sim.disasters import disaster
from tests.sim.judging import failures, judged, shrunk

PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_everything_is_right_after_healing(part: int, deep: bool) -> None:
    for seed in range(part, 2_000 if deep else 100, PARTS):
        scenario = judged(disaster(seed))
        assert read_scenario(str(scenario)) == scenario
        if failures(scenario):
            pytest.fail(told(seed))


def told(seed: int) -> str:
    """What is wrong with a seed, as a scenario to be run again."""
    small = judged(shrunk(disaster(seed), lambda one: bool(failures(judged(one)))))
    wrong = "\n".join(f"# {one}" for one in failures(small))
    return f"seed {seed}; run this with pathcast simulate:\n\n{small}\n{wrong}"


def test_the_seeds_are_no_idle_talk() -> None:
    """That the scenarios have what the test is about, and that the model expects something of them."""
    happened: dict[str, int] = {}
    for seed in range(100):
        scenario = judged(disaster(seed))
        for one in scenario.body:
            happened[type(one).__name__] = happened.get(type(one).__name__, 0) + 1
            if isinstance(one, expectations.Reaches) and one.bound is expectations.Bound.AT_LEAST:
                happened["must"] = happened.get("must", 0) + len(one.subscribers)
            if isinstance(one, actions.RestartBroker):
                happened[f"tables {one.tables}"] = happened.get(f"tables {one.tables}", 0) + 1
    for what in (
        "Crash",
        "Cut",
        "Disturb",
        "Cancelling",
        "ChangeOf",
        "Retracting",
        "InVainNowhere",
    ):
        assert happened[what] > 50, what
    assert happened["tables True"] > 50
    assert happened["tables False"] > 50
    assert happened["must"] > 400
    assert happened["Refused"] > 50


def test_a_failure_is_told_as_a_short_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that takes the next best parent after it has lost its tables leaves documents behind."""
    settle = Trees.choose_parent

    def hasty(self: Trees, origin: str) -> None:
        self.expected_parents.clear()
        settle(self, origin)

    monkeypatch.setattr(Trees, "choose_parent", hasty)
    seed = next(seed for seed in range(1_000) if failures(judged(disaster(seed))))
    text = told(seed).partition("\n\n")[2]
    again = read_scenario(text)
    assert not run_scenario(again).passed
    assert len(_without_checks(again)) < len(_without_checks(judged(disaster(seed)))) / 2
    monkeypatch.undo()
    assert run_scenario(again).passed


def _without_checks(scenario: Scenario) -> list[object]:
    return [one for one in scenario.body if not str(one).startswith("expect")]
