"""Evaluation of conditions on a document: the twig join, by region codes.

All sets are sorted lists of node numbers. `candidates(step)` are the nodes that pass a step's test
and conditions, wherever they are. A path is joined from its end: the nodes of the step before are
filtered to those that have one of these below them. Node numbers are in document order, and `right`
is the last number of a subtree, so x is an ancestor of y when x < y <= right[x]. A join is a binary
search per node.

Positional conditions are grouped by parent. Only on the descendant axes does a position depend on
the context node; those are evaluated per context node (`_depends_on_start`), within its region.

Steps along the axes outside the subtree are evaluated by `sideways`.

Steps and paths are memoised by their digests for one document, so a predicate that a thousand
subscriptions share is evaluated once. Cost per distinct step: O(nodes * depth), and again times
depth for positions on a descendant axis inside `count()` and `string()`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

from pathcast.documents import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.matching.plain.sideways import SidewaysStep
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
    SIDEWAYS,
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Not,
    Or,
    Path,
    Position,
    Step,
    Value,
    steps_of,
)

__all__ = ["Evaluator"]

_MAX_RECURSION = 80  # for conditions nested deeper, inner steps are evaluated first
_KINDS = {TestKind.TEXT: TEXT, TestKind.COMMENT: COMMENT}
_WITH_DOCUMENT_NODE = frozenset(
    {Axis.DESCENDANT_OR_SELF, Axis.PARENT, Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF}
)


class _Level(NamedTuple):
    """The nodes that a step may select.

    `members` is a set for membership tests: their parents for child and attribute steps, the nodes
    themselves for parent steps and positional steps on a descendant axis, else empty. `sums` are
    their prefix sums in the order of a sideways step.
    """

    nodes: list[int]
    members: set[int]
    sums: list[int]


class Evaluator:
    """Evaluates conditions on one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._parent = document.parent
        self._right = document.right
        self._candidates: dict[bytes, list[int]] = {}
        self._levels: dict[bytes, _Level] = {}
        self._passing: dict[tuple[bool, bool, Test], list[int]] = {}
        self._absolute: dict[bytes, bool] = {}  # conditions with an absolute path, by digest
        self._sideways: dict[bytes, SidewaysStep] = {}
        self._sums: dict[bytes, list[int]] = {}  # of counted paths after a sideways step
        self._visited = 0

    @property
    def work(self) -> int:
        """The number of nodes and intervals visited."""
        return self._visited + sum(step.work for step in self._sideways.values())

    def holds(self, condition: Condition) -> bool:
        """Whether the condition holds at the document node."""
        if condition.depth > _MAX_RECURSION:
            for step in reversed(steps_of(condition)):  # bounds the recursion
                self.candidates(step)
        return bool(self.filter(condition, [0]))

    # nodes

    def candidates(self, step: Step) -> list[int]:
        """Return the nodes that a step may select from any context node."""
        nodes = self._candidates.get(step.digest)
        if nodes is None:
            nodes = self._pass_test(step)
            if step.axis in SIDEWAYS:
                nodes = sorted(self._sideways_step(step).nodes)
            elif not _depends_on_start(step):
                for condition in step.conditions:
                    if condition.positional:
                        nodes = self._filter_siblings(condition, nodes)
                    else:
                        nodes = self.filter(condition, nodes)
            self._candidates[step.digest] = nodes
        return nodes

    def _sideways_step(self, step: Step) -> SidewaysStep:
        sideways = self._sideways.get(step.digest)
        if sideways is None:
            sideways = SidewaysStep(self._document, step, self._pass_test(step), self.filter)
            self._sideways[step.digest] = sideways
        return sideways

    def _pass_test(self, step: Step) -> list[int]:
        """Return all nodes that pass the test of a step, memoised."""
        key = (step.axis is Axis.ATTRIBUTE, step.axis in _WITH_DOCUMENT_NODE, step.test)
        nodes = self._passing.get(key)
        if nodes is None:
            nodes = self._passing[key] = self._scan(step)
        return nodes

    def _scan(self, step: Step) -> list[int]:
        document, test = self._document, step.test
        if step.axis is Axis.ATTRIBUTE:
            if test.kind is TestKind.NAME:
                return document.attributes.get(test.name, [])
            if test.kind is TestKind.ANY_IN:
                return self._in_namespace(test, document.all_attributes)
            return document.all_attributes
        match test.kind:
            case TestKind.NAME:
                return document.elements.get(test.name, [])
            case TestKind.ANY:
                return document.all_elements
            case TestKind.ANY_IN:
                return self._in_namespace(test, document.all_elements)
            case TestKind.TEXT:
                return document.texts
            case TestKind.COMMENT:
                return document.comments
            case TestKind.INSTRUCTION:
                instructions = document.instructions
                return [n for n in instructions if not test.name or document.label[n] == test.name]
            case TestKind.NODE:
                first = 0 if step.axis in _WITH_DOCUMENT_NODE else 1
                kinds = document.kind
                return [n for n in range(first, len(kinds)) if kinds[n] != ATTRIBUTE]

    def _in_namespace(self, test: Test, nodes: list[int]) -> list[int]:
        labels, prefix = self._document.label, f"{{{test.name}}}"
        return [n for n in nodes if labels[n].startswith(prefix)]

    # conditions

    def filter(self, condition: Condition, nodes: list[int]) -> list[int]:
        """Return the nodes at which a condition holds; for positions, `nodes` is the context."""
        if not nodes:
            return nodes
        self._visited += len(nodes)
        match condition:
            case Exists(path=path) | Count(path=path) | First(path=path) if path.absolute:
                return nodes if self._holds_anywhere(condition) else []
            case Exists(path=path):
                return self._starts_of(path, nodes)
            case Value():
                string = self._document.string_value
                return [n for n in nodes if condition.holds(string(n))]
            case And(parts=parts):
                if condition.positional:
                    passed = [set(self.filter(part, nodes)) for part in parts]
                    return [n for n in nodes if all(n in part_nodes for part_nodes in passed)]
                for part in parts:
                    nodes = self.filter(part, nodes)
                return nodes
            case Or(parts=parts):
                union: set[int] = set()
                for part in parts:
                    undecided = nodes
                    if not part.positional:
                        undecided = [n for n in nodes if n not in union]
                    union.update(self.filter(part, undecided))
                return [n for n in nodes if n in union]
            case Not(part=part):
                excluded = set(self.filter(part, nodes))
                return [n for n in nodes if n not in excluded]
            case Position():
                last = len(nodes)
                return [n for i, n in enumerate(nodes, 1) if condition.holds(i, last)]
            case Is(test=test):
                return [n for n in nodes if self._is(n, test)]
            case Count(path=path):
                return [n for n in nodes if condition.holds(self._count(path, n))]
            case First(path=path, value=value):
                return [n for n in nodes if value.holds(self._first_string(path, n))]
            case Always(holds=holds):
                return nodes if holds else []
        raise AssertionError(condition)

    def _count(self, path: Path, node: int) -> int:
        """Return how many nodes a path selects; a sideways step need not list them.

        The steps after it select disjoint sets from its nodes, so their sizes are added.
        """
        first, rest = path.steps[0], path.steps[1:]
        if first.axis not in SIDEWAYS:
            return len(self.select(path, node))
        sideways = self._sideways_step(first)
        if not rest:
            return sideways.count(node)
        sums = self._sums.get(path.digest)
        if sums is None:
            tail = Path(False, rest)
            sizes = (len(self.select(tail, selected)) for selected in sideways.nodes)
            sums = self._sums[path.digest] = list(accumulate(sizes, initial=0))
        return sideways.count(node, sums)

    def _holds_anywhere(self, condition: Exists | Count | First) -> bool:
        """Whether a condition with an absolute path holds; it does so at every node or none."""
        holds = self._absolute.get(condition.digest)
        if holds is None:
            match condition:
                case Exists(path=path):
                    holds = bool(self._starts_of(path, [0]))
                case Count(path=path):
                    holds = condition.holds(len(self.select(path, 0)))
                case First(path=path, value=value):
                    holds = value.holds(self._first_string(path, 0))
            self._absolute[condition.digest] = holds
        return holds

    def _filter_siblings(self, condition: Condition, nodes: list[int]) -> list[int]:
        """Filter by a positional condition, with the nodes of one parent as the context."""
        groups: dict[int, list[int]] = {}
        for node in nodes:
            groups.setdefault(self._parent[node], []).append(node)
        passed: list[int] = []
        for group in groups.values():
            passed += self.filter(condition, group)
        return sorted(passed)

    def _is(self, node: int, test: Test) -> bool:
        kind, label = self._document.kind[node], self._document.label[node]
        match test.kind:
            case TestKind.NODE:
                return True
            case TestKind.NAME:
                return kind == ELEMENT and label == test.name
            case TestKind.ANY:
                return kind == ELEMENT
            case TestKind.ANY_IN:
                return kind == ELEMENT and label.startswith(f"{{{test.name}}}")
            case TestKind.INSTRUCTION:
                return kind == PI and (not test.name or label == test.name)
            case _:
                return kind == _KINDS[test.kind]

    def _first_string(self, path: Path, node: int) -> str:
        selected = self.select(path, node)
        return self._document.string_value(selected[0]) if selected else ""

    # paths

    def _starts_of(self, path: Path, starts: list[int]) -> list[int]:
        """Return the nodes of `starts` from which the path selects a node."""
        steps = path.steps
        first = steps[0]
        if first.axis is Axis.DESCENDANT_OR_SELF and self._document.kind[starts[0]] == ATTRIBUTE:
            return [node for node in starts if self.select(path, node)]
        level = self._levels.get(path.digest)
        if level is None:
            level = self._level(steps[-1], self.candidates(steps[-1]))
            for index in reversed(range(1, len(steps))):
                above = self.candidates(steps[index - 1]) if level.nodes else []
                level = self._level(steps[index - 1], self._join(steps[index], above, level))
            self._levels[path.digest] = level
        return self._join(first, starts, level)

    def _level(self, step: Step, nodes: list[int]) -> _Level:
        """Return the nodes that a step may select, indexed for repeated joins."""
        self._visited += len(nodes)
        if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
            return _Level(nodes, {self._parent[node] for node in nodes}, [])
        if step.axis in SIDEWAYS:
            return _Level(nodes, set(), self._sideways_step(step).prefix_sums(set(nodes)))
        per_start = step.axis is Axis.PARENT or _depends_on_start(step)
        return _Level(nodes, set(nodes) if per_start else set(), [])

    def _join(self, step: Step, above: list[int], level: _Level) -> list[int]:
        """Return the nodes of `above` from which the step selects a node of `level`."""
        self._visited += len(above)
        right, below = self._right, level.nodes
        if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
            return [node for node in above if node in level.members]
        if step.axis is Axis.PARENT:
            return [node for node in above if self._parent[node] in level.members]
        if step.axis in SIDEWAYS:
            sideways = self._sideways_step(step)
            return [node for node in above if sideways.reaches(node, level.sums)]
        if _depends_on_start(step):
            targets = level.members
            return [node for node in above if not targets.isdisjoint(self._from(step, node))]
        or_self = step.axis is Axis.DESCENDANT_OR_SELF
        bisect = bisect_left if or_self else bisect_right
        joined = []
        for node in above:
            index = bisect(below, node)
            if index < len(below) and below[index] <= right[node]:
                joined.append(node)
        return joined

    def _from(self, step: Step, start: int) -> list[int]:
        """Return the nodes that a step selects from a node, in document order."""
        if step.axis is Axis.DESCENDANT_OR_SELF and self._document.kind[start] == ATTRIBUTE:
            return self._from_attribute(step, start)
        nodes = self._pass_test(step) if _depends_on_start(step) else self.candidates(step)
        bisect = bisect_left if step.axis is Axis.DESCENDANT_OR_SELF else bisect_right
        inside = nodes[bisect(nodes, start) : bisect_right(nodes, self._right[start])]
        self._visited += len(inside)
        if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
            return [node for node in inside if self._parent[node] == start]
        if _depends_on_start(step):
            for condition in step.conditions:
                inside = self.filter(condition, inside)
        return inside

    def _from_attribute(self, step: Step, attribute: int) -> list[int]:
        """Return the selection of descendant-or-self from an attribute: itself or nothing."""
        nodes = [attribute] if step.test.kind is TestKind.NODE else []
        for condition in step.conditions:
            nodes = self.filter(condition, nodes)
        return nodes

    def select(self, path: Path, start: int) -> list[int]:
        """Return the nodes that a path selects from a node, in document order."""
        current = [0] if path.absolute else [start]
        for step in path.steps:
            if step.axis in SIDEWAYS:
                current = self._sideways_step(step).select(current)
                continue
            if step.axis is Axis.PARENT:
                parents = {self._parent[node] for node in current}
                current = [node for node in self.candidates(step) if node in parents]
                continue
            if len(current) > 1 and step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
                parents = set(current)
                nodes = self.candidates(step)
                last = max(self._right[node] for node in current)
                inside = nodes[bisect_right(nodes, current[0]) : bisect_right(nodes, last)]
                self._visited += len(inside)
                current = [node for node in inside if self._parent[node] in parents]
                continue
            selected: set[int] = set()
            covered = -1
            for node in current:
                if not _depends_on_start(step):
                    if node <= covered:
                        continue  # inside a region that was selected already
                    covered = self._right[node]
                selected.update(self._from(step, node))
            current = sorted(selected)
        return current


def _depends_on_start(step: Step) -> bool:
    """Whether the candidates of a step depend on its context node: positions on descendant axes."""
    return step.positional and step.axis in (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)
