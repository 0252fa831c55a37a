"""Covering rate of a set of linear paths (Li 2008, section 5): the share that others cover.

A routing table need not hold a covered subscription, so the covering rate is the share that it can
leave out. Of equivalent subscriptions, one stays.

One linear path covers another if there is a homomorphism between them after the wildcard rule of
`pathcast.covering.homomorphism`. `linear_steps` applies that rule to texts. It relaxes both paths,
which keeps each equivalent; a test compares the results with canonical models.

All paths share one prefix tree, which is read as an NFA whose input is the tree itself. A
depth-first traversal keeps the set of states that the prefix just read can reach. If one of them is
accepting, all paths below are covered and the traversal skips them. So each node is visited at most
once: 100,000 subscriptions take some seconds, or up to 20 if they are long, with many // and a low
rate.

>>> covering_rate(["/a/b", "/a/b/c", "/a//c", "/x/*", "/x//y"])
0.4
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["covering_rate", "linear_steps", "uncovered_count"]

_STEP = re.compile(r"(//?|^)(\*|[^\W\d][\w.:-]*)")
_LINEAR = re.compile(r"(?:(?://?|^)(?:\*|[^\W\d][\w.:-]*))+")

_NOTHING: set[int] = set()
Steps = tuple[tuple[bool, str], ...]  # (is the axis //, name) of each step


def covering_rate(texts: Iterable[str]) -> float:
    """Return the share of the linear paths among the texts that another one covers; 0 if none."""
    tree = _PrefixTree(texts)
    return 1.0 - tree.uncovered_count() / tree.count if tree.count else 0.0


def uncovered_count(texts: Iterable[str]) -> int:
    """Return the number of linear paths that must stay to cover the others."""
    return _PrefixTree(texts).uncovered_count()


def linear_steps(text: str) -> Steps | None:
    """Return the steps of a linear path with relaxed wildcards; None if it is not linear."""
    if not _LINEAR.fullmatch(text):
        return None
    # A relative path starts at any depth.
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
    """The shared prefixes of all paths. Nodes are numbers; 0 is the root."""

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
        self.nodes_with_child: dict[str, set[int]] = {}  # name -> nodes with such a child edge
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

    def uncovered_count(self) -> int:
        """Traverse the tree with the set of NFA states; count the paths that no other covers."""
        nearest, farthest = self._distances()
        count = 0
        # Node, states of its prefix, and earlier states with descendant edges.
        waiting = [(0, {0}, _NOTHING)]
        while waiting:
            node, states, open_states = waiting.pop()
            ends = states & self.accepting
            if ends:
                count += ends == {node}
                continue
            # Drop states farther from acceptance than the levels below this node.
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
        """Return the least and greatest number of steps from each node to an accepting one."""
        nearest = [0] * len(self.child_edges)
        farthest = [0] * len(self.child_edges)
        for node in range(len(self.child_edges) - 1, -1, -1):  # children have higher numbers
            children = (*self.child_edges[node].values(), *self.descendant_edges[node].values())
            if children:
                farthest[node] = 1 + max(farthest[child] for child in children)
                if node not in self.accepting:
                    nearest[node] = 1 + min(nearest[child] for child in children)
        return nearest, farthest

    def _advance(self, states: set[int], open_states: set[int], name: str) -> set[int]:
        """Return the states after a name: by / from `states`, by // from `open_states`."""
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
