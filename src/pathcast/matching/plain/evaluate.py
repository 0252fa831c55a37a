"""Does a condition hold in this document? The twig join, by region codes.

Everything is computed on sorted lists of node numbers. `candidates(step)` are the nodes that pass a step's
test and conditions, wherever they are; a path is then joined from its end: which nodes of the step before
have one of these below them? With node numbers in document order and `right` the last number of
a subtree, node x is above y when x < y <= right[x], so a join is a binary search for each node.

Conditions that look at places are grouped by parent. Only on the descendant axes does a place depend on where
the step started; those are tried node by node (`_placed`), within the region of each start.

Steps and paths are remembered by their digests for the length of one document, so a predicate that a
thousand subscriptions share is evaluated once. Cost, for each distinct step: nodes times depth at worst, and
times depth again for places on a descendant axis inside `count()` and `string()`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from pathcast.documents import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
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

_DEEP_CONDITION = 80  # nested deeper than this, inner steps are worked out first
_KINDS = {TestKind.TEXT: TEXT, TestKind.COMMENT: COMMENT}


class _Level(NamedTuple):
    """Nodes at one step of a path; `known`: their parents, or themselves, for quick questions."""

    nodes: list[int]
    known: set[int]


class Evaluator:
    """Conditions on one document. `work` counts the nodes looked at."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._parent = document.parent
        self._right = document.right
        self._candidates: dict[bytes, list[int]] = {}
        self._levels: dict[bytes, _Level] = {}
        self._passed: dict[tuple[bool, bool, Test], list[int]] = {}
        self._anywhere: dict[bytes, bool] = {}  # conditions that are the same at every node
        self.work = 0

    def holds(self, condition: Condition) -> bool:
        """Whether the condition holds at the document node."""
        if condition.depth > _DEEP_CONDITION:
            for step in reversed(steps_of(condition)):  # so that no evaluation recurses far
                self.candidates(step)
        return bool(self.filter(condition, [0]))

    # nodes

    def candidates(self, step: Step) -> list[int]:
        """The nodes that a step may select, from wherever it starts."""
        found = self._candidates.get(step.digest)
        if found is None:
            found = self._passing(step)
            if not _placed(step):
                for condition in step.conditions:
                    if condition.positional:
                        found = self._by_place(condition, found)
                    else:
                        found = self.filter(condition, found)
            self._candidates[step.digest] = found
        return found

    def _passing(self, step: Step) -> list[int]:
        """All nodes that pass the test of a step."""
        itself = step.axis is Axis.DESCENDANT_OR_SELF
        key = (step.axis is Axis.ATTRIBUTE, itself, step.test)
        found = self._passed.get(key)
        if found is None:
            found = self._passed[key] = self._all_passing(step)
        return found

    def _all_passing(self, step: Step) -> list[int]:
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
                every = document.instructions
                return [n for n in every if not test.name or document.label[n] == test.name]
            case TestKind.NODE:
                first = 0 if step.axis is Axis.DESCENDANT_OR_SELF else 1
                kinds = document.kind
                return [n for n in range(first, len(kinds)) if kinds[n] != ATTRIBUTE]

    def _in_namespace(self, test: Test, nodes: list[int]) -> list[int]:
        labels, start = self._document.label, f"{{{test.name}}}"
        return [n for n in nodes if labels[n].startswith(start)]

    # conditions

    def filter(self, condition: Condition, nodes: list[int]) -> list[int]:
        """Those of the nodes at which a condition holds; for places, the nodes are the whole group."""
        if not nodes:
            return nodes
        self.work += len(nodes)
        match condition:
            case Exists(path=path) | Count(path=path) | First(path=path) if path.absolute:
                return nodes if self._at_document(condition) else []
            case Exists(path=path):
                return self._lead(path, nodes)
            case Value():
                string = self._document.string_value
                return [n for n in nodes if condition.holds(string(n))]
            case And(parts=parts):
                found = nodes
                if condition.positional:
                    kept = [set(self.filter(part, nodes)) for part in parts]
                    return [n for n in nodes if all(n in one for one in kept)]
                for part in parts:
                    found = self.filter(part, found)
                return found
            case Or(parts=parts):
                any_of: set[int] = set()
                for part in parts:
                    left = nodes
                    if not part.positional:
                        left = [n for n in nodes if n not in any_of]
                    any_of.update(self.filter(part, left))
                return [n for n in nodes if n in any_of]
            case Not(part=part):
                out = set(self.filter(part, nodes))
                return [n for n in nodes if n not in out]
            case Position():
                last = len(nodes)
                return [n for place, n in enumerate(nodes, 1) if condition.holds(place, last)]
            case Is(test=test):
                return [n for n in nodes if self._is(n, test)]
            case Count(path=path):
                return [n for n in nodes if condition.holds(len(self.select(path, n)))]
            case First(path=path, value=value):
                return [n for n in nodes if value.holds(self._first_string(path, n))]
            case Always(holds=holds):
                return nodes if holds else []
        raise AssertionError(condition)

    def _at_document(self, condition: Exists | Count | First) -> bool:
        """Whether a condition holds that does not depend on the node where it is asked."""
        known = self._anywhere.get(condition.digest)
        if known is None:
            match condition:
                case Exists(path=path):
                    known = bool(self._lead(path, [0]))
                case Count(path=path):
                    known = condition.holds(len(self.select(path, 0)))
                case First(path=path, value=value):
                    known = value.holds(self._first_string(path, 0))
            self._anywhere[condition.digest] = known
        return known

    def _by_place(self, condition: Condition, nodes: list[int]) -> list[int]:
        groups: dict[int, list[int]] = {}
        for node in nodes:
            groups.setdefault(self._parent[node], []).append(node)
        found: list[int] = []
        for group in groups.values():
            found += self.filter(condition, group)
        return sorted(found)

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

    def _lead(self, path: Path, starts: list[int]) -> list[int]:
        """Those of the starts from which the path selects something."""
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
        """The nodes that a step may lead to, ready to be asked many times."""
        self.work += len(nodes)
        if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
            return _Level(nodes, {self._parent[node] for node in nodes})
        return _Level(nodes, set(nodes) if _placed(step) else set())

    def _join(self, step: Step, above: list[int], level: _Level) -> list[int]:
        """Those of the nodes above from which the step leads to one of its level."""
        self.work += len(above)
        right, below = self._right, level.nodes
        if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
            return [node for node in above if node in level.known]
        if _placed(step):
            alive = level.known
            return [node for node in above if not alive.isdisjoint(self._from(step, node))]
        itself = step.axis is Axis.DESCENDANT_OR_SELF
        cut = bisect_left if itself else bisect_right
        found = []
        for node in above:
            index = cut(below, node)
            if index < len(below) and below[index] <= right[node]:
                found.append(node)
        return found

    def _from(self, step: Step, start: int) -> list[int]:
        """What a step selects from one node, in document order."""
        if step.axis is Axis.DESCENDANT_OR_SELF and self._document.kind[start] == ATTRIBUTE:
            return self._alone(step, start)
        nodes = self._passing(step) if _placed(step) else self.candidates(step)
        cut = bisect_left if step.axis is Axis.DESCENDANT_OR_SELF else bisect_right
        found = nodes[cut(nodes, start) : bisect_right(nodes, self._right[start])]
        self.work += len(found)
        if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
            return [node for node in found if self._parent[node] == start]
        if _placed(step):
            for condition in step.conditions:
                found = self.filter(condition, found)
        return found

    def _alone(self, step: Step, attribute: int) -> list[int]:
        """What descendant-or-self selects from an attribute: itself, if anything."""
        found = [attribute] if step.test.kind is TestKind.NODE else []
        for condition in step.conditions:
            found = self.filter(condition, found)
        return found

    def select(self, path: Path, start: int) -> list[int]:
        """The nodes that a path selects from a node, in document order."""
        current = [0] if path.absolute else [start]
        for step in path.steps:
            if len(current) > 1 and step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
                parents = set(current)
                nodes = self.candidates(step)
                last = max(self._right[node] for node in current)
                inside = nodes[bisect_right(nodes, current[0]) : bisect_right(nodes, last)]
                self.work += len(inside)
                current = [node for node in inside if self._parent[node] in parents]
                continue
            found: set[int] = set()
            covered = -1
            for node in current:
                if not _placed(step):
                    if node <= covered:
                        continue  # inside a region that was taken already
                    covered = self._right[node]
                found.update(self._from(step, node))
            current = sorted(found)
        return current


def _placed(step: Step) -> bool:
    """Whether what a step selects depends on the node it starts from, and not on parents alone."""
    return step.positional and step.axis in (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)
