"""What must hold for an expression to be true, as a condition that the index can decide.

An expression outside tree patterns is checked by libxml2, but only on documents that pass its skeleton. A
skeleton is weaker than its expression: `weaken(e)` holds wherever e does. Under a negation the direction
turns, so there is also `strengthen(e)`, which holds only where e does; `not(e)` is weakened to the
negation of e strengthened. Where nothing is known they are `true()` and `false()`.

What makes it strong:
- steps along other axes are taken to where they may lead: after `/a/b/following-sibling::c` both `/a/b` and
  `/a/c` must exist, after `preceding::c/d` both what came before and `//c/d`;
- arithmetic on an empty node-set gives NaN, which compares as false: `a + 1 > 3` needs an `a`;
- most string functions of an empty string are empty: `normalize-space(a) = 'x'` needs an `a`.
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.xpath.canonical import FALSE, TRUE, conjunction, disjunction, negation
from pathcast.xpath.functions import XPathType
from pathcast.xpath.lower import (
    DESCENDANT_OR_SELF_NODE,
    PathBuilder,
    extend,
    lower,
    lower_predicate,
    make_absolute,
    route,
    selects,
)
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.parent_predicates import rebase_to_parent, split_conjuncts, weaken_to_parent
from pathcast.xpath.parser import MAX_STEPS
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
    Test,
    TestKind,
    Union,
    type_of,
)
from pathcast.xpath.tree import Condition

__all__ = ["strengthen", "weaken"]

_SIBLINGS = (Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING)
_LANGUAGE = LocationPath(
    True,
    (
        DESCENDANT_OR_SELF_NODE,
        SyntaxStep(Axis.ATTRIBUTE, Test(TestKind.NAME, f"{{{XML_NAMESPACE}}}lang")),
    ),
)
# string functions that give '' when their first argument is ''
_KEEP_EMPTY = frozenset(
    {"string", "normalize-space", "substring", "substring-before", "substring-after", "translate"}
)
_NAMES = frozenset({"name", "local-name", "namespace-uri"})
_STRICT = frozenset({"number", "floor", "ceiling", "round"})


def weaken(expression: Expr, *, top: bool = False) -> Condition:
    """A condition that holds wherever the expression is true."""
    exact = lower(expression, top=top)
    if exact is not None:
        return exact
    match expression:
        case LocationPath():
            return _weak_path(expression, top)
        case OperatorChain(precedence=Precedence.OR):
            return disjunction([weaken(part, top=top) for part in expression.operands])
        case OperatorChain(precedence=Precedence.AND):
            return conjunction([weaken(part, top=top) for part in expression.operands])
        case OperatorChain(
            precedence=Precedence.EQUALITY | Precedence.RELATION, first=left, rest=((op, right),)
        ):
            return conjunction([_compared(left, op, right, top), _compared(right, op, left, top)])
        case Call(name="not", arguments=(argument,)):
            return negation(strengthen(argument, top=top))
        case Call(name="boolean", arguments=(argument,)):
            return weaken(argument, top=top)
        case Call(name="contains" | "starts-with", arguments=(where, Literal())):
            return _text(where, top)
        case Call(name="lang"):
            return selects(_LANGUAGE, True) or TRUE
        case _ if type_of(expression) is XPathType.NODES:
            return _nodes(expression, top)
        case _ if type_of(expression) is XPathType.NUMBER:
            return _number(expression, top)
        case _ if type_of(expression) is XPathType.STRING:
            return _text(expression, top)
        case _:
            return TRUE


def strengthen(expression: Expr, *, top: bool = False) -> Condition:
    """A condition that holds only where the expression is true."""
    exact = lower(expression, top=top)
    if exact is not None:
        return exact
    match expression:
        case OperatorChain(precedence=Precedence.OR):
            return disjunction([strengthen(part, top=top) for part in expression.operands])
        case OperatorChain(precedence=Precedence.AND):
            return conjunction([strengthen(part, top=top) for part in expression.operands])
        case Call(name="not", arguments=(argument,)):
            return negation(weaken(argument, top=top))
        case Call(name="boolean", arguments=(argument,)):
            return strengthen(argument, top=top)
        case Union(parts=parts):
            return disjunction([strengthen(part, top=top) for part in parts])
        case LocationPath():
            return _strong_path(expression, top)
        case _:
            return FALSE


# what a value needs


def _compared(side: Expr, op: str, other: Expr, top: bool) -> Condition:
    """What a comparison needs of one of its sides."""
    match type_of(side):
        case XPathType.NODES if type_of(other) is not XPathType.BOOLEAN:
            return _nodes(side, top)
        case XPathType.NUMBER if op != "!=" and type_of(other) is not XPathType.BOOLEAN:
            return _not_nan(side, top)
        case XPathType.STRING if op not in ("=", "!="):
            return _text(side, top)
        case XPathType.STRING if op == "=":
            filled = isinstance(other, Literal) and other.value
            if filled or type_of(other) is XPathType.NUMBER:
                return _text(side, top)
    return TRUE


def _number(expression: Expr, top: bool) -> Condition:
    """What a number needs to count as true: neither zero nor NaN."""
    match expression:
        case Call(name="count" | "sum", arguments=(path,)):
            return _nodes(path, top)
        case Call(name="string-length", arguments=(text,)):
            return _text(text, top)
        case _:
            return _not_nan(expression, top)


def _not_nan(expression: Expr, top: bool) -> Condition:
    match expression:
        case OperatorChain(precedence=Precedence.SUM | Precedence.PRODUCT):
            return conjunction([_not_nan(operand, top) for operand in expression.operands])
        case Negation(operand=operand):
            return _not_nan(operand, top)
        case Call(name=name, arguments=(argument,)) if name in _STRICT:
            return _not_nan(argument, top)
        case Number():
            return TRUE
        case _ if type_of(expression) is XPathType.NODES:
            return _nodes(expression, top)
        case _ if type_of(expression) is XPathType.STRING:
            return _text(expression, top)
        case _:
            return TRUE


def _text(expression: Expr, top: bool) -> Condition:
    """What a string needs to have any character."""
    match expression:
        case Call(name=name, arguments=(argument, *_)) if name in _KEEP_EMPTY:
            return _text(argument, top)
        case Call(name=name, arguments=(argument,)) if name in _NAMES:
            return _nodes(argument, top)
        case Call(name="concat", arguments=arguments):
            return disjunction([_text(argument, top) for argument in arguments])
        case Literal(value=value):
            return TRUE if value else FALSE
        case _ if type_of(expression) is XPathType.NODES:
            return _nodes(expression, top)
        case _:
            return TRUE


# paths


def _nodes(expression: Expr, top: bool) -> Condition:
    """What a node-set needs to have any node."""
    match expression:
        case LocationPath():
            return _weak_path(expression, top)
        case Union(parts=parts):
            return disjunction([_nodes(part, top) for part in parts])
        case FilterExpression(primary=LocationPath() as start, predicates=predicates, steps=steps):
            start = make_absolute(start, top)
            if start.steps:
                safe = tuple(inner for inner in predicates if _any_place(inner))
                last = replace(start.steps[-1], predicates=(*start.steps[-1].predicates, *safe))
                start = replace(start, steps=(*start.steps[:-1], last))
            return _weak_path(replace(start, steps=(*start.steps, *steps)), top)
        case FilterExpression(primary=Union(parts=parts), steps=steps):
            # without predicates: written out for each part, nested ones would grow without bound
            bare = tuple(replace(step, predicates=()) for step in steps)
            if len(parts) * len(bare) > MAX_STEPS:
                bare = ()
            return disjunction([_nodes(FilterExpression(part, (), bare), top) for part in parts])
        case FilterExpression(primary=primary, steps=()):
            return _nodes(primary, top)
        case FilterExpression(primary=primary, steps=steps):
            tail = LocationPath(True, (DESCENDANT_OR_SELF_NODE, *steps), expression.at)
            return conjunction([_nodes(primary, top), _weak_path(tail, top)])
        case _:
            return TRUE


def _any_place(predicate: Expr) -> bool:
    """Whether a predicate means the same however many nodes it is asked of."""
    condition = lower_predicate(predicate)
    return condition is not None and not condition.positional


def _weak_path(path: LocationPath, top: bool) -> Condition:
    path = make_absolute(path, top)
    found = PathBuilder(path.absolute, path.at)
    demands: list[Condition] = []
    for step in path.steps:
        above, conditions = _weak_predicates(step)
        for condition in above:
            found.ending(condition)
        if not extend(found, step, conditions):
            demands.append(found.exists(top) or TRUE)
            elsewhere = _elsewhere(found, step, [c for c in conditions if not c.positional])
            if elsewhere is None:
                return conjunction(demands)
            found = elsewhere
    return conjunction([*demands, found.exists(top) or TRUE])


def _elsewhere(
    found: PathBuilder, step: SyntaxStep, conditions: list[Condition]
) -> PathBuilder | None:
    """Where a step along another axis may lead; None if nowhere in the tree of elements."""
    if step.axis is Axis.NAMESPACE:
        return None
    if step.axis is Axis.ANCESTOR_OR_SELF and step.test.kind is TestKind.NODE:
        return None  # it may stay at an attribute, which is in no list of nodes
    if step.axis in _SIBLINGS and found.steps and found.steps[-1].axis is Axis.CHILD:
        beside = replace(found, steps=found.steps[:-1])
        extend(beside, replace(step, axis=Axis.CHILD), conditions)
        return beside
    start = PathBuilder(True, step.at)
    extend(start, replace(step, axis=Axis.DESCENDANT_OR_SELF), conditions)
    return start


def _weak_predicates(step: SyntaxStep) -> tuple[list[Condition], list[Condition]]:
    """What the predicates of a step need of its parent, and of the node itself.

    Places are only asked while all predicates before are exact.
    """
    above: list[Condition] = []
    found: list[Condition] = []
    exact = True
    for predicate, movable in split_conjuncts(step):
        if movable:
            about = rebase_to_parent(predicate)
            assert about is not None
            above.append(weaken(about))
            continue
        beside = weaken_to_parent(predicate) if step.axis is Axis.CHILD else None
        if beside is not None:
            above.append(weaken(beside))
            exact = False
            continue
        condition = lower_predicate(predicate)
        known = condition is not None
        if condition is None:
            condition = TRUE if type_of(predicate) is XPathType.NUMBER else weaken(predicate)
        if exact or not condition.positional:
            found.append(condition)
        exact = exact and known
    return above, found


def _strong_path(path: LocationPath, top: bool) -> Condition:
    if (
        route(replace(path, steps=tuple(replace(s, predicates=()) for s in path.steps)), top)
        is None
    ):
        return FALSE
    path = make_absolute(path, top)
    found = PathBuilder(path.absolute, path.at)
    for step in path.steps:
        conditions = _strong_predicates(step.predicates)
        if conditions is None or not extend(found, step, conditions):
            return FALSE
    return found.exists(top) or FALSE


def _strong_predicates(predicates: tuple[Expr, ...]) -> list[Condition] | None:
    """Stronger predicates; None where a place is asked after one that is not exact."""
    found: list[Condition] = []
    exact = True
    for predicate in predicates:
        condition = lower_predicate(predicate)
        if condition is None and type_of(predicate) is XPathType.NUMBER:
            return None
        known = condition is not None
        if condition is None:
            condition = strengthen(predicate)
        if condition.positional and not exact:
            return None
        exact = exact and known
        found.append(condition)
    return found
