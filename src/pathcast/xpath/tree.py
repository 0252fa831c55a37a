"""The tree pattern of a subscription, as frozen values.

A pattern is one condition that must hold at the document node. Conditions hold at a node:

    Exists(path)            the path selects a node from here
    First(path, value)      the value predicate holds for the first selected node ('' if none)
    Count(path, op, n)      the number of selected nodes compares to n
    Value                   a value predicate on this node's string-value
    Is(test)                this node passes the node test
    Position(left, op, ..)  the node's position among the nodes that the step selected
    And, Or, Not, Always

Paths have only the four downward axes: child, descendant, descendant-or-self and attribute. `self`
steps become conditions on the step before. So a pattern can be decided bottom-up over the regions
of the document, in time linear in its size (times its depth, at worst).

Two patterns are equal when their digests are. A digest is computed once, from the digests of the
parts, so equality, hashing and sharing never walk a tree. `at` is the position in the subscriber's
text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b

from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis, Test, TestKind

__all__ = [
    "COMPARISONS",
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
    "Value",
    "ValueKind",
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


@dataclass(frozen=True, slots=True, eq=False)
class Value(Condition):
    """A value predicate; `operand` is a string, or for NUMBER and LENGTH a canonical number."""

    kind: ValueKind
    op: str
    operand: str
    at: int = 0
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        if self.kind in (ValueKind.NUMBER, ValueKind.LENGTH):
            object.__setattr__(self, "_number", number(self.operand))
        self._set_digest(self.kind.value, self.op, self.operand)

    def holds(self, text: str) -> bool:
        """Whether the predicate is true of a string-value."""
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
