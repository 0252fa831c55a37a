"""The keys by which a query is assigned to owners, and the states that a peer stores with a key."""

from __future__ import annotations

from typing import TypeVar

from pathcast.matching.nfa import Nfa
from pathcast.matching.paths import requirements
from pathcast.matching.sharding.shard_keys import shard_key
from pathcast.matching.sharding.state_key import StateKey
from pathcast.xpath import Pattern

__all__ = ["pattern_keys", "stored_states"]

T = TypeVar("T")


def pattern_keys(pattern: Pattern, length: int = 1) -> frozenset[StateKey]:
    """Return the keys of a query, one per alternative, of at most `length` labels.

    A key that has another key of the query as a prefix is left out: the prefix activates earlier.
    """
    if length < 0:
        raise ValueError(f"a key has 0 labels or more, not {length}")
    keys = {shard_key(requirement.paths, length) for requirement in requirements(pattern.condition)}
    return frozenset(key for key in keys if not any(prefix in keys for prefix in key.prefixes()))


def stored_states(nfa: Nfa[T], key: StateKey, length: int) -> frozenset[StateKey]:
    """Return the states that the owner of a state stores (Miliaraki 2008, section 3).

    These are the state itself and all states that at most `length` transitions reach from it.
    Raise KeyError if the NFA has no such state.
    """
    state = nfa.start
    for label in key.labels:
        state = state.edges[label]
    stored = {key: state}
    frontier = stored
    for _ in range(length):
        frontier = {
            StateKey((*above.labels, label)): target
            for above, state in frontier.items()
            for label, target in state.edges.items()
        }
        stored.update(frontier)
    return frozenset(stored)
