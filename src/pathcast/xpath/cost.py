"""What a residual can cost at worst, told from its text alone.

XPath cannot be bounded from outside: `//*[//*=//*]` takes seconds on a few thousand elements. So every
subscription has a class before it ever meets a document:

- INDEXED: a tree pattern, decided by the shared index;
- LINEAR: libxml2's work grows with the number of nodes (times powers of the document's depth, which is
  bounded);
- EXPENSIVE: everything that is not known to be linear, in particular what looks at the whole document, at all
  siblings or at the text of a parent from each of many nodes, compares or merges two sets of many nodes, or
  searches for text that comes from the document. Refused unless asked for.

The rule bounds the *reach* of an expression: how far from one node its evaluation looks. Summed over the nodes
of a document, POINT (the node, its name and attributes), NEAR (its children) and BELOW (its subtree, or its
ancestors) are linear, WIDE is not. Reach is measured on the form that libxml2 gets: `nest` has
turned steps from many nodes into predicates of those nodes, and unions into `or`, because libxml2
removes duplicates from merged sets by comparing all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from pathcast.xpath.functions import XPathType
from pathcast.xpath.syntax import (
    Axis,
    Call,
    Expr,
    FilterExpression,
    Literal,
    LocationPath,
    Negation,
    Number,
    OperatorChain,
    Precedence,
    SyntaxStep,
    TestKind,
    Union,
    type_of,
)

__all__ = ["Cost", "cost_of"]


class Cost(IntEnum):
    """The class of a subscription, cheapest first."""

    INDEXED = 0
    LINEAR = 1
    EXPENSIVE = 2


class _Reach(IntEnum):
    POINT = 0
    NEAR = 1
    BELOW = 2
    WIDE = 3


_DEEP = frozenset({Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF})
_UP = frozenset({Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF})
_BESIDE = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_ELEMENTS = frozenset({TestKind.NAME, TestKind.ANY, TestKind.ANY_IN})
_OWN_VALUE = frozenset({"string", "number", "string-length", "normalize-space"})
_SEARCHING = frozenset({"contains", "substring-before", "substring-after", "translate"})
_NEAR_PLACES = 16  # [n] up to here makes libxml2 stop early on a sibling axis
_FEW = 16  # ids looked up at once, texts put together


def cost_of(expression: Expr) -> Cost:
    """The class of an expression that is not a tree pattern."""
    return Cost.EXPENSIVE if _truth(expression, once=True) is _Reach.WIDE else Cost.LINEAR


def _truth(expression: Expr, *, once: bool, element: bool = False) -> _Reach:
    """The reach of asking whether an expression is true.

    `once`: it is asked at the document node only. `element`: at elements only.
    """
    match expression:
        case LocationPath():
            return _walk(expression, once=once, element=element)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND):
            return max(_truth(side, once=once, element=element) for side in expression.operands)
        case Call(name="not" | "boolean", arguments=(argument,)):
            return _truth(argument, once=once, element=element)
        case _:
            return _value(expression, once=once, element=element)


def _value(expression: Expr, *, once: bool, element: bool) -> _Reach:
    """The reach of computing the value of an expression."""
    match expression:
        case Number() | Literal():
            return _Reach.POINT
        case LocationPath():
            return _walk(expression, once=once, element=element, reads=True)
        case FilterExpression():
            return _filter(expression) if once else _Reach.WIDE
        case Union(parts=parts):
            if not once or sum(not _single(part) for part in parts) > 1:
                return _Reach.WIDE
            return max(_value(part, once=once, element=element) for part in parts)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND):
            return _truth(expression, once=once, element=element)
        case OperatorChain():
            if _pairs(expression):
                return _Reach.WIDE
            return max(_value(side, once=once, element=element) for side in expression.operands)
        case Negation(operand=operand):
            return _value(operand, once=once, element=element)
        case Call():
            return _call(expression, once=once, element=element)


def _call(call: Call, *, once: bool, element: bool) -> _Reach:
    match call:
        case Call(name="not" | "boolean"):
            return _truth(call, once=once, element=element)
        case Call(name="lang"):
            return _Reach.BELOW
        case Call(name="id", arguments=(Literal(value=ids),)) if once:
            return _Reach.POINT if len(ids.split()) <= _FEW else _Reach.WIDE
        case Call(name="id"):
            return _Reach.WIDE
        case Call(name="count" | "name" | "local-name" | "namespace-uri", arguments=(path,)):
            if isinstance(path, LocationPath):
                return _walk(path, once=once, element=element)
        case Call(name="concat") if _texts(call) > _FEW:
            return _Reach.WIDE
        case Call(name=name, arguments=()):
            own = _Reach.NEAR if once else _Reach.BELOW
            return own if name in _OWN_VALUE else _Reach.POINT
        case Call(name=name, arguments=(_, *constants)) if name in _SEARCHING:
            if not all(isinstance(constant, Literal | Number) for constant in constants):
                return _Reach.WIDE
    return max(_value(argument, once=once, element=element) for argument in call.arguments)


def _pairs(chain: OperatorChain) -> bool:
    """Whether a comparison goes through pairs, or converts a text again for each node."""
    if chain.precedence not in (Precedence.EQUALITY, Precedence.RELATION):
        return False
    sides = chain.operands
    many = [side for side in sides if type_of(side) is XPathType.NODES and not _single(side)]
    texts = [s for s in sides if type_of(s) is XPathType.STRING and not isinstance(s, Literal)]
    return len(many) > 1 or bool(many and texts)


def _texts(expression: Expr) -> int:
    """How many texts of the document concat() puts together."""
    if isinstance(expression, Call) and expression.name == "concat":
        return sum(_texts(argument) for argument in expression.arguments)
    return 0 if isinstance(expression, Literal | Number) else 1


def _filter(expression: FilterExpression) -> _Reach:
    """A set of nodes made once, with predicates, and children of those nodes."""
    reaches = [_value(expression.primary, once=True, element=False)]
    reaches += [_predicate(predicate, element=False) for predicate in expression.predicates]
    for step in expression.steps:
        if step.axis not in (Axis.CHILD, Axis.ATTRIBUTE, Axis.SELF):
            return _Reach.WIDE
        element = step.test.kind in _ELEMENTS
        reaches += [_predicate(predicate, element=element) for predicate in step.predicates]
    return max(reaches)


def _predicate(predicate: Expr, *, element: bool) -> _Reach:
    return _truth(predicate, once=False, element=element)


@dataclass(slots=True)
class _Walk:
    """Where a path has come to, from one node."""

    once: bool
    element: bool  # all nodes are elements
    many: bool = False  # there may be several nodes
    above: bool = False  # they may be outside the subtree where the path started
    moved: bool = False  # they are not the start itself
    reach: _Reach = _Reach.POINT

    def step(self, step: SyntaxStep, root: bool) -> None:
        """Go one step on; `root`: to the root element, of which there is one."""
        axis = step.axis
        if self.reach is _Reach.WIDE or axis is Axis.SELF:
            pass
        elif axis is Axis.ATTRIBUTE:
            self.many = self.many or step.test.kind is not TestKind.NAME
        elif axis is Axis.CHILD:
            self._look(_Reach.WIDE if self.above and not self.once else _Reach.NEAR)
            self.many = not root
        elif axis in _DEEP:
            far = self.many or (self.above and not self.once)
            below = _Reach.NEAR if self.once else _Reach.BELOW
            self._look(_Reach.WIDE if far else below)
            self.many = True
        elif axis is Axis.PARENT or axis in _UP:
            self._look(_Reach.WIDE if self.many else _Reach.BELOW)
            self.many, self.above = axis in _UP, True
        elif axis in _BESIDE and not self.many and _soon(step, self.element):
            pass  # one more node, did_you_mean by
        else:  # all siblings, following, preceding, namespaces: only from one node altogether
            self._look(_Reach.WIDE if self.many or not self.once else _Reach.NEAR)
            self.many = self.above = True
        self.element = step.test.kind in _ELEMENTS and axis is not Axis.ATTRIBUTE
        self.moved = self.moved or axis is not Axis.SELF

    def ask(self, inner: _Reach) -> None:
        """Ask something at each of the nodes."""
        if not self.once:
            outside = self.above and inner is not _Reach.POINT
            twice = inner is _Reach.BELOW and self.reach is _Reach.BELOW
            inner = _Reach.WIDE if outside or twice else inner
        self._look(inner)

    def read(self) -> None:
        """Read the text of the nodes."""
        if self.above and not self.once:
            self._look(_Reach.WIDE)
        elif not self.moved:
            self._look(_Reach.BELOW)

    def _look(self, reach: _Reach) -> None:
        self.reach = max(self.reach, reach)


def _walk(path: LocationPath, *, once: bool, element: bool, reads: bool = False) -> _Reach:
    """The reach of a path from one node; `reads`: also the values of the nodes at its end."""
    if path.absolute and not once:
        return _Reach.WIDE
    walk = _Walk(once, element)
    for index, step in enumerate(path.steps):
        walk.step(step, path.absolute and index == 0 and step.test.kind in _ELEMENTS)
        for predicate in step.predicates:
            walk.ask(_predicate(predicate, element=walk.element))
    if reads and not (path.steps and path.steps[-1].axis is Axis.ATTRIBUTE):
        walk.read()
    return walk.reach


def _soon(step: SyntaxStep, element: bool) -> bool:
    """Whether libxml2 stops after a few siblings: its only predicate is a small place.

    From an element, the next elements are did_you_mean on the whole, whatever stands between them.
    """
    first = step.predicates[0] if len(step.predicates) == 1 else None
    did_you_mean = step.test.kind is TestKind.NODE or (element and step.test.kind is TestKind.ANY)
    return (
        did_you_mean
        and isinstance(first, Number)
        and first.spelling.isdecimal()
        and len(first.spelling) <= 2
        and int(first.spelling) <= _NEAR_PLACES
    )


def _single(expression: Expr) -> bool:
    """Whether a node-set has at most one node, by its form."""
    return (
        isinstance(expression, LocationPath)
        and not expression.absolute
        and all(
            step.axis in (Axis.SELF, Axis.PARENT)
            or (step.axis is Axis.ATTRIBUTE and step.test.kind is TestKind.NAME)
            for step in expression.steps
        )
    )
