"""What a residual can cost at worst, told from its text alone.

XPath cannot be bounded from outside: `//*[//*=//*]` takes seconds on a few thousand elements. So every
subscription has a class before it ever meets a document:

- INDEXED: a tree pattern, decided by the shared index;
- LINEAR: libxml2 visits each node a bounded number of times, or at most once for each of its ancestors;
- EXPENSIVE: everything else, in particular what looks at the whole document (or at all siblings) from each of
  many nodes, compares two sets of many nodes, or merges unions of them. Refused unless asked for.

The rule bounds the *reach* of an expression: how far from one node its evaluation looks. Summed over all
nodes of a document, NEAR (the node, its children, attributes, parent) is linear, BELOW (its subtree or its
ancestors) is linear times depth, and WIDE is quadratic or worse. A step into many nodes' subtrees is
written as a nested predicate first (`nest`), because libxml2 removes duplicates from merged
sets by comparing all pairs.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum

from pathcast.pattern.functions import Type
from pathcast.pattern.lower import ANYWHERE
from pathcast.pattern.syntax import (
    Axis,
    Call,
    Chain,
    Expression,
    Filter,
    LocationPath,
    Negation,
    Number,
    Rank,
    Step,
    TestKind,
    Union,
    children,
    type_of,
)

__all__ = ["Cost", "cost_of", "nest"]


class Cost(IntEnum):
    """The class of a subscription, cheapest first."""

    INDEXED = 0
    LINEAR = 1
    EXPENSIVE = 2


class _Reach(IntEnum):
    NEAR = 0
    BELOW = 1
    WIDE = 2


_HERE = frozenset({Axis.SELF, Axis.ATTRIBUTE, Axis.NAMESPACE})
_DEEP = frozenset({Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF})
_UP = frozenset({Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF})
_BESIDE = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_ELEMENTS = frozenset({TestKind.NAME, TestKind.ANY, TestKind.ANY_IN})
_NEAR_PLACES = 16  # [n] up to here makes libxml2 stop early on a sibling axis


def cost_of(expression: Expression) -> Cost:
    """The class of an expression that is not a tree pattern."""
    return Cost.EXPENSIVE if _reach(expression, once=True) is _Reach.WIDE else Cost.LINEAR


def _reach(expression: Expression, *, once: bool) -> _Reach:
    """How far one evaluation looks; `once`: it is evaluated at the document node only."""
    match expression:
        case LocationPath(absolute=absolute, steps=steps):
            if absolute and not once:
                return _Reach.WIDE
            return _walk(steps, once=once, root=absolute)
        case Filter(primary=primary, predicates=predicates, steps=steps):
            inner = [_reach(predicate, once=False) for predicate in predicates]
            start = _reach(primary, once=once)
            after = _Reach.NEAR
            if steps:
                after = _walk((replace(ANYWHERE), *steps), once=once)
            return max(start, after, *inner)
        case Union(parts=parts):
            if sum(not _single(part) for part in parts) > 1:
                return _Reach.WIDE
            return max(_reach(part, once=once) for part in parts)
        case Chain(rank=Rank.EQUALITY | Rank.RELATION):
            sets = [side for side in expression.operands if type_of(side) is Type.NODES]
            if sum(not _single(side) for side in sets) > 1:
                return _Reach.WIDE
    reaches = [_reach(child, once=once) for child in children(expression)]
    if isinstance(expression, Call) and expression.name == "lang":
        reaches.append(_Reach.BELOW)
    if _reads_ancestors(expression):
        reaches.append(_Reach.WIDE)
    return max(reaches, default=_Reach.NEAR)


def _reads_ancestors(expression: Expression) -> bool:
    """Whether the text of a parent or ancestor is read: all of it, again for each node below."""
    match expression:
        case Call(name="count" | "not" | "boolean" | "name" | "local-name" | "namespace-uri"):
            return False
        case (
            Call()
            | Chain(rank=Rank.EQUALITY | Rank.RELATION | Rank.SUM | Rank.PRODUCT)
            | Negation()
        ):
            return any(_ends_above(child) for child in children(expression))
        case _:
            return False


def _ends_above(expression: Expression) -> bool:
    if not isinstance(expression, LocationPath) or not expression.steps:
        return False
    steps = [step for step in expression.steps if step.axis is not Axis.SELF]
    return bool(steps) and (steps[-1].axis in _UP or steps[-1].axis is Axis.PARENT)


def _walk(steps: tuple[Step, ...], *, once: bool, root: bool = False) -> _Reach:
    """The reach of a path from one node. `many`: there may be several nodes; `above`: outside it."""
    reach = _Reach.NEAR
    many = above = False
    for index, step in enumerate(steps):
        if step.axis in _HERE:
            many = many or not _one(step)
        elif step.axis is Axis.CHILD:
            if above and not once:
                return _Reach.WIDE
            many = not (root and index == 0 and step.test.kind in _ELEMENTS)  # there is one root
        elif step.axis is Axis.PARENT:
            if many and reach is not _Reach.NEAR:
                return _Reach.WIDE
            above, many = True, False
        elif step.axis in _DEEP or step.axis in _UP:
            if many or (above and not once):
                return _Reach.WIDE
            reach = max(reach, _Reach.NEAR if once else _Reach.BELOW)
            above = above or step.axis in _UP
            many = True
        elif step.axis in _BESIDE and _soon(step):
            pass  # one more node, found near by
        elif once and not many:
            many = above = True  # following, preceding, siblings: one walk over the document
        else:
            return _Reach.WIDE
        for predicate in step.predicates:
            inner = _reach(predicate, once=False)
            if inner is _Reach.BELOW and reach is _Reach.BELOW:
                return _Reach.WIDE
            reach = max(reach, inner)
    return reach


def _soon(step: Step) -> bool:
    first = step.predicates[0] if step.predicates else None
    return (
        step.test.kind in (TestKind.ANY, TestKind.NODE)
        and isinstance(first, Number)
        and "." not in first.spelling
        and len(first.spelling) <= 2
        and int(first.spelling) <= _NEAR_PLACES
    )


def _one(step: Step) -> bool:
    return step.axis is Axis.SELF or (
        step.axis is Axis.ATTRIBUTE and step.test.kind is TestKind.NAME
    )


def _single(expression: Expression) -> bool:
    """Whether a node-set has at most one node, by its form."""
    return (
        isinstance(expression, LocationPath)
        and not expression.absolute
        and all(_one(step) or step.axis is Axis.PARENT for step in expression.steps)
    )


# the form in which libxml2 gets it


def nest(expression: Expression) -> Expression:
    """The same truth, with steps into the subtrees of many nodes as predicates of those nodes."""
    match expression:
        case LocationPath(steps=steps):
            return replace(expression, steps=_nested_steps(steps))
        case Chain(rank=Rank.OR | Rank.AND, first=first, rest=rest):
            tail = tuple((op, nest(operand)) for op, operand in rest)
            return replace(expression, first=nest(first), rest=tail)
        case Call(name="not" | "boolean", arguments=(argument,)):
            return replace(expression, arguments=(nest(argument),))
        case _:
            return expression


def _nested_steps(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: list[Step] = []
    for index, step in enumerate(steps):
        if found and _many(found) and (step.axis in _DEEP or step.axis in _UP):
            rest = LocationPath(False, _nested_steps(steps[index:]), step.at)
            last = found[-1]
            found[-1] = replace(last, predicates=(*last.predicates, rest))
            return tuple(found)
        predicates = tuple(nest(predicate) for predicate in step.predicates)
        found.append(replace(step, predicates=predicates))
    return tuple(found)


def _many(steps: list[Step]) -> bool:
    """Whether a path so far may have reached many nodes; `//` alone waits for the step after it."""
    last = steps[-1]
    return not (last.axis is Axis.DESCENDANT_OR_SELF and last == replace(ANYWHERE))
