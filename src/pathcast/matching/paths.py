"""Required paths: the linear paths that a document must contain for a condition to hold.

`requirements` splits a condition into alternatives, the operands of its outermost `or`. Each
alternative requires a set of root-to-leaf paths: its spine and the branches of its twigs, without
values and positions. Along other axes than the downward ones, they are those of the tree pattern
that the alternative implies. The NFA finds them, and only an alternative whose paths all occur goes
on to the join. If an alternative is a single linear path, the NFA alone decides it (`exact`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pathcast.matching.nfa import Edge, Label
from pathcast.xpath.downward import to_tree_pattern
from pathcast.xpath.syntax import Axis, TestKind
from pathcast.xpath.tree import DOWNWARD, And, Condition, Count, Exists, First, Or, Path

__all__ = ["Requirement", "requirements"]

_LabelPath = tuple[Label, ...]
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
    return tuple(_requirement(part) for part in parts)


def _requirement(condition: Condition) -> Requirement:
    collected: dict[_LabelPath, None] = {}
    exact = isinstance(condition, Exists) and _is_linear(condition.path)
    _collect(condition if exact else to_tree_pattern(condition), collected)
    paths = tuple(collected) if len(collected) == 1 else _maximal(collected)
    return Requirement(paths, condition, exact)


def _maximal(paths: Iterable[_LabelPath]) -> tuple[_LabelPath, ...]:
    """Return the paths that are not a prefix of another, which implies them."""
    codes: dict[Label, int] = {}  # tuples of small ints hash faster than tuples of labels
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


def _collect(condition: Condition, paths: dict[_LabelPath, None]) -> None:
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
                _follow(path, start, deep, paths, stack)
            case Count(path=path) if not current.holds(0):
                _follow(path, start, deep, paths, stack)


def _follow(
    path: Path,
    start: _LabelPath,
    deep: bool,
    paths: dict[_LabelPath, None],
    stack: list[_PlacedCondition],
) -> None:
    """Add the labels of a path, as far as edges express it; push its steps' conditions."""
    labels, deep = ((), False) if path.absolute else (start, deep)
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
    if labels:
        paths[labels] = None


def _is_linear(path: Path) -> bool:
    """Whether the labels of its edges express a path completely."""
    for index, step in enumerate(path.steps):
        if step.conditions or step.axis not in DOWNWARD:
            return False
        last = index + 1 == len(path.steps)
        if step.axis is Axis.DESCENDANT_OR_SELF and (last or not step.is_double_slash):
            return False
    return True
