"""Scenarios: an overlay, what happens on it and what is expected, as text.

header        settings of the overlay, at the head of a scenario
actions       what happens
expectations  what must hold
scenario      `Scenario`: the statements as a value
units         times, probabilities and names as text
tokens        the words of a line
parser        text -> Scenario; expectation_parser is its part for expectations
resources     schemas, samples and files that a scenario names
runner        Scenario -> Outcome: trace, summary, failed expectations
check         an expectation against a simulation

docs/reference/scenario-language.md describes the language.
"""

from pathcast.sim.scenario.check import Failure
from pathcast.sim.scenario.parser import read_scenario
from pathcast.sim.scenario.runner import Outcome, Overrides, run_scenario
from pathcast.sim.scenario.scenario import Scenario, Statement

__all__ = [
    "Failure",
    "Outcome",
    "Overrides",
    "Scenario",
    "Statement",
    "read_scenario",
    "run_scenario",
]
