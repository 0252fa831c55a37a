"""Evaluation plans: the form in which the compiled NFA takes a pattern.

`plan` gives each alternative of a condition (see `paths`) the strongest of three forms:

- *exact*: a linear path, possibly with a value test at its end. An accepting state decides it.
- *twig*: a tree of branches, decided by a twig join. A value test at an inner node is a branch of
  its own, whose only label is the test.
- *general*: everything else (`or` inside predicates, `not()`, positions, counts, other axes). The
  NFA finds its required paths and their value tests, then the evaluator decides the condition.

>>> from pathcast.xpath import parse
>>> alternatives = plan(parse("//a[b]/c | //a[@x = 1] | //a[2]").condition)
>>> [type(alternative).__name__ for alternative in alternatives]
['ExactAlternative', 'GeneralAlternative', 'TwigAlternative']
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.matching.nfa import Edge, Label
from pathcast.matching.paths import TransitionLabel, requirements, tested_paths
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis
from pathcast.xpath.tree import DOWNWARD, And, Condition, Exists, Path, Value, ValueKind

__all__ = [
    "Alternative",
    "Branch",
    "ExactAlternative",
    "GeneralAlternative",
    "TransitionLabel",
    "TwigAlternative",
    "linear_path",
    "plan",
]

_MAX_TWIG_DEPTH = 100  # branch points on one path; deeper twigs go to the evaluator


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a twig: the labels from the branch point above, and the branches at their end."""

    labels: tuple[TransitionLabel, ...]
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class ExactAlternative:
    labels: tuple[TransitionLabel, ...]


@dataclass(frozen=True, slots=True)
class TwigAlternative:
    """A twig whose top branch point is the document node."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class GeneralAlternative:
    paths: tuple[tuple[TransitionLabel, ...], ...]


Alternative: TypeAlias = ExactAlternative | TwigAlternative | GeneralAlternative


def plan(condition: Condition) -> tuple[Alternative, ...]:
    """Return the alternatives of a condition at the document node."""
    alternatives: list[Alternative] = []
    for requirement in requirements(condition):
        branches = _branches(requirement.condition, top=True)
        if not branches or _too_deep(branches):
            alternatives.append(
                GeneralAlternative(tested_paths(requirement.condition, _is_indexable))
            )
        elif len(branches) == 1 and not branches[0].branches:
            alternatives.append(ExactAlternative(branches[0].labels))
        else:
            alternatives.append(TwigAlternative(branches))
    return tuple(alternatives)


def _too_deep(branches: tuple[Branch, ...]) -> bool:
    level = branches
    for _ in range(_MAX_TWIG_DEPTH):
        level = tuple(child for branch in level for child in branch.branches)
        if not level:
            return False
    return True


def linear_path(alternatives: tuple[Alternative, ...]) -> tuple[Label, ...] | None:
    """Return the path if the pattern is a linear path without a value test, else None."""
    match alternatives:
        case (ExactAlternative(labels=labels),):
            edges = tuple(label for label in labels if isinstance(label, Label))
            return edges if len(edges) == len(labels) else None
        case _:
            return None


def _branches(condition: Condition, *, top: bool = False) -> tuple[Branch, ...] | None:
    """Return a condition at a node as branches, None if it has no such form."""
    match condition:
        case And(parts=conditions):
            conjunction: list[Branch] = []
            for part in conditions:
                branches = _branches(part, top=top)
                if branches is None:
                    return None
                conjunction += branches
            return tuple(conjunction)
        case Exists(path=path) if path.absolute is top:
            branch = _branch(path)
            return None if branch is None else (branch,)
        case Value() if _is_indexable(condition) and not top:
            return (Branch((condition,)),)
        case _:
            return None


def _is_indexable(value: Value) -> bool:
    """Whether the value index supports a test. NaN has no position in its order."""
    match value.kind:
        case ValueKind.NUMBER:
            return not math.isnan(number(value.operand))
        case ValueKind.CONTAINS | ValueKind.STARTS_WITH:
            return value.operand != ""
        case kind:
            return kind is not ValueKind.LENGTH


def _branch(path: Path) -> Branch | None:
    """Return a path as a branch, with a branch point at every step that has conditions."""
    segments: list[tuple[list[TransitionLabel], list[Branch]]] = [([], [])]
    deep = False
    for index, step in enumerate(path.steps):
        last = index + 1 == len(path.steps)
        if step.axis not in DOWNWARD:
            return None
        if step.axis is Axis.DESCENDANT_OR_SELF:
            if last or not step.is_double_slash:
                return None
            deep = True
            continue
        if step.axis is Axis.ATTRIBUTE:
            edge = Edge.DEEP_ATTRIBUTE if deep else Edge.ATTRIBUTE
        else:
            deep = deep or step.axis is Axis.DESCENDANT
            edge = Edge.DESCENDANT if deep else Edge.CHILD
        deep = False
        segments[-1][0].append(Label(edge, step.test))
        for condition in step.conditions:
            predicates = _branches(condition)
            if predicates is None:
                return None
            segments[-1][1].extend(predicates)
        if step.conditions and not last:
            segments.append(([], []))
    return _fold(segments)


def _fold(segments: list[tuple[list[TransitionLabel], list[Branch]]]) -> Branch:
    """Nest the segments of a path, last to first; a single child extends its parent's labels."""
    folded: Branch | None = None
    for labels, predicates in reversed(segments):
        children = [*predicates] if folded is None else [*predicates, folded]
        if len(children) == 1:
            child = children[0]
            folded = Branch((*labels, *child.labels), child.branches)
        else:
            folded = Branch(tuple(labels), tuple(children))
    assert folded is not None
    return folded
