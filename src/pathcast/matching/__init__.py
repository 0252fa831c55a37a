"""Matching: which subscriptions does a document match? `Matcher` is the entry point.

- `matcher`: `Matcher`, the public interface.
- `engine`: the interface of an engine, and the choice between the two.
- `plain`: the engine in plain Python, the oracle of the other.
- `compiled`: the engine on the compiled core.
- `nfa`: the shared NFA of linear paths and its lazy DFA.
- `paths`: the linear paths that a condition requires.
- `plan`: the form in which the compiled NFA takes a pattern.
- `encode`: the integer codes of labels and plans.
- `residual`: the part of an expression that libxml2 evaluates.
- `id_table`: subscription ids and their dense numbers.
- `matches`: the results of matching.
- `snapshot`: saving and loading of all subscriptions.
- `sharding`: a snapshot divided into shards, and routes to them.
- `explain`, `explain_pattern`, `explain_residual`, `locations`: why a document matches, or not.
- `name_census`, `name_hints`: names that documents do not have, and what they may stand for.
- `draw`: the NFA as text or DOT.
"""

from pathcast.matching.explain import Explanation, explain
from pathcast.matching.matcher import CanonicalText, Matcher
from pathcast.matching.matches import Matches, Stats
from pathcast.matching.name_census import NameCensus
from pathcast.matching.residual import Expression, Runner

__all__ = [
    "CanonicalText",
    "Explanation",
    "Expression",
    "Matcher",
    "Matches",
    "NameCensus",
    "Runner",
    "Stats",
    "explain",
]
