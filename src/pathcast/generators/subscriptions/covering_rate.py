"""How much of a set of linear subscriptions is covered by the rest: the covering rate of Li et al. 2008, section 5.

A subscription covers another if every document that matches the other matches it too. A routing table need not hold what is
covered; the *covering rate* is the share of the set that it can leave out. Of equivalent ones, one stays.

Linear patterns cover each other by a homomorphism: the steps of p are mapped to steps of q in order, a name to the same name and a `*` to
anything, a / to a /, a // to any way down; p may be shorter than q, since a match of q's beginning is enough. That holds
for wildcards too if they are written right: in a run of `*` with a // in it or behind it, only the least length
counts, so `/a/*//b`, `/a//*/b` and `/a//*//b` are all read as `/a//*//b`, and `/a/*` at the end as `/a//*` (something
stands below a). Then `/a/*` is seen to cover `/a//b`. That a homomorphism means covering is plain; that none is missing then is
tested against all the documents that could tell two patterns apart, not proved.

All patterns are put in one tree of shared prefixes, which is an automaton that reads patterns: going down the tree, a set of
its own nodes is kept that map to the beginning just read. Where one of them is the end of a pattern, everything
from there on is covered, and nothing below an end is looked at: its beginning covers it. So each node is visited once at
most, and 100,000 subscriptions take some seconds (up to 20, if they are long, with many // and few covered).

>>> covering_rate(["/a/b", "/a/b/c", "/a//c", "/x/*", "/x//y"])
0.4
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["covering_rate", "linear_steps", "uncovered"]

_STEP = re.compile(r"(//?|^)(\*|[^\W\d][\w.:-]*)")
_LINEAR = re.compile(r"(?:(?://?|^)(?:\*|[^\W\d][\w.:-]*))+")

_NOTHING: set[int] = set()
Steps = tuple[tuple[bool, str], ...]  # of each step: is the axis //, and the name


def covering_rate(texts: Iterable[str]) -> float:
    """The share of the linear subscriptions among these that another one covers; 0 if there are none."""
    tree = _PrefixTree(texts)
    return 1.0 - tree.uncovered() / tree.count if tree.count else 0.0


def uncovered(texts: Iterable[str]) -> int:
    """How many of the linear ones must stay, so that the others are covered."""
    return _PrefixTree(texts).uncovered()


def linear_steps(text: str) -> Steps | None:
    """The steps of a linear subscription with its wildcards in the one way; None if it is not linear."""
    if not _LINEAR.fullmatch(text):
        return None
    # A relative path starts anywhere.
    steps = [(axis != "/", name) for axis, name in _STEP.findall(text)]
    start = 0
    while start < len(steps):
        end = start
        while end < len(steps) and steps[end][1] == "*":
            end += 1
        if end > start and (
            end == len(steps) or any(descendant for descendant, _ in steps[start : end + 1])
        ):
            for at in range(start, min(end + 1, len(steps))):
                steps[at] = (True, steps[at][1])
        start = end + 1
    return tuple(steps)


class _PrefixTree:
    """The prefixes of all patterns. Nodes are numbers, 0 is the top."""

    __slots__ = (
        "accepting",
        "child_edges",
        "count",
        "descendant_edges",
        "nodes_with_child",
        "nodes_with_descendant",
    )

    def __init__(self, texts: Iterable[str]) -> None:
        self.count = 0
        self.child_edges: list[dict[str, int]] = [{}]
        self.descendant_edges: list[dict[str, int]] = [{}]
        self.accepting: set[int] = set()
        self.nodes_with_child: dict[str, set[int]] = {}  # name -> nodes with such a / step
        self.nodes_with_descendant: dict[str, set[int]] = {}
        for text in texts:
            steps = linear_steps(text)
            if steps is not None:
                self.count += 1
                self._add(steps)

    def _add(self, steps: Steps) -> None:
        node = 0
        for descendant, name in steps:
            edges = (self.descendant_edges if descendant else self.child_edges)[node]
            child = edges.get(name)
            if child is None:
                nodes = self.nodes_with_descendant if descendant else self.nodes_with_child
                nodes.setdefault(name, set()).add(node)
                child = edges[name] = len(self.child_edges)
                self.child_edges.append({})
                self.descendant_edges.append({})
            node = child
        self.accepting.add(node)

    def uncovered(self) -> int:
        """Go down the tree, with the nodes that stand for what was read."""
        nearest, farthest = self._distances()
        count = 0
        # A node, those that map to just where it is, and those above from which a // may start.
        waiting = [(0, {0}, _NOTHING)]
        while waiting:
            node, states, open_states = waiting.pop()
            ends = states & self.accepting
            if ends:
                count += ends == {node}
                continue
            # What needs more steps than are left below here can cover nothing.
            levels_below = farthest[node]
            states = {state for state in states if nearest[state] <= levels_below}
            open_states = {
                state
                for state in open_states | states
                if nearest[state] <= levels_below and self.descendant_edges[state]
            }
            for name, child in self.child_edges[node].items():
                waiting.append((child, self._advance(states, open_states, name), open_states))
            for name, child in self.descendant_edges[node].items():
                waiting.append((child, self._advance(_NOTHING, open_states, name), open_states))
        return count

    def _distances(self) -> tuple[list[int], list[int]]:
        """How many steps below each node the nearest pattern ends, and the farthest."""
        nearest = [0] * len(self.child_edges)
        farthest = [0] * len(self.child_edges)
        for node in range(len(self.child_edges) - 1, -1, -1):  # kids have higher numbers
            children = (*self.child_edges[node].values(), *self.descendant_edges[node].values())
            if children:
                farthest[node] = 1 + max(farthest[child] for child in children)
                if node not in self.accepting:
                    nearest[node] = 1 + min(nearest[child] for child in children)
        return nearest, farthest

    def _advance(self, states: set[int], open_states: set[int], name: str) -> set[int]:
        """Where a step of this name leads, a / from `here` and a // from `above`."""
        reached = set()
        for test in ("*",) if name == "*" else (name, "*"):
            reached.update(
                [
                    self.child_edges[state][test]
                    for state in states & self.nodes_with_child.get(test, _NOTHING)
                ]
            )
            reached.update(
                [
                    self.descendant_edges[state][test]
                    for state in open_states & self.nodes_with_descendant.get(test, _NOTHING)
                ]
            )
        return reached
