"""Scenarios: an overlay, what happens on it and what is expected, as readable text.

text -> words -> statements (setup, actions, checks) -> Scenario -> run_scenario -> Outcome: trace, summary, failed expectations

docs/guide/overlay.md tells the language.
"""

from pathcast.sim.scenario.check import Failure
from pathcast.sim.scenario.reading import read_scenario
from pathcast.sim.scenario.runner import Changes, Outcome, run_scenario
from pathcast.sim.scenario.scenario import Scenario, Statement

__all__ = [
    "Changes",
    "Failure",
    "Outcome",
    "Scenario",
    "Statement",
    "read_scenario",
    "run_scenario",
]
