"""Matching: one door, `Matcher`.

`automaton` is a module of its own because others spread it over brokers and workers.
"""

from pathcast.matching.explain import Explanation, explain
from pathcast.matching.matcher import Matcher
from pathcast.matching.matches import Matches, Stats
from pathcast.matching.residual import Expression, Runner

__all__ = ["Explanation", "Expression", "Matcher", "Matches", "Runner", "Stats", "explain"]
