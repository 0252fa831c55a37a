"""Labels of twig nodes, and subsumption between them.

Elements and attributes are nodes of a twig. Every other requirement on a node is a leaf below it
with a label of its own: its value, its position among its siblings, a negation, a count. A
homomorphism therefore needs a single rule: a node maps to a node whose label its own label
subsumes. `subsumes(wide, narrow)` is that rule. It is sound, not complete: if it holds, every
document node that satisfies the narrow label satisfies the wide one.

>>> star, a = NameLabel(LabelKind.ELEMENT), NameLabel(LabelKind.ELEMENT, "a")
>>> subsumes(star, a), subsumes(a, star)
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
    "label_order",
    "subsumes",
]


class LabelKind(Enum):
    """The kind of document node that a `NameLabel` stands for."""

    __hash__ = object.__hash__  # members are singletons; faster than Enum's hash of the name

    ROOT = "/"
    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text()"
    COMMENT = "comment()"
    INSTRUCTION = "processing-instruction()"
    NODE = "node()"  # any child: an element, a text, a comment or an instruction


@dataclass(frozen=True, slots=True)
class NameLabel:
    """A node of a kind: with this name (in Clark notation), in this namespace, or any."""

    kind: LabelKind
    name: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class ValueLabel:
    """The parent's string-value satisfies every literal."""

    literals: frozenset[ValueLiteral]


@dataclass(frozen=True, slots=True)
class PositionLabel:
    """The parent's position among the siblings that pass the test and the preceding predicates."""

    test: Test
    before: tuple[Condition, ...]
    position: Condition


@dataclass(frozen=True, slots=True)
class ConditionLabel:
    """A condition at the parent that is not expanded: a negation, a count, a first node."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class ResidualLabel:
    """An expression outside tree patterns, which libxml2 evaluates."""

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
Implication: TypeAlias = Callable[[Condition, Condition], bool]


def label_order(label: Label) -> str:
    """Return a sort key of a label that is equal in every process, as the order of a set is not."""
    match label:
        case NameLabel(kind=kind, name=name, space=space):
            return f"NameLabel {kind.name} {name} {space}"
        case ValueLabel(literals=literals):
            return f"ValueLabel {sorted(map(repr, literals))}"
        case PositionLabel(test=test, before=before, position=position):
            digests = [condition.digest.hex() for condition in (*before, position)]
            return f"PositionLabel {test} {digests}"
        case ConditionLabel(condition=condition):
            return f"ConditionLabel {condition.digest.hex()}"
        case ResidualLabel():
            return repr(label)


def subsumes(wide: Label, narrow: Label, implies: Implication | None = None) -> bool:
    """Return whether every node that satisfies the narrow label satisfies the wide one.

    `implies(a, b)` decides whether condition `a` at a node implies `b`; negations need it.
    """
    if wide == narrow:
        return True
    match wide, narrow:
        case NameLabel(), NameLabel():
            return _name_subsumes(wide, narrow)
        case ValueLabel(literals=required), ValueLabel(literals=given):
            return all(entails(given, literal) for literal in required)
        case PositionLabel(), PositionLabel() if (wide.test, wide.before) == (
            narrow.test,
            narrow.before,
        ):
            return _position_subsumes(wide.position, narrow.position)
        case ConditionLabel(condition=required_), ConditionLabel(condition=given_):
            return _condition_subsumes(required_, given_, implies)
        case _:
            return False


def _name_subsumes(wide: NameLabel, narrow: NameLabel) -> bool:
    if wide.kind is not narrow.kind:
        return wide.kind is LabelKind.NODE and narrow.kind in _CHILDREN
    if wide.name:
        return False  # they are not equal
    return not wide.space or wide.space in (narrow.space, _namespace(narrow.name))


def _namespace(name: str) -> str:
    return name[1:].rpartition("}")[0] if name.startswith("{") else ""


def intersect(label: NameLabel, test: Test) -> NameLabel | None:
    """Return the label of the nodes that satisfy a label and a node test, or None."""
    match test.kind:
        case TestKind.NODE:
            return label
        case TestKind.ANY | TestKind.ANY_IN | TestKind.NAME:
            kind = LabelKind.ELEMENT if label.kind is LabelKind.NODE else label.kind
            if kind not in (LabelKind.ELEMENT, LabelKind.ATTRIBUTE):
                return None
            if test.kind is TestKind.ANY:
                return NameLabel(kind, label.name, label.space)
            name = test.name if test.kind is TestKind.NAME else ""
            tested = NameLabel(kind, name, "" if name else test.name)
            own = NameLabel(kind, label.name, label.space)
        case TestKind.INSTRUCTION:
            tested = NameLabel(LabelKind.INSTRUCTION, test.name)
            own = tested if label.kind is LabelKind.NODE else label
            if own.kind is LabelKind.INSTRUCTION and not own.name:
                own = tested
        case _:
            tested = NameLabel(LabelKind(test.kind.value))
            own = tested if label.kind is LabelKind.NODE else label
    if own == tested or subsumes(own, tested):
        return tested
    return own if subsumes(tested, own) else None


def _position_subsumes(wide: Condition, narrow: Condition) -> bool:
    match wide, narrow:
        case Position(left=left, right=right), Position() if left == narrow.left:
            if right == "last" or narrow.right == "last":
                return _last_subsumes(wide, narrow)
            return _positions(narrow).issubset(_positions(wide))
        case _:
            return False


def _last_subsumes(wide: Position, narrow: Position) -> bool:
    """Return whether a comparison with last() implies another; no position exceeds last()."""
    return (wide.right, narrow.right) == ("last", "last") and (wide.op, narrow.op) in (
        ("!=", "<"),
        ("<", "!="),
        ("=", ">="),
        (">=", "="),
    )


def _positions(position: Position) -> NumberSet:
    positions = NumberSet.naturals()
    positions.narrow(">=", 1)
    positions.narrow(position.op, number(position.right))
    return positions


def _condition_subsumes(wide: Condition, narrow: Condition, implies: Implication | None) -> bool:
    match wide, narrow:
        case Count(path=path), Count(path=other) if path == other:
            given_counts, required_counts = NumberSet.naturals(), NumberSet.naturals()
            given_counts.narrow(narrow.op, number(narrow.operand))
            required_counts.narrow(wide.op, number(wide.operand))
            return given_counts.issubset(required_counts)
        case First(path=path, value=required), First(path=other, value=given) if path == other:
            return entails([ValueLiteral(given)], ValueLiteral(required))
        case Not(part=wide_part), Not(part=narrow_part):
            # contraposition: not(narrow_part) implies not(wide_part)
            return implies is not None and implies(wide_part, narrow_part)
        case _:
            return False
