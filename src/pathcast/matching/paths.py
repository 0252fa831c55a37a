"""Which linear paths a document must have before a condition is worth a closer look.

Each condition is split into alternatives (the parts of an `or` at the top), and each alternative into the
root-to-leaf paths that all must occur: the spine, and the branches of its twigs, without values and places.
Only alternatives all of whose paths were reached go on to the join. An alternative that is nothing but one path
is decided by the automaton alone (`exact`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pathcast.matching.nfa import Edge, Label
from pathcast.xpath.syntax import Axis
from pathcast.xpath.tree import And, Condition, Count, Exists, First, Or, Path

__all__ = ["Requirement", "requirements"]

_Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One way to match: all `paths` must occur, and unless it is `exact`, the condition must hold."""

    paths: tuple[_Labels, ...]
    condition: Condition
    exact: bool


def requirements(condition: Condition) -> tuple[Requirement, ...]:
    """The alternatives of a condition at the document node."""
    parts = condition.parts if isinstance(condition, Or) else (condition,)
    return tuple(_requirement(part) for part in parts)


def _requirement(condition: Condition) -> Requirement:
    found: dict[_Labels, None] = {}
    _collect(condition, (), found)
    exact = isinstance(condition, Exists) and _plain(condition.path)
    paths = tuple(found) if len(found) == 1 else _longest(found)
    return Requirement(paths, condition, exact)


def _longest(found: Iterable[_Labels]) -> tuple[_Labels, ...]:
    """Without those that are the beginning of another, which says that they are there."""
    codes: dict[Label, int] = {}  # long tuples of small numbers are quick to hash
    coded = [
        (tuple([codes.setdefault(label, len(codes)) for label in path]), path) for path in found
    ]
    implied: set[tuple[int, ...]] = set()
    for code, _ in coded:
        for end in range(len(code) - 1, 0, -1):
            if code[:end] in implied:
                break
            implied.add(code[:end])
    return tuple(path for code, path in coded if code not in implied)


def _collect(condition: Condition, base: _Labels, found: dict[_Labels, None]) -> None:
    """The paths that must occur where the condition holds at a node reached by `base`."""
    waiting = [(condition, base)]
    while waiting:
        current, start = waiting.pop()
        match current:
            case And(parts=parts):
                waiting += [(part, start) for part in parts]
            case Exists(path=path):
                _follow(path, start, found, waiting)
            case First(path=path, value=value) if not value.holds(""):
                _follow(path, start, found, waiting)
            case Count(path=path) if not current.holds(0):
                _follow(path, start, found, waiting)


def _follow(
    path: Path,
    start: _Labels,
    found: dict[_Labels, None],
    waiting: list[tuple[Condition, _Labels]],
) -> None:
    """The labels along a path, as far as edges can say it, with what its steps demand."""
    labels = () if path.absolute else start
    deep = False
    for step in path.steps:
        if step.axis is Axis.DESCENDANT_OR_SELF:
            if not step.is_double_slash or deep:
                break
            deep = True
            continue
        if step.axis is Axis.ATTRIBUTE:
            edge = Edge.DEEP_ATTRIBUTE if deep else Edge.ATTRIBUTE
        else:
            deep = deep or step.axis is Axis.DESCENDANT
            edge = Edge.DESCENDANT if deep else Edge.CHILD
        deep = False
        labels = (*labels, Label(edge, step.test))
        waiting += [(condition, labels) for condition in step.conditions]
    if labels:
        found[labels] = None


def _plain(path: Path) -> bool:
    """Whether a path is all said by the labels of its edges."""
    for index, step in enumerate(path.steps):
        if step.conditions:
            return False
        last = index + 1 == len(path.steps)
        if step.axis is Axis.DESCENDANT_OR_SELF and (last or not step.is_double_slash):
            return False
    return True
