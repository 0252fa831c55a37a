"""Estimate of libxml2's work for a pattern on a small document, in steps of a work budget.

Searches for example documents let libxml2 evaluate patterns on documents of their own, where no
deadline interrupts it. Two costs are more than linear:

- After each `//` but the first of a path, libxml2 merges node-sets by comparing pairs of nodes.
- Nested predicates with descendant steps, `//*[a][.//*[b][.//c]]`, visit every chain of elements,
  each above the next: a document with n nodes and h levels has at most n * binomial(h - 1, k - 1)
  chains of k elements. The innermost level is a plain scan.

A linear residual counts as one level, an expensive one as nodes to the power of its brackets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from pathcast.xpath.compile import Pattern
from pathcast.xpath.cost import Cost
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import And, Condition, Count, Exists, First, Not, Or, Path

__all__ = ["DocumentSize", "EvaluationCost"]

_COMPARISONS_PER_STEP = 3_000
_NODES_TIMES_CHARACTERS_PER_STEP = 2_500  # a document is scanned for each part of an expression


@dataclass(frozen=True, slots=True)
class DocumentSize:
    """The nodes and levels of a document, and how often each name occurs."""

    nodes: int
    height: int
    names: Counter[str]

    @classmethod
    def of(cls, root: etree._Element) -> DocumentSize:
        nodes = height = level = 0
        names: Counter[str] = Counter()
        for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
            if event == "end":
                level -= 1
                continue
            nodes += 1
            if event == "start":
                names[str(node.tag)] += 1
                level += 1
                height = max(height, level)
        return cls(nodes, height, names)

    def count(self, test: Test) -> int:
        """Return a bound on the nodes that pass a test."""
        return self.names[test.name] if test.kind is TestKind.NAME else self.nodes


class EvaluationCost:
    """The cost of a pattern as a function of a document's size."""

    __slots__ = ("_brackets", "_cost", "_levels", "_merges", "_slashes", "_text_size")

    def __init__(self, pattern: Pattern) -> None:
        text = pattern.check or pattern.text
        # libxml2 is not linear along the axes that the engines evaluate in linear time.
        self._cost = pattern.cost if pattern.exact else max(pattern.cost, Cost.LINEAR)
        self._text_size = len(text)
        self._brackets = text.count("[")
        self._slashes = text.count("//")
        self._levels = _descendant_levels(pattern.condition)
        self._merges = Counter(
            merge for path in _paths(pattern.condition) for merge in _merges(path)
        )

    def steps(self, size: DocumentSize) -> int:
        """Return the steps to evaluate the pattern on a document of a size."""
        if self._cost is Cost.EXPENSIVE:
            return int(size.nodes ** (2 + self._brackets))
        chains = size.nodes * math.comb(max(size.height - 1, 0), max(self._levels - 2, 0))
        if self._cost is Cost.LINEAR:
            comparisons = self._slashes * size.nodes**2 * size.height
        else:
            comparisons = sum(
                number * size.count(before) * (size.nodes + size.count(after) ** 2)
                for (before, after), number in self._merges.items()
            )
        scans = size.nodes * self._text_size // _NODES_TIMES_CHARACTERS_PER_STEP
        return chains + scans + comparisons // _COMPARISONS_PER_STEP


def _paths(condition: Condition) -> Iterator[Path]:
    """Yield the paths of a condition, those inside predicates included."""
    waiting = [condition]
    while waiting:
        match waiting.pop():
            case And(parts=parts) | Or(parts=parts):
                waiting += parts
            case Not(part=part):
                waiting.append(part)
            case Exists(path=path) | Count(path=path) | First(path=path):
                yield path
                waiting += [inner for step in path.steps for inner in step.conditions]
            case _:
                pass


def _merges(path: Path) -> Iterator[tuple[Test, Test]]:
    """Yield the tests before and after each descendant step from a set of nodes."""
    before: Test | None = None
    deep = False
    for step in path.steps:
        deep |= step.axis in (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)
        if step.is_double_slash:
            continue
        if deep and before is not None:
            yield before, step.test
        before, deep = step.test, False


def _descendant_levels(condition: Condition) -> int:
    """Return how many paths with a descendant step are nested in each other."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return max((_descendant_levels(part) for part in parts), default=0)
        case Not(part=part):
            return _descendant_levels(part)
        case Exists(path=path) | Count(path=path) | First(path=path):
            own = any(step.axis is not Axis.CHILD for step in path.steps)
            inner = (_descendant_levels(each) for step in path.steps for each in step.conditions)
            return own + max(inner, default=0)
        case _:
            return 0
