"""Required paths: the linear paths that a document must contain for a condition to hold.

`requirements` splits a condition into alternatives, the operands of its outermost `or`. An `or` in
a predicate moves outward, if that gives few alternatives: `//a[b or c]` is `//a[b] | //a[c]`. Each
alternative requires a set of root-to-leaf paths: its spine and the branches of its twigs, without
values and positions. Along other axes than the downward ones, they are those of the tree pattern
that the alternative implies. The NFA finds them, and only an alternative whose paths all occur goes
on to the join. If an alternative is a single linear path, the NFA alone decides it (`exact`).

`tested_paths` keeps the value tests at the ends of the paths: fewer documents contain these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TypeAlias, TypeVar, cast

from pathcast.matching.nfa import Edge, Label
from pathcast.xpath.downward import to_tree_pattern
from pathcast.xpath.syntax import Axis, TestKind
from pathcast.xpath.tree import (
    DOWNWARD,
    And,
    Condition,
    Count,
    Exists,
    First,
    Or,
    Path,
    Step,
    Value,
    is_downward,
)

__all__ = [
    "MAX_ALTERNATIVES",
    "Requirement",
    "TransitionLabel",
    "maximal_paths",
    "products",
    "requirements",
    "tested_paths",
]

MAX_ALTERNATIVES = 64
"""How many conditions replace one with `or` in its predicates."""

TransitionLabel: TypeAlias = "Label | Value"
"""A transition of the compiled NFA: an edge with a node test, or a test of the node's value."""

_Label = TypeVar("_Label")
_Part = TypeVar("_Part")
_LabelPath = tuple[Label, ...]
_TestedPaths = dict[tuple[TransitionLabel, ...], None]
# A condition, the labels of the path to its node, and whether the node may lie below their end.
_PlacedCondition = tuple[Condition, _LabelPath, bool]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One alternative: all `paths` must occur and, unless `exact`, the condition must hold."""

    paths: tuple[_LabelPath, ...]
    condition: Condition
    exact: bool


def requirements(condition: Condition) -> tuple[Requirement, ...]:
    """Return the alternatives of a condition at the document node."""
    parts = condition.parts if isinstance(condition, Or) else (condition,)
    return tuple(_requirement(choice) for part in parts for choice in _distribute(part))


def _distribute(condition: Condition) -> Sequence[Condition]:
    """Return conditions of which one holds wherever the given one holds, and vice versa.

    Each `or` in predicates without positions is distributed, if that gives few conditions.
    """
    match condition:
        case Or(parts=parts):
            choices = [choice for part in parts for choice in _distribute(part)]
        case And(parts=parts):
            operands = products([_distribute(part) for part in parts])
            return [And(chosen) for chosen in operands] or (condition,)
        case Exists(path=path):
            steps = products([_distribute_step(step) for step in path.steps])
            return [Exists(replace(path, steps=chosen)) for chosen in steps] or (condition,)
        case _:
            return (condition,)
    return choices if len(choices) <= MAX_ALTERNATIVES else (condition,)


def _distribute_step(step: Step) -> Sequence[Step]:
    if not step.conditions or step.positional:
        return (step,)
    choices = products([_distribute(condition) for condition in step.conditions])
    return [replace(step, conditions=chosen) for chosen in choices] or (step,)


def products(choices: Sequence[Sequence[_Part]]) -> Sequence[tuple[_Part, ...]]:
    """Return the combinations of one choice from each sequence; none if it is one or too many."""
    if not 1 < prod(map(len, choices)) <= MAX_ALTERNATIVES:
        return ()
    return tuple(product(*choices))


def _requirement(condition: Condition) -> Requirement:
    exact = isinstance(condition, Exists) and _is_linear(condition.path)
    paths = tested_paths(condition, lambda _: False)
    return Requirement(cast(tuple[_LabelPath, ...], paths), condition, exact)


def tested_paths(
    condition: Condition, accepts: Callable[[Value], bool]
) -> tuple[tuple[TransitionLabel, ...], ...]:
    """Return the paths that must occur if a condition holds at the document node.

    A path ends with a value test that the node at its end passes, if `accepts` the test.
    """
    collected: _TestedPaths = {}
    _collect(
        condition if is_downward(condition) else to_tree_pattern(condition), collected, accepts
    )
    return tuple(collected) if len(collected) == 1 else maximal_paths(collected)


def maximal_paths(paths: Iterable[tuple[_Label, ...]]) -> tuple[tuple[_Label, ...], ...]:
    """Return the paths that are not a prefix of another, which implies them."""
    # tuples of small ints hash faster than tuples of labels
    codes: dict[_Label, int] = {}
    coded = [
        (tuple([codes.setdefault(label, len(codes)) for label in path]), path) for path in paths
    ]
    implied: set[tuple[int, ...]] = set()
    for code, _ in coded:
        for end in range(len(code) - 1, 0, -1):
            if code[:end] in implied:
                break
            implied.add(code[:end])
    return tuple(path for code, path in coded if code not in implied)


def _collect(condition: Condition, paths: _TestedPaths, accepts: Callable[[Value], bool]) -> None:
    """Add to `paths` those that must occur if the condition holds at the document node."""
    stack: list[_PlacedCondition] = [(condition, (), False)]
    while stack:
        current, start, deep = stack.pop()
        match current:
            case And(parts=parts):
                stack += [(part, start, deep) for part in parts]
            case Exists(path=path):
                _follow(path, start, deep, paths, stack)
            case First(path=path, value=value) if not value.holds(""):
                end = _follow(path, start, deep, paths, stack)
                if end is not None:
                    stack.append((value, end, False))
            case Count(path=path) if not current.holds(0):
                _follow(path, start, deep, paths, stack)
            case Value() if start and not deep and accepts(current):
                paths[*start, current] = None


def _follow(
    path: Path,
    start: _LabelPath,
    deep: bool,
    paths: _TestedPaths,
    stack: list[_PlacedCondition],
) -> _LabelPath | None:
    """Add the labels of a path, as far as edges express it; push its steps' conditions.

    Return the labels, None if they do not express the whole path.
    """
    labels, deep = ((), False) if path.absolute else (start, deep)
    complete = False
    for step in path.steps:
        if step.axis is Axis.DESCENDANT_OR_SELF:
            if step.test.kind is not TestKind.NODE:
                break
            deep = True
            stack += [(condition, labels, deep) for condition in step.conditions]
            continue
        if step.axis is Axis.ATTRIBUTE:
            edge = Edge.DEEP_ATTRIBUTE if deep else Edge.ATTRIBUTE
        else:
            deep = deep or step.axis is Axis.DESCENDANT
            edge = Edge.DESCENDANT if deep else Edge.CHILD
        deep = False
        labels = (*labels, Label(edge, step.test))
        stack += [(condition, labels, deep) for condition in step.conditions]
    else:
        complete = not deep
    if labels:
        paths[labels] = None
    return labels if complete else None


def _is_linear(path: Path) -> bool:
    """Whether the labels of its edges express a path completely."""
    for index, step in enumerate(path.steps):
        if step.conditions or step.axis not in DOWNWARD:
            return False
        last = index + 1 == len(path.steps)
        if step.axis is Axis.DESCENDANT_OR_SELF and (last or not step.is_double_slash):
            return False
    return True
