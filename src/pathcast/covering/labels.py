"""LabelTable: what a node of a twig asks of one node of a document, and which label subsumes which.

A twig has nodes for elements and attributes, and also, as leaves, for what is asked of a node besides its name: its value, its place among
its siblings, anything denied, anything counted. So a mapping between twigs needs one rule only: a node goes to a node whose
label it subsumes. `subsumes(wide, narrow)` is that rule, and it is sound: whatever passes the narrow label passes the wide one.

>>> subsumes(NameLabel(LabelKind.ELEMENT), NameLabel(LabelKind.ELEMENT, "a")), subsumes(NameLabel(LabelKind.ELEMENT, "a"), NameLabel(LabelKind.ELEMENT))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pathcast.covering.values import NumberSet, ValueLiteral, entails
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Test, TestKind
from pathcast.xpath.tree import Condition, Count, First, Not, Position

__all__ = [
    "ROOT",
    "ConditionLabel",
    "Label",
    "LabelKind",
    "NameLabel",
    "PositionLabel",
    "ResidualLabel",
    "ValueLabel",
    "intersect",
    "subsumes",
]


class LabelKind(Enum):
    """What sort of node a label with a name stands for."""

    __hash__ = object.__hash__  # members are single: by identity, and quicker than by name

    ROOT = "/"
    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text()"
    COMMENT = "comment()"
    INSTRUCTION = "processing-instruction()"
    NODE = "node()"  # any child: an element, a text, a comment or an instruction


@dataclass(frozen=True, slots=True)
class NameLabel:
    """A node of a kind; with a name (Clark's), or in a namespace, or any."""

    kind: LabelKind
    name: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class ValueLabel:
    """A string-value that passes every literal."""

    literals: frozenset[ValueLiteral]


@dataclass(frozen=True, slots=True)
class PositionLabel:
    """A place among the siblings that pass the test and the conditions before."""

    test: Test
    before: tuple[Condition, ...]
    position: Condition


@dataclass(frozen=True, slots=True)
class ConditionLabel:
    """A condition at this node that is kept whole: a denial, a count, a first node."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class ResidualLabel:
    """An expression that only libxml2 decides."""

    text: str
    namespaces: tuple[tuple[str, str], ...]


Label: TypeAlias = NameLabel | ValueLabel | PositionLabel | ConditionLabel | ResidualLabel
ROOT = NameLabel(LabelKind.ROOT)
_CHILDREN = (
    LabelKind.ELEMENT,
    LabelKind.TEXT,
    LabelKind.COMMENT,
    LabelKind.INSTRUCTION,
    LabelKind.NODE,
)
Denials: TypeAlias = Callable[[Condition, Condition], bool]


def subsumes(wide: Label, narrow: Label, implies: Denials | None = None) -> bool:
    """Whether all that passes the narrow label passes the wide one.

    `implies(one, other)` decides whether a condition at a node implies another, for denials.
    """
    if wide == narrow:
        return True
    match wide, narrow:
        case NameLabel(), NameLabel():
            return _named(wide, narrow)
        case ValueLabel(literals=asked), ValueLabel(literals=given):
            return all(entails(given, one) for one in asked)
        case PositionLabel(), PositionLabel() if (wide.test, wide.before) == (
            narrow.test,
            narrow.before,
        ):
            return _place(wide.position, narrow.position)
        case ConditionLabel(condition=asked_), ConditionLabel(condition=given_):
            return _demand(asked_, given_, implies)
        case _:
            return False


def _named(wide: NameLabel, narrow: NameLabel) -> bool:
    if wide.kind is not narrow.kind:
        return wide.kind is LabelKind.NODE and narrow.kind in _CHILDREN
    if wide.name:
        return False  # they are not equal
    return not wide.space or wide.space in (narrow.space, _space(narrow.name))


def _space(name: str) -> str:
    return name[1:].rpartition("}")[0] if name.startswith("{") else ""


def intersect(one: NameLabel, test: Test) -> NameLabel | None:
    """The label of nodes that pass a label and a node test; None if there are none."""
    match test.kind:
        case TestKind.NODE:
            return one
        case TestKind.ANY | TestKind.ANY_IN | TestKind.NAME:
            kind = LabelKind.ELEMENT if one.kind is LabelKind.NODE else one.kind
            if kind not in (LabelKind.ELEMENT, LabelKind.ATTRIBUTE):
                return None
            if test.kind is TestKind.ANY:
                return NameLabel(kind, one.name, one.space)
            name = test.name if test.kind is TestKind.NAME else ""
            other = NameLabel(kind, name, "" if name else test.name)
            mine = NameLabel(kind, one.name, one.space)
        case TestKind.INSTRUCTION:
            other = NameLabel(LabelKind.INSTRUCTION, test.name)
            mine = other if one.kind is LabelKind.NODE else one
            if mine.kind is LabelKind.INSTRUCTION and not mine.name:
                mine = other
        case _:
            other = NameLabel(LabelKind(test.kind.value))
            mine = other if one.kind is LabelKind.NODE else one
    if mine == other or subsumes(mine, other):
        return other
    return mine if subsumes(other, mine) else None


def _place(wide: Condition, narrow: Condition) -> bool:
    match wide, narrow:
        case Position(left=left, right=right), Position() if left == narrow.left:
            if right == "last" or narrow.right == "last":
                return _of_last(wide, narrow)
            one, other = (_places(condition) for condition in (narrow, wide))
            return one.within(other)
        case _:
            return False


def _of_last(wide: Position, narrow: Position) -> bool:
    """`position() = last()` subsumes nothing else; what is before the last is also not it."""
    return (wide.right, narrow.right) == ("last", "last") and (wide.op, narrow.op) in (
        ("!=", "<"),
        ("<", "!="),
        ("=", ">="),
        (">=", "="),
    )


def _places(position: Position) -> NumberSet:
    found = NumberSet.naturals()
    found.narrow(">=", 1)
    found.narrow(position.op, number(position.right))
    return found


def _demand(wide: Condition, narrow: Condition, implies: Denials | None) -> bool:
    match wide, narrow:
        case Count(path=path), Count(path=other) if path == other:
            one, two = (NumberSet.naturals() for _ in range(2))
            one.narrow(narrow.op, number(narrow.operand))
            two.narrow(wide.op, number(wide.operand))
            return one.within(two)
        case First(path=path, value=asked), First(path=other, value=given) if path == other:
            return entails([ValueLiteral(given)], ValueLiteral(asked))
        case Not(part=denied), Not(part=given_):
            # not(narrow) is asked, so wide entails where what it denies is implies still
            return implies is not None and implies(denied, given_)
        case _:
            return False
