"""Static bound on the cost of a residual, from its syntax tree alone.

The cost of XPath has no useful bound in general: `//*[//*=//*]` takes seconds on a few thousand
elements. So every subscription has a cost class before it is evaluated:

- INDEXED: a condition, decided by the index and the evaluators in linear time (`lower`).
- LINEAR: libxml2's work is linear in the number of nodes, times powers of the document's depth,
  which is bounded.
- EXPENSIVE: not known to be linear. Examples: it visits the entire document, all siblings or a
  parent's text from each of many nodes, compares or merges two large node-sets, or searches for
  text that comes from the document. Refused by default. Many expressions along sibling axes are
  conditions, and so INDEXED; what remains is what libxml2 has to evaluate.

The analysis bounds the *reach* of an expression: the nodes that its evaluation visits from one
context node. Summed over the nodes of a document, POINT (the node, its name and attributes), NEAR
(its children) and BELOW (its subtree, or its ancestors) are linear; WIDE is not. The input is the
form that libxml2 evaluates. In it, `libxml2_form` has turned steps from many nodes into predicates,
and unions into `or`, because libxml2 removes duplicates from merged sets by comparing all pairs.
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
    """The cost class of a subscription, cheapest first."""

    INDEXED = 0
    LINEAR = 1
    EXPENSIVE = 2


class _Reach(IntEnum):
    POINT = 0
    NEAR = 1
    BELOW = 2
    WIDE = 3


_DOWNWARD = frozenset({Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF})
_UPWARD = frozenset({Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF})
_SIBLING = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_ELEMENTS = frozenset({TestKind.NAME, TestKind.ANY, TestKind.ANY_IN})
_STRING_OF_CONTEXT = frozenset({"string", "number", "string-length", "normalize-space"})
_SEARCH_FUNCTIONS = frozenset({"contains", "substring-before", "substring-after", "translate"})
_MAX_EARLY_POSITION = 16  # libxml2 stops early at [n] on a sibling axis
_MAX_IDS = _MAX_CONCATENATED = 16  # beyond these, id() and concat() count as expensive


def cost_of(expression: Expr) -> Cost:
    """Return the cost class of an expression that has no condition."""
    return Cost.EXPENSIVE if _boolean_reach(expression, once=True) is _Reach.WIDE else Cost.LINEAR


def _boolean_reach(expression: Expr, *, once: bool, element: bool = False) -> _Reach:
    """Return the reach of the boolean value of an expression.

    `once`: evaluated at the document node only. `element`: at elements only.
    """
    match expression:
        case LocationPath():
            return _path_reach(expression, once=once, element=element)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND):
            return max(
                _boolean_reach(side, once=once, element=element) for side in expression.operands
            )
        case Call(name="not" | "boolean", arguments=(argument,)):
            return _boolean_reach(argument, once=once, element=element)
        case _:
            return _value_reach(expression, once=once, element=element)


def _value_reach(expression: Expr, *, once: bool, element: bool) -> _Reach:
    """Return the reach of the value of an expression."""
    match expression:
        case Number() | Literal():
            return _Reach.POINT
        case LocationPath():
            return _path_reach(expression, once=once, element=element, reads_values=True)
        case FilterExpression():
            return _filter_reach(expression) if once else _Reach.WIDE
        case Union(parts=parts):
            if not once or sum(not _is_singleton(part) for part in parts) > 1:
                return _Reach.WIDE
            return max(_value_reach(part, once=once, element=element) for part in parts)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND):
            return _boolean_reach(expression, once=once, element=element)
        case OperatorChain():
            if _compares_pairs(expression):
                return _Reach.WIDE
            return max(
                _value_reach(side, once=once, element=element) for side in expression.operands
            )
        case Negation(operand=operand):
            return _value_reach(operand, once=once, element=element)
        case Call():
            return _call_reach(expression, once=once, element=element)


def _call_reach(call: Call, *, once: bool, element: bool) -> _Reach:
    match call:
        case Call(name="not" | "boolean"):
            return _boolean_reach(call, once=once, element=element)
        case Call(name="lang"):
            return _Reach.BELOW
        case Call(name="id", arguments=(Literal(value=ids),)) if once:
            return _Reach.POINT if len(ids.split()) <= _MAX_IDS else _Reach.WIDE
        case Call(name="id"):
            return _Reach.WIDE
        case Call(name="count" | "name" | "local-name" | "namespace-uri", arguments=(path,)):
            if isinstance(path, LocationPath):
                return _path_reach(path, once=once, element=element)
        case Call(name="concat") if _count_texts(call) > _MAX_CONCATENATED:
            return _Reach.WIDE
        case Call(name=name, arguments=()):
            subtree = _Reach.NEAR if once else _Reach.BELOW
            return subtree if name in _STRING_OF_CONTEXT else _Reach.POINT
        case Call(name=name, arguments=(_, *constants)) if name in _SEARCH_FUNCTIONS:
            if not all(isinstance(constant, Literal | Number) for constant in constants):
                return _Reach.WIDE
    return max(_value_reach(argument, once=once, element=element) for argument in call.arguments)


def _compares_pairs(chain: OperatorChain) -> bool:
    """Whether a comparison visits pairs of nodes, or converts a computed string for each node."""
    if chain.precedence not in (Precedence.EQUALITY, Precedence.RELATION):
        return False
    sides = chain.operands
    node_sets = [
        side for side in sides if type_of(side) is XPathType.NODES and not _is_singleton(side)
    ]
    computed_strings = [
        s for s in sides if type_of(s) is XPathType.STRING and not isinstance(s, Literal)
    ]
    return len(node_sets) > 1 or bool(node_sets and computed_strings)


def _count_texts(expression: Expr) -> int:
    """Return the number of strings from the document that concat() joins."""
    if isinstance(expression, Call) and expression.name == "concat":
        return sum(_count_texts(argument) for argument in expression.arguments)
    return 0 if isinstance(expression, Literal | Number) else 1


def _filter_reach(expression: FilterExpression) -> _Reach:
    """Return the reach of a filter expression that is evaluated once."""
    reaches = [_value_reach(expression.primary, once=True, element=False)]
    reaches += [_predicate_reach(predicate, element=False) for predicate in expression.predicates]
    for step in expression.steps:
        if step.axis not in (Axis.CHILD, Axis.ATTRIBUTE, Axis.SELF):
            return _Reach.WIDE
        element = step.test.kind in _ELEMENTS
        reaches += [_predicate_reach(predicate, element=element) for predicate in step.predicates]
    return max(reaches)


def _predicate_reach(predicate: Expr, *, element: bool) -> _Reach:
    return _boolean_reach(predicate, once=False, element=element)


@dataclass(slots=True)
class _PathState:
    """Abstract interpretation of a path: the possible current nodes, and the reach so far."""

    once: bool
    element: bool  # all current nodes are elements
    several: bool = False  # there may be several current nodes
    outside: bool = False  # they may lie outside the subtree of the context node
    moved: bool = False  # they are not the context node itself
    reach: _Reach = _Reach.POINT

    def take_step(self, step: SyntaxStep, root: bool) -> None:
        """Take one step; `root`: to the root element, of which there is one."""
        axis = step.axis
        if self.reach is _Reach.WIDE or axis is Axis.SELF:
            pass
        elif axis is Axis.ATTRIBUTE:
            self.several = self.several or step.test.kind is not TestKind.NAME
        elif axis is Axis.CHILD:
            self._extend(_Reach.WIDE if self.outside and not self.once else _Reach.NEAR)
            self.several = not root
        elif axis in _DOWNWARD:
            repeated = self.several or (self.outside and not self.once)
            subtree = _Reach.NEAR if self.once else _Reach.BELOW
            self._extend(_Reach.WIDE if repeated else subtree)
            self.several = True
        elif axis is Axis.PARENT or axis in _UPWARD:
            self._extend(_Reach.WIDE if self.several else _Reach.BELOW)
            self.several, self.outside = axis in _UPWARD, True
        elif axis in _SIBLING and not self.several and _stops_early(step, self.element):
            pass  # visits a few siblings
        else:  # all siblings, following, preceding, namespaces
            self._extend(_Reach.WIDE if self.several or not self.once else _Reach.NEAR)
            self.several = self.outside = True
        self.element = step.test.kind in _ELEMENTS and axis is not Axis.ATTRIBUTE
        self.moved = self.moved or axis is not Axis.SELF

    def add_predicate(self, inner: _Reach) -> None:
        """Evaluate a predicate of the given reach at each current node."""
        if not self.once:
            repeated_outside = self.outside and inner is not _Reach.POINT
            nested_subtrees = inner is _Reach.BELOW and self.reach is _Reach.BELOW
            inner = _Reach.WIDE if repeated_outside or nested_subtrees else inner
        self._extend(inner)

    def add_string_value(self) -> None:
        """Read the string-values of the current nodes."""
        if self.outside and not self.once:
            self._extend(_Reach.WIDE)
        elif not self.moved:
            self._extend(_Reach.BELOW)

    def _extend(self, reach: _Reach) -> None:
        self.reach = max(self.reach, reach)


def _path_reach(
    path: LocationPath, *, once: bool, element: bool, reads_values: bool = False
) -> _Reach:
    """Return the reach of a path from one node; `reads_values`: with string-values at its end."""
    if path.absolute and not once:
        return _Reach.WIDE
    state = _PathState(once, element)
    for index, step in enumerate(path.steps):
        state.take_step(step, path.absolute and index == 0 and step.test.kind in _ELEMENTS)
        for predicate in step.predicates:
            state.add_predicate(_predicate_reach(predicate, element=state.element))
    if reads_values and not (path.steps and path.steps[-1].axis is Axis.ATTRIBUTE):
        state.add_string_value()
    return state.reach


def _stops_early(step: SyntaxStep, element: bool) -> bool:
    """Whether libxml2 stops after a few siblings: the only predicate is a small position.

    From an element, the next elements are near on average, whatever nodes lie between them.
    """
    first = step.predicates[0] if len(step.predicates) == 1 else None
    dense = step.test.kind is TestKind.NODE or (element and step.test.kind is TestKind.ANY)
    return (
        dense
        and isinstance(first, Number)
        and first.spelling.isdecimal()
        and len(first.spelling) <= 2
        and int(first.spelling) <= _MAX_EARLY_POSITION
    )


def _is_singleton(expression: Expr) -> bool:
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
