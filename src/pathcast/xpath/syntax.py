"""The syntax tree of an XPath 1.0 expression: frozen values with positions in the text.

Chains of operators of equal precedence are flat (`a or b or c`, `1 + 2 - 3`), so the depth of a
tree is the depth of the brackets in its text. `at` is the start of a node in the text. It has no
part in the meaning, so comparisons ignore it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pathcast.xpath.functions import FUNCTIONS, XPathType

__all__ = [
    "NO_TARGET",
    "Axis",
    "Call",
    "Expr",
    "FilterExpression",
    "Literal",
    "LocationPath",
    "Negation",
    "Number",
    "OperatorChain",
    "Precedence",
    "SyntaxStep",
    "Test",
    "TestKind",
    "Union",
    "children",
    "type_of",
]


class Axis(Enum):
    """The thirteen axes of XPath 1.0."""

    __hash__ = object.__hash__  # by identity: faster than Enum's hash of the name

    ANCESTOR = "ancestor"
    ANCESTOR_OR_SELF = "ancestor-or-self"
    ATTRIBUTE = "attribute"
    CHILD = "child"
    DESCENDANT = "descendant"
    DESCENDANT_OR_SELF = "descendant-or-self"
    FOLLOWING = "following"
    FOLLOWING_SIBLING = "following-sibling"
    NAMESPACE = "namespace"
    PARENT = "parent"
    PRECEDING = "preceding"
    PRECEDING_SIBLING = "preceding-sibling"
    SELF = "self"


class TestKind(Enum):
    """The kinds of node test."""

    __hash__ = object.__hash__  # by identity: faster than Enum's hash of the name

    __test__ = False  # pytest would collect it by its name

    NAME = "name"
    ANY = "*"
    ANY_IN = "prefix:*"
    NODE = "node()"
    TEXT = "text()"
    COMMENT = "comment()"
    INSTRUCTION = "processing-instruction()"


NO_TARGET = " "
"""The target in processing-instruction(''): no instruction has it, whereas "" stands for any."""


@dataclass(frozen=True, slots=True)
class Test:
    """A node test. `name`: Clark name for NAME, namespace for ANY_IN, target for INSTRUCTION."""

    __test__ = False

    kind: TestKind
    name: str = ""


class Precedence(Enum):
    """The precedence levels of binary operators, lowest first."""

    __hash__ = object.__hash__  # by identity: faster than Enum's hash of the name

    OR = 1
    AND = 2
    EQUALITY = 3
    RELATION = 4
    SUM = 5
    PRODUCT = 6


@dataclass(frozen=True, slots=True)
class Number:
    """A number literal in canonical form."""

    spelling: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string literal."""

    value: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a core function."""

    name: str
    arguments: tuple[Expr, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class SyntaxStep:
    """A location step: axis::test[predicate]..."""

    axis: Axis
    test: Test
    predicates: tuple[Expr, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LocationPath:
    """A path from the document node (absolute) or from the context node."""

    absolute: bool
    steps: tuple[SyntaxStep, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FilterExpression:
    """A primary expression with predicates and a relative path: (//a)[2]/b."""

    primary: Expr
    predicates: tuple[Expr, ...]
    steps: tuple[SyntaxStep, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Union:
    """The union of node-sets: a | b."""

    parts: tuple[Expr, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """Unary minus."""

    operand: Expr
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class OperatorChain:
    """Left-associative operators of equal precedence: first op operand op operand ..."""

    precedence: Precedence
    first: Expr
    rest: tuple[tuple[str, Expr], ...]
    at: int = field(default=0, compare=False)

    @property
    def operands(self) -> tuple[Expr, ...]:
        """All operands, from left to right."""
        return (self.first, *(operand for _, operand in self.rest))


Expr: TypeAlias = (
    Number | Literal | Call | LocationPath | FilterExpression | Union | Negation | OperatorChain
)


def type_of(expression: Expr) -> XPathType:
    """Return the static type of an expression."""
    match expression:
        case LocationPath() | FilterExpression() | Union():
            return XPathType.NODES
        case Number() | Negation():
            return XPathType.NUMBER
        case Literal():
            return XPathType.STRING
        case Call(name=name):
            return FUNCTIONS[name].result
        case OperatorChain(precedence=rank):
            return (
                XPathType.NUMBER
                if rank in (Precedence.SUM, Precedence.PRODUCT)
                else XPathType.BOOLEAN
            )


def children(expression: Expr) -> list[Expr]:
    """Return the direct subexpressions of an expression, including predicates."""
    match expression:
        case Number() | Literal():
            return []
        case Call(arguments=arguments):
            return list(arguments)
        case LocationPath(steps=steps):
            return [inner for step in steps for inner in step.predicates]
        case FilterExpression(primary=primary, predicates=predicates, steps=steps):
            tail = [inner for step in steps for inner in step.predicates]
            return [primary, *predicates, *tail]
        case Union(parts=parts):
            return list(parts)
        case Negation(operand=operand):
            return [operand]
        case OperatorChain():
            return list(expression.operands)
