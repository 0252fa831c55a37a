"""Steps along the axes outside the subtree: siblings, following, preceding, ancestors.

From one node such a step may select most of the document, so its nodes are never listed per start.
Instead, the nodes that it may select at all are put in an order in which the nodes selected from
any start are a few *intervals*:

- siblings: sorted by parent, then in document order; one interval of the parent's group;
- following: in document order; the nodes behind the subtree of the start;
- preceding: in document order; the nodes before the start, without its ancestors;
- ancestors: in document order; an interval of one node for each.

A condition on positions selects ranks within the intervals, which gives intervals again. Between
two numbers that the condition compares position() with, its truth does not change; so it is tested
once for each such piece. A condition without positions is tested once at each node of the document;
prefix sums then map intervals of all nodes to intervals of those that passed. Whether a start
reaches one of given nodes, and how many nodes it selects, are differences of prefix sums, too.

Cost per start: the number of intervals (at most the depth of the document, plus the numbers in the
conditions), whatever the number of siblings. This is the axis evaluation of Gottlob, Koch, Pichler
2005, extended by positions.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise

from pathcast.documents import ATTRIBUTE, ELEMENT, Document
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis
from pathcast.xpath.tree import REVERSE, SIBLINGS, And, Condition, Not, Or, Position, Step

__all__ = ["SidewaysStep"]

_Interval = tuple[int, int]  # the first index, and the index behind the last
_Filter = Callable[[Condition, list[int]], list[int]]


class SidewaysStep:
    """The nodes of one step on one document, ordered; `nodes` are those that it may select.

    `work` counts the intervals that were visited.
    """

    def __init__(self, document: Document, step: Step, passing: list[int], filter: _Filter) -> None:
        """Order the nodes that pass the step's test; `filter` returns those at which one holds."""
        self._document = document
        self._axis = step.axis
        self._stages: list[Condition | list[int]] = []  # a test of positions, or prefix sums
        self.work = 0
        conditions = list(step.conditions)
        while conditions and not conditions[0].positional:
            passing = filter(conditions.pop(0), passing)
        parents = document.parent
        if self._axis in SIBLINGS:
            passing = sorted(passing, key=lambda node: (parents[node], node))
        self._ordered = self.nodes = passing
        self._groups: dict[int, _Interval] = {}  # by parent
        if self._axis in SIBLINGS:
            for index, node in enumerate(passing):
                first, _ = self._groups.get(parents[node], (index, index))
                self._groups[parents[node]] = (first, index + 1)
        for condition in conditions:
            if condition.positional:
                self._stages.append(condition)
            else:
                passed = set(filter(condition, sorted(self.nodes)))
                self._stages.append(self.prefix_sums(passed))
                self.nodes = [node for node in self.nodes if node in passed]

    def prefix_sums(self, members: set[int]) -> list[int]:
        """Return, for each index of `nodes` and for its end, how many members lie before it."""
        return list(accumulate((node in members for node in self.nodes), initial=0))

    def reaches(self, start: int, sums: Sequence[int]) -> bool:
        """Whether the step selects a member of the prefix sums."""
        return any(sums[first] < sums[end] for first, end in self._intervals(start))

    def count(self, start: int, sums: Sequence[int] | None = None) -> int:
        """Return how many nodes the step selects from a node, or the sum of what they count."""
        intervals = self._intervals(start)
        if sums is None:
            return sum(end - first for first, end in intervals)
        return sum(sums[end] - sums[first] for first, end in intervals)

    def select(self, starts: Iterable[int]) -> list[int]:
        """Return the nodes that the step selects from any of the nodes, in document order."""
        changes = [0] * (len(self.nodes) + 1)
        for start in starts:
            for first, end in self._intervals(start):
                changes[first] += 1
                changes[end] -= 1
        overlaps = accumulate(changes)
        return sorted(node for node, count in zip(self.nodes, overlaps, strict=False) if count)

    def _intervals(self, start: int) -> list[_Interval]:
        """Return the nodes that the step selects from a node, as ascending intervals."""
        intervals = [interval for interval in self._all(start) if interval[0] < interval[1]]
        self.work += 1 + len(intervals)
        for stage in self._stages:
            if isinstance(stage, Condition):
                intervals = self._at_positions(stage, intervals)
            else:
                intervals = [(stage[first], stage[end]) for first, end in intervals]
            self.work += len(intervals)
        return intervals

    def _all(self, start: int) -> list[_Interval]:
        """Return the nodes on the axis; intervals may be empty."""
        nodes, parents = self._ordered, self._document.parent
        is_attribute = self._document.kind[start] == ATTRIBUTE
        if self._axis in SIBLINGS:
            if is_attribute or parents[start] not in self._groups:
                return []
            first, end = self._groups[parents[start]]
            if self._axis is Axis.PRECEDING_SIBLING:
                return [(first, bisect_left(nodes, start, first, end))]
            return [(bisect_right(nodes, start, first, end), end)]
        if self._axis is Axis.FOLLOWING:
            if is_attribute:  # libxml2 continues behind its element
                start = parents[start]
            return [(bisect_right(nodes, self._document.right[start]), len(nodes))]
        ancestors = [] if self._axis is not Axis.ANCESTOR_OR_SELF else [start]
        above = parents[start]
        while above >= 0:
            ancestors.append(above)
            above = parents[above]
        at = [(bisect_left(nodes, node), bisect_right(nodes, node)) for node in reversed(ancestors)]
        self.work += len(at)
        if self._axis is not Axis.PRECEDING:
            return at
        if parents[start] == 0 and _hides_root(self._document):
            at.append((bisect_left(nodes, 1), bisect_right(nodes, 1)))
        between = [0, *(index for interval in at for index in interval), bisect_left(nodes, start)]
        return list(zip(between[::2], between[1::2], strict=True))

    def _at_positions(self, test: Condition, intervals: list[_Interval]) -> list[_Interval]:
        """Return the intervals of the nodes whose positions pass a test."""
        last = sum(end - first for first, end in intervals)
        bounds = {1, last + 1}
        for bound in _bounds(test, last):
            bounds.update(min(max(1, cut), last + 1) for cut in (bound, bound + 1))
        cuts = sorted(bounds)
        self.work += len(cuts)
        passed: list[_Interval] = []
        for low, high in pairwise(cuts):
            if _holds(test, low, last):
                if self._axis in REVERSE:
                    passed.append((last + 1 - high, last + 1 - low))
                else:
                    passed.append((low - 1, high - 1))
        return _at_ranks(intervals, sorted(passed))


def _bounds(test: Condition, last: int) -> list[int]:
    """Return the numbers with which a test compares position(), rounded down."""
    match test:
        case And(parts=parts) | Or(parts=parts):
            return [bound for part in parts for bound in _bounds(part, last)]
        case Not(part=part):
            return _bounds(part, last)
        case Position(left="position", right=right):
            return [last if right == "last" else math.floor(number(right))]
        case _:
            return []


def _holds(test: Condition, position: int, last: int) -> bool:
    """Whether a test of positions is true of a position."""
    match test:
        case And(parts=parts):
            return all(_holds(part, position, last) for part in parts)
        case Or(parts=parts):
            return any(_holds(part, position, last) for part in parts)
        case Not(part=part):
            return not _holds(part, position, last)
        case Position():
            return test.holds(position, last)
    raise AssertionError(test)


def _at_ranks(intervals: list[_Interval], ranks: list[_Interval]) -> list[_Interval]:
    """Return the parts of ascending intervals at ascending ranges of ranks, from 0."""
    selected: list[_Interval] = []
    before = place = 0  # how many nodes the intervals up to `place` hold
    for low, high in ranks:
        while place < len(intervals):
            first, end = intervals[place]
            part = (max(first, first + low - before), min(end, first + high - before))
            if part[0] < part[1]:
                selected.append(part)
            if before + end - first > high:
                break
            before += end - first
            place += 1
    return selected


def _hides_root(document: Document) -> bool:
    """Whether libxml2 leaves out the root element before comments at the end of the document.

    It does if the root element is the document's first node and has children.
    """
    last = document.right[1]
    is_attribute = document.kind[last] == ATTRIBUTE and document.parent[last] == 1
    return document.kind[1] == ELEMENT and last > 1 and not is_attribute
