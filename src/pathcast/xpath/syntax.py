"""The syntax tree of an XPath 1.0 expression: frozen values with their place in the text.

Chains of operators of one rank are kept flat (`a or b or c`, `1 + 2 - 3`), so that the depth of a tree
is the depth of the brackets in its text. `at` is where the node starts in the text; it says nothing
about what the expression means, so it does not take part in comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pathcast.xpath.functions import FUNCTIONS, Type

__all__ = [
    "NO_TARGET",
    "Axis",
    "Call",
    "Chain",
    "Expression",
    "Filter",
    "Literal",
    "LocationPath",
    "Negation",
    "Number",
    "Rank",
    "Step",
    "Test",
    "TestKind",
    "Union",
    "children",
    "type_of",
]


class Axis(Enum):
    """The thirteen axes of XPath 1.0."""

    __hash__ = object.__hash__  # members are single: by identity, and quicker than by name

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
    """What a node test looks at."""

    __hash__ = object.__hash__  # members are single: by identity, and quicker than by name

    __test__ = False  # not a test case, whatever pytest thinks of the name

    NAME = "name"
    ANY = "*"
    ANY_IN = "prefix:*"
    NODE = "node()"
    TEXT = "text()"
    COMMENT = "comment()"
    INSTRUCTION = "processing-instruction()"


NO_TARGET = " "
"""The name that processing-instruction('') asks for: "" asks for any, and no instruction has this one."""


@dataclass(frozen=True, slots=True)
class Test:
    """A node test. `name`: Clark name for NAME, namespace for ANY_IN, target for INSTRUCTION."""

    __test__ = False

    kind: TestKind
    name: str = ""


class Rank(Enum):
    """The ranks of binary operators, loosest first."""

    __hash__ = object.__hash__  # members are single: by identity, and quicker than by name

    OR = 1
    AND = 2
    EQUALITY = 3
    RELATION = 4
    SUM = 5
    PRODUCT = 6


@dataclass(frozen=True, slots=True)
class Number:
    """A number, by its canonical spelling."""

    spelling: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string."""

    value: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a core function."""

    name: str
    arguments: tuple[Expression, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """A location step: axis::test[predicate]..."""

    axis: Axis
    test: Test
    predicates: tuple[Expression, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LocationPath:
    """A path that starts at the document (absolute) or at the context node."""

    absolute: bool
    steps: tuple[Step, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """A primary expression with predicates, and the path that goes on from it: (//a)[2]/b."""

    primary: Expression
    predicates: tuple[Expression, ...]
    steps: tuple[Step, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Union:
    """The union of node-sets: a | b."""

    parts: tuple[Expression, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """Unary minus."""

    operand: Expression
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one rank, applied from the left: first op operand op operand ..."""

    rank: Rank
    first: Expression
    rest: tuple[tuple[str, Expression], ...]
    at: int = field(default=0, compare=False)

    @property
    def operands(self) -> tuple[Expression, ...]:
        """All operands, left to right."""
        return (self.first, *(operand for _, operand in self.rest))


Expression: TypeAlias = Number | Literal | Call | LocationPath | Filter | Union | Negation | Chain


def type_of(expression: Expression) -> Type:
    """The static type of an expression."""
    match expression:
        case LocationPath() | Filter() | Union():
            return Type.NODES
        case Number() | Negation():
            return Type.NUMBER
        case Literal():
            return Type.STRING
        case Call(name=name):
            return FUNCTIONS[name].result
        case Chain(rank=rank):
            return Type.NUMBER if rank in (Rank.SUM, Rank.PRODUCT) else Type.BOOLEAN


def children(expression: Expression) -> list[Expression]:
    """The expressions directly inside an expression, those in predicates included."""
    match expression:
        case Number() | Literal():
            return []
        case Call(arguments=arguments):
            return list(arguments)
        case LocationPath(steps=steps):
            return [inner for step in steps for inner in step.predicates]
        case Filter(primary=primary, predicates=predicates, steps=steps):
            tail = [inner for step in steps for inner in step.predicates]
            return [primary, *predicates, *tail]
        case Union(parts=parts):
            return list(parts)
        case Negation(operand=operand):
            return [operand]
        case Chain():
            return list(expression.operands)
