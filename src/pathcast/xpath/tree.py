"""The condition of a subscription, as frozen values.

A subscription is one condition that must hold at the document node. Conditions hold at a node:

    Exists(path)            the path selects a node from here
    First(path, value)      the value predicate holds for the first selected node ('' if none)
    Count(path, op, n)      the number of selected nodes compares to n
    Value                   a value predicate on this node's string-value, or on normalize-space()
                            and translate() of it
    Is(test)                this node passes the node test
    Position(left, op, ..)  the node's position among the nodes that the step selected
    And, Or, Not, Always

Paths have every axis but namespace; `self` steps become conditions on the step before. A condition
can be decided bottom-up over the regions of the document, in time linear in its size (times powers
of its depth, at worst).

A *tree pattern* is a condition with downward axes alone (child, descendant, descendant-or-self,
attribute), and without string functions. Indexes, covering and schemas work on tree patterns;
`downward` computes the tree pattern that a condition implies.

Two conditions are equal when their digests are. A digest is computed once, from the digests of the
parts, so equality, hashing and sharing never walk a tree. `at` is the position in the subscriber's
text.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b

from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis, Test, TestKind

__all__ = [
    "COMPARISONS",
    "DOWNWARD",
    "REVERSE",
    "SIBLINGS",
    "SIDEWAYS",
    "Always",
    "And",
    "Condition",
    "Count",
    "Exists",
    "First",
    "Is",
    "Not",
    "Or",
    "Path",
    "Position",
    "Step",
    "StringFunction",
    "Value",
    "ValueKind",
    "is_downward",
    "is_tree_pattern",
    "steps_of",
    "tests_of",
]

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

DOWNWARD = frozenset({Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE})
SIBLINGS = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
SIDEWAYS = SIBLINGS | {Axis.FOLLOWING, Axis.PRECEDING, Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF}
"""The axes outside the subtree that may select many nodes; the parent axis selects one."""

REVERSE = frozenset(
    {Axis.PRECEDING_SIBLING, Axis.PRECEDING, Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF, Axis.PARENT}
)
"""The axes on which positions count backwards in document order."""


def _digest(kind: str, *parts: str | _Digested) -> tuple[bytes, int]:
    """Return the digest of a value with these parts, and its depth."""
    state = blake2b(kind.encode(), digest_size=16)
    depth = 0
    for part in parts:
        if isinstance(part, str):
            encoded = part.encode("utf-8", "surrogatepass")
            state.update(b"s%d:" % len(encoded) + encoded)
        else:
            state.update(b"d" + part.digest)
            depth = max(depth, part.depth)
    return state.digest(), depth + 1


class _Digested:
    """Base class with equality by digest; `depth` is the nesting depth of the value."""

    __slots__ = ()

    @property
    def digest(self) -> bytes:
        raise NotImplementedError

    @property
    def depth(self) -> int:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Digested) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@dataclass(frozen=True, slots=True, eq=False)
class Step(_Digested):
    """A location step: nodes on the axis that pass the test and then each condition in turn."""

    axis: Axis
    test: Test
    conditions: tuple[Condition, ...] = ()
    at: int = 0
    _digest_and_depth: tuple[bytes, int] | None = field(init=False, repr=False, default=None)

    # Steps and paths compute their digests lazily: many exist only to become part of another.
    # Conditions compute theirs when created, so the recursion ends at the conditions of a step.

    def _lazy_digest(self) -> tuple[bytes, int]:
        if self._digest_and_depth is None:
            test = self.test
            computed = _digest(
                "Step", self.axis.value, test.kind.value, test.name, *self.conditions
            )
            object.__setattr__(self, "_digest_and_depth", computed)
            return computed
        return self._digest_and_depth

    @property
    def digest(self) -> bytes:
        return self._lazy_digest()[0]

    @property
    def depth(self) -> int:
        return self._lazy_digest()[1]

    @property
    def is_double_slash(self) -> bool:
        """Whether it is the abbreviation `//`: descendant-or-self::node() without conditions."""
        any_node = self.test.kind is TestKind.NODE and not self.conditions
        return any_node and self.axis is Axis.DESCENDANT_OR_SELF

    @property
    def positional(self) -> bool:
        """Whether the selected nodes depend on their positions."""
        return any(condition.positional for condition in self.conditions)


@dataclass(frozen=True, slots=True, eq=False)
class Path(_Digested):
    """Steps from the document node (absolute) or from the context node."""

    absolute: bool
    steps: tuple[Step, ...]
    at: int = 0
    _digest_and_depth: tuple[bytes, int] | None = field(init=False, repr=False, default=None)

    def _lazy_digest(self) -> tuple[bytes, int]:
        if self._digest_and_depth is None:
            computed = _digest("Path", "/" if self.absolute else ".", *self.steps)
            object.__setattr__(self, "_digest_and_depth", computed)
            return computed
        return self._digest_and_depth

    @property
    def digest(self) -> bytes:
        return self._lazy_digest()[0]

    @property
    def depth(self) -> int:
        return self._lazy_digest()[1]


@dataclass(frozen=True, slots=True, eq=False)
class Condition(_Digested):
    """A predicate on a node. `positional`: it depends on the node's position."""

    digest: bytes = field(init=False, repr=False)
    depth: int = field(init=False, repr=False)
    positional: bool = field(init=False, repr=False, default=False)

    def _set_digest(self, *parts: str | _Digested) -> None:
        digest, depth = _digest(type(self).__name__, *parts)
        object.__setattr__(self, "digest", digest)
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True, slots=True, eq=False)
class Exists(Condition):
    path: Path

    def __post_init__(self) -> None:
        self._set_digest(self.path)


class ValueKind(Enum):
    """How a value predicate interprets the string-value."""

    NUMBER = "number"
    STRING = "string"
    CONTAINS = "contains"
    STARTS_WITH = "starts-with"
    LENGTH = "string-length"


_SPACES = re.compile("[ \t\r\n]+")


@dataclass(frozen=True, slots=True)
class StringFunction:
    """A function from string to string with constant arguments: normalize-space or translate."""

    name: str
    arguments: tuple[str, ...] = ()
    _translation: dict[int, str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        translation: dict[int, str | None] = {}
        if self.arguments:
            replaced, replacements = self.arguments
            for index, character in enumerate(replaced):  # the first occurrence counts
                replacement = replacements[index] if index < len(replacements) else None
                translation.setdefault(ord(character), replacement)
        object.__setattr__(self, "_translation", translation)

    def __call__(self, text: str) -> str:
        if self.name == "normalize-space":
            return _SPACES.sub(" ", text).strip(" ")
        return text.translate(self._translation)


@dataclass(frozen=True, slots=True, eq=False)
class Value(Condition):
    """A value predicate; `operand` is a string, or for NUMBER and LENGTH a canonical number.

    `functions` transform the string-value first, in their order.
    """

    kind: ValueKind
    op: str
    operand: str
    at: int = 0
    functions: tuple[StringFunction, ...] = ()
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        if self.kind in (ValueKind.NUMBER, ValueKind.LENGTH):
            object.__setattr__(self, "_number", number(self.operand))
        functions = [part for f in self.functions for part in (f.name, *f.arguments)]
        self._set_digest(self.kind.value, self.op, self.operand, *functions)

    def holds(self, text: str) -> bool:
        """Whether the predicate is true of a string-value."""
        for function in self.functions:
            text = function(text)
        match self.kind:
            case ValueKind.NUMBER:
                return COMPARISONS[self.op](number(text), self._number)
            case ValueKind.STRING:
                return (text == self.operand) is (self.op == "=")
            case ValueKind.CONTAINS:
                return self.operand in text
            case ValueKind.STARTS_WITH:
                return text.startswith(self.operand)
            case ValueKind.LENGTH:
                return COMPARISONS[self.op](len(text), self._number)


@dataclass(frozen=True, slots=True, eq=False)
class First(Condition):
    path: Path
    value: Value

    def __post_init__(self) -> None:
        self._set_digest(self.path, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Count(Condition):
    path: Path
    op: str
    operand: str
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", number(self.operand))
        self._set_digest(self.path, self.op, self.operand)

    def holds(self, count: int) -> bool:
        """Whether the comparison is true of a number of nodes."""
        return COMPARISONS[self.op](count, self._number)


@dataclass(frozen=True, slots=True, eq=False)
class Is(Condition):
    test: Test

    def __post_init__(self) -> None:
        self._set_digest(self.test.kind.value, self.test.name)


@dataclass(frozen=True, slots=True, eq=False)
class Position(Condition):
    """`left` is "position" or "last"; `right` is "last" or a canonical number."""

    left: str
    op: str
    right: str
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positional", True)
        object.__setattr__(self, "_number", 0.0 if self.right == "last" else number(self.right))
        self._set_digest(self.left, self.op, self.right)

    def holds(self, position: int, last: int) -> bool:
        """Whether the comparison is true of a position, from 1, and the last position."""
        left = position if self.left == "position" else last
        right = last if self.right == "last" else self._number
        return COMPARISONS[self.op](left, right)


@dataclass(frozen=True, slots=True, eq=False)
class _Compound(Condition):
    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "positional", any(part.positional for part in self.parts))
        self._set_digest(*self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class And(_Compound):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Or(_Compound):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Not(Condition):
    part: Condition

    def __post_init__(self) -> None:
        object.__setattr__(self, "positional", self.part.positional)
        self._set_digest(self.part)


@dataclass(frozen=True, slots=True, eq=False)
class Always(Condition):
    holds: bool

    def __post_init__(self) -> None:
        self._set_digest(str(self.holds))


def steps_of(condition: Condition) -> list[Step]:
    """Return all steps inside a condition, outer ones first."""
    return [part for part in _iter_parts(condition) if isinstance(part, Step)]


def is_tree_pattern(condition: Condition) -> bool:
    """Whether a condition has downward axes only, and no string functions."""
    return is_downward(condition, functions=False)


def is_downward(condition: Condition, *, functions: bool = True) -> bool:
    """Whether a condition has downward axes only, and string functions only if they are allowed."""
    pending: list[Condition] = [condition]
    while pending:
        current = pending.pop()
        if isinstance(current, Exists | Count | First):
            if isinstance(current, First):
                pending.append(current.value)
            for step in current.path.steps:
                if step.axis not in DOWNWARD:
                    return False
                pending += step.conditions
        elif isinstance(current, Value):
            if current.functions and not functions:
                return False
        elif isinstance(current, And | Or):
            pending += current.parts
        elif isinstance(current, Not):
            pending.append(current.part)
    return True


def tests_of(condition: Condition) -> list[Test]:
    """Return all node tests inside a condition."""
    return [part.test for part in _iter_parts(condition) if isinstance(part, Step | Is)]


def _iter_parts(condition: Condition) -> Iterator[Step | Condition]:
    pending: list[Condition] = [condition]
    while pending:
        current = pending.pop()
        yield current
        match current:
            case And(parts=parts) | Or(parts=parts):
                pending += parts
            case Not(part=part):
                pending.append(part)
            case Exists(path=path) | First(path=path) | Count(path=path):
                for step in path.steps:
                    yield step
                    pending += step.conditions
