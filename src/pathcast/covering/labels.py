"""Labels: what a node of a twig asks of one node of a document, and which label allows which.

A twig has nodes for elements and attributes, and also, as leaves, for what is asked of a node besides its name: its value, its place among
its siblings, anything denied, anything counted. So a mapping between twigs needs one rule only: a node goes to a node whose
label it allows. `allows(wide, narrow)` is that rule, and it is sound: whatever passes the narrow label passes the wide one.

>>> allows(Named(Kind.ELEMENT), Named(Kind.ELEMENT, "a")), allows(Named(Kind.ELEMENT, "a"), Named(Kind.ELEMENT))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pathcast.covering.values import Literal, Numbers, follows
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Test, TestKind
from pathcast.xpath.tree import Condition, Count, First, Not, Position

__all__ = [
    "ROOT",
    "Demand",
    "Kind",
    "Label",
    "Named",
    "Place",
    "Residual",
    "Values",
    "allows",
    "both",
]


class Kind(Enum):
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
class Named:
    """A node of a kind; with a name (Clark's), or in a namespace, or any."""

    kind: Kind
    name: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class Values:
    """A string-value that passes every literal."""

    literals: frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Place:
    """A place among the siblings that pass the test and the conditions before."""

    test: Test
    before: tuple[Condition, ...]
    position: Condition


@dataclass(frozen=True, slots=True)
class Demand:
    """A condition at this node that is kept whole: a denial, a count, a first node."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Residual:
    """An expression that only libxml2 decides."""

    text: str
    namespaces: tuple[tuple[str, str], ...]


Label: TypeAlias = Named | Values | Place | Demand | Residual
ROOT = Named(Kind.ROOT)
_CHILDREN = (Kind.ELEMENT, Kind.TEXT, Kind.COMMENT, Kind.INSTRUCTION, Kind.NODE)
Denials: TypeAlias = Callable[[Condition, Condition], bool]


def allows(wide: Label, narrow: Label, stronger: Denials | None = None) -> bool:
    """Whether all that passes the narrow label passes the wide one.

    `stronger(one, other)` decides whether a condition at a node implies another, for denials.
    """
    if wide == narrow:
        return True
    match wide, narrow:
        case Named(), Named():
            return _named(wide, narrow)
        case Values(literals=asked), Values(literals=given):
            return all(follows(given, one) for one in asked)
        case Place(), Place() if (wide.test, wide.before) == (narrow.test, narrow.before):
            return _place(wide.position, narrow.position)
        case Demand(condition=asked_), Demand(condition=given_):
            return _demand(asked_, given_, stronger)
        case _:
            return False


def _named(wide: Named, narrow: Named) -> bool:
    if wide.kind is not narrow.kind:
        return wide.kind is Kind.NODE and narrow.kind in _CHILDREN
    if wide.name:
        return False  # they are not equal
    return not wide.space or wide.space in (narrow.space, _space(narrow.name))


def _space(name: str) -> str:
    return name[1:].rpartition("}")[0] if name.startswith("{") else ""


def both(one: Named, test: Test) -> Named | None:
    """The label of nodes that pass a label and a node test; None if there are none."""
    match test.kind:
        case TestKind.NODE:
            return one
        case TestKind.ANY | TestKind.ANY_IN | TestKind.NAME:
            kind = Kind.ELEMENT if one.kind is Kind.NODE else one.kind
            if kind not in (Kind.ELEMENT, Kind.ATTRIBUTE):
                return None
            if test.kind is TestKind.ANY:
                return Named(kind, one.name, one.space)
            name = test.name if test.kind is TestKind.NAME else ""
            other = Named(kind, name, "" if name else test.name)
            mine = Named(kind, one.name, one.space)
        case TestKind.INSTRUCTION:
            other = Named(Kind.INSTRUCTION, test.name)
            mine = other if one.kind is Kind.NODE else one
            if mine.kind is Kind.INSTRUCTION and not mine.name:
                mine = other
        case _:
            other = Named(Kind(test.kind.value))
            mine = other if one.kind is Kind.NODE else one
    if mine == other or allows(mine, other):
        return other
    return mine if allows(other, mine) else None


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
    """`position() = last()` allows nothing else; what is before the last is also not it."""
    return (wide.right, narrow.right) == ("last", "last") and (wide.op, narrow.op) in (
        ("!=", "<"),
        ("<", "!="),
        ("=", ">="),
        (">=", "="),
    )


def _places(position: Position) -> Numbers:
    found = Numbers.whole_numbers()
    found.narrow(">=", 1)
    found.narrow(position.op, number(position.right))
    return found


def _demand(wide: Condition, narrow: Condition, stronger: Denials | None) -> bool:
    match wide, narrow:
        case Count(path=path), Count(path=other) if path == other:
            one, two = (Numbers.whole_numbers() for _ in range(2))
            one.narrow(narrow.op, number(narrow.operand))
            two.narrow(wide.op, number(wide.operand))
            return one.within(two)
        case First(path=path, value=asked), First(path=other, value=given) if path == other:
            return follows([Literal(given)], Literal(asked))
        case Not(part=denied), Not(part=given_):
            # not(narrow) is asked, so wide follows where what it denies is stronger still
            return stronger is not None and stronger(denied, given_)
        case _:
            return False
