"""A pattern as the compiled automaton takes it: exact paths, twigs, or paths and a condition to evaluate.

Every alternative of a condition (see `paths`) gets the strongest of three forms:

- *exact*: one path, with a test of the value at its end perhaps; reaching its last state is the answer;
- *twig*: branches that hang together at common nodes, each a path; values at nodes are branches that stay there;
- *general*: everything else (choices inside predicates, not(), places, counts ...): the paths that must occur, after which
  the condition is evaluated.

>>> from pathcast.xpath import parse
>>> [type(one).__name__ for one in plan(parse("//a[b]/c | //a[@x = 1] | //a[2]").condition)]
['Exact', 'General', 'Twig']
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.matching.nfa import Edge, Label
from pathcast.matching.paths import requirements
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis
from pathcast.xpath.tree import And, Condition, Exists, Path, Value, ValueKind

__all__ = ["Alternative", "Branch", "Exact", "General", "Part", "Twig", "only_path", "plan"]

Part: TypeAlias = "Label | Value"
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Branch:
    """A way down, and what hangs at its end."""

    parts: tuple[Part, ...]
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Exact:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Twig:
    """Branches at the document node."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class General:
    paths: tuple[tuple[Label, ...], ...]


Alternative: TypeAlias = Exact | Twig | General


def plan(condition: Condition) -> tuple[Alternative, ...]:
    """The alternatives of a condition at the document node."""
    found: list[Alternative] = []
    for requirement in requirements(condition):
        branches = _branches(requirement.condition, top=True)
        if not branches or _deep(branches):
            found.append(General(requirement.paths))
        elif len(branches) == 1 and not branches[0].branches:
            found.append(Exact(branches[0].parts))
        else:
            found.append(Twig(branches))
    return tuple(found)


def _deep(branches: tuple[Branch, ...]) -> bool:
    """Whether forks hang on forks more often than anybody should have to follow."""
    level = branches
    for _ in range(_DEEPEST):
        level = tuple(further for branch in level for further in branch.branches)
        if not level:
            return False
    return True


def only_path(alternatives: tuple[Alternative, ...]) -> tuple[Label, ...] | None:
    """The path, if that is all there is: one alternative, exact, without a value."""
    match alternatives:
        case (Exact(parts=parts),):
            labels = tuple(part for part in parts if isinstance(part, Label))
            return labels if len(labels) == len(parts) else None
        case _:
            return None


def _branches(condition: Condition, *, top: bool = False) -> tuple[Branch, ...] | None:
    """A condition at a node as branches; None if it has no such form."""
    match condition:
        case And(parts=conditions):
            found: list[Branch] = []
            for part in conditions:
                branches = _branches(part, top=top)
                if branches is None:
                    return None
                found += branches
            return tuple(found)
        case Exists(path=path) if path.absolute is top:
            branch = _branch(path)
            return None if branch is None else (branch,)
        case Value() if _indexed(condition) and not top:
            return (Branch((condition,)),)
        case _:
            return None


def _indexed(value: Value) -> bool:
    """Whether the index of values knows such tests; a constant that is not a number has no place in its order."""
    if value.kind is ValueKind.NUMBER:
        return not math.isnan(number(value.operand))
    return value.kind is ValueKind.STRING


def _branch(path: Path) -> Branch | None:
    """A path as a branch: its steps up to the first that has conditions, and there it forks."""
    ways: list[tuple[list[Part], list[Branch]]] = [([], [])]
    deep = False
    for index, step in enumerate(path.steps):
        last = index + 1 == len(path.steps)
        if step.axis is Axis.DESCENDANT_OR_SELF:
            if last or not step.only_deeper:
                return None
            deep = True
            continue
        if step.axis is Axis.ATTRIBUTE:
            edge = Edge.DEEP_ATTRIBUTE if deep else Edge.ATTRIBUTE
        else:
            deep = deep or step.axis is Axis.DESCENDANT
            edge = Edge.DESCENDANT if deep else Edge.CHILD
        deep = False
        ways[-1][0].append(Label(edge, step.test))
        for condition in step.conditions:
            hanging = _branches(condition)
            if hanging is None:
                return None
            ways[-1][1].extend(hanging)
        if step.conditions and not last:
            ways.append(([], []))
    return _folded(ways)


def _folded(ways: list[tuple[list[Part], list[Branch]]]) -> Branch:
    """The pieces of a path put together from its end; a fork of one prong is none."""
    found: Branch | None = None
    for parts, hanging in reversed(ways):
        prongs = [*hanging] if found is None else [*hanging, found]
        if len(prongs) == 1:
            only = prongs[0]
            found = Branch((*parts, *only.parts), only.branches)
        else:
            found = Branch(tuple(parts), tuple(prongs))
    assert found is not None
    return found
