"""The shard key of an alternative: the required path that the fewest documents should contain.

Without statistics, rarity is estimated from the path alone. The path with the most names wins; then
the one with the fewest descendant edges; then the longest; then the one with the most labels that
element names decide; then the first by its text. An alternative without a required path, such as
`not(//a)`, has the key START.
"""

from __future__ import annotations

from collections.abc import Iterable

from pathcast.matching.nfa import Edge, Label
from pathcast.matching.sharding.state_key import START, StateKey, element_prefix
from pathcast.xpath.syntax import TestKind

__all__ = ["rarity", "shard_key"]


def shard_key(paths: Iterable[tuple[Label, ...]], length: int | None = None) -> StateKey:
    """Return the rarest key among the required paths of an alternative, cut to `length` labels."""
    candidates = {StateKey(path[:length]) for path in paths}
    return min(candidates, key=rarity) if candidates else START


def rarity(key: StateKey) -> tuple[int, int, int, int, str]:
    """Return a sort key: the lower, the fewer documents should contain the path."""
    named = sum(
        bool(label.test.name) and label.test.kind is not TestKind.ANY_IN for label in key.labels
    )
    deep = sum(label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE) for label in key.labels)
    return (-named, deep, -len(key), -len(element_prefix(key)), str(key))
