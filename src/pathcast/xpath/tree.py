"""The tree pattern: what a subscription demands of a document, as frozen values.

A pattern is one condition that must hold at the document node. Conditions hold at a node:

    Exists(path)            the path selects something from here
    First(path, value)      the value test holds for the first node selected ('' where there is none)
    Count(path, op, n)      so many nodes are selected
    Value                   a test of this node's own string-value
    Is(test)                this node passes the node test
    Position(left, op, ..)  place among the siblings that the step found
    And, Or, Not, Always

Paths have the four downward axes only (child, descendant, descendant-or-self, attribute); `self` steps turn into
conditions on the step before. So every pattern can be decided bottom-up over regions of the document, in
time linear in its size (times its depth, at worst).

Two patterns are equal when their digests are: a digest is made from the digests below it, once, so that
equality, hashing and sharing never walk a tree. `at` is the place in the subscriber's text.
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
    """The digest of a value made of these parts, and its depth."""
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
    """Equality by digest; `depth` counts the values inside each other."""

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
    """One step down: along the axis, to nodes that pass the test and then each condition in turn."""

    axis: Axis
    test: Test
    conditions: tuple[Condition, ...] = ()
    at: int = 0
    _sealed: tuple[bytes, int] | None = field(init=False, repr=False, default=None)

    # Steps and paths are sealed when first asked: many are made only to become part of another.
    # Conditions are sealed when made, so this never goes deeper than to the conditions of a step.

    def _seal(self) -> tuple[bytes, int]:
        if self._sealed is None:
            test = self.test
            sealed = _digest("Step", self.axis.value, test.kind.value, test.name, *self.conditions)
            object.__setattr__(self, "_sealed", sealed)
            return sealed
        return self._sealed

    @property
    def digest(self) -> bytes:
        return self._seal()[0]

    @property
    def depth(self) -> int:
        return self._seal()[1]

    @property
    def is_double_slash(self) -> bool:
        """Whether it is the // before another step: descendant-or-self::node(), and nothing asked."""
        any_node = self.test.kind is TestKind.NODE and not self.conditions
        return any_node and self.axis is Axis.DESCENDANT_OR_SELF

    @property
    def positional(self) -> bool:
        """Whether the nodes it selects depend on their places among their siblings."""
        return any(condition.positional for condition in self.conditions)


@dataclass(frozen=True, slots=True, eq=False)
class Path(_Digested):
    """Steps from the document node (absolute) or from the node at hand."""

    absolute: bool
    steps: tuple[Step, ...]
    at: int = 0
    _sealed: tuple[bytes, int] | None = field(init=False, repr=False, default=None)

    def _seal(self) -> tuple[bytes, int]:
        if self._sealed is None:
            sealed = _digest("Path", "/" if self.absolute else ".", *self.steps)
            object.__setattr__(self, "_sealed", sealed)
            return sealed
        return self._sealed

    @property
    def digest(self) -> bytes:
        return self._seal()[0]

    @property
    def depth(self) -> int:
        return self._seal()[1]


@dataclass(frozen=True, slots=True, eq=False)
class Condition(_Digested):
    """What may be true at a node. `positional`: it looks at the node's place among its siblings."""

    digest: bytes = field(init=False, repr=False)
    depth: int = field(init=False, repr=False)
    positional: bool = field(init=False, repr=False, default=False)

    def _seal(self, *parts: str | _Digested) -> None:
        digest, depth = _digest(type(self).__name__, *parts)
        object.__setattr__(self, "digest", digest)
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True, slots=True, eq=False)
class Exists(Condition):
    path: Path

    def __post_init__(self) -> None:
        self._seal(self.path)


class ValueKind(Enum):
    """How a value test reads the string-value of its node."""

    NUMBER = "number"
    STRING = "string"
    CONTAINS = "contains"
    STARTS_WITH = "starts-with"
    LENGTH = "string-length"


@dataclass(frozen=True, slots=True, eq=False)
class Value(Condition):
    """`operand` is a string, or the spelling of a number for NUMBER and LENGTH."""

    kind: ValueKind
    op: str
    operand: str
    at: int = 0
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        if self.kind in (ValueKind.NUMBER, ValueKind.LENGTH):
            object.__setattr__(self, "_number", number(self.operand))
        self._seal(self.kind.value, self.op, self.operand)

    def holds(self, text: str) -> bool:
        """Whether the test is true of a string-value."""
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
        self._seal(self.path, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Count(Condition):
    path: Path
    op: str
    operand: str
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", number(self.operand))
        self._seal(self.path, self.op, self.operand)

    def holds(self, count: int) -> bool:
        """Whether so many nodes are right."""
        return COMPARISONS[self.op](count, self._number)


@dataclass(frozen=True, slots=True, eq=False)
class Is(Condition):
    test: Test

    def __post_init__(self) -> None:
        self._seal(self.test.kind.value, self.test.name)


@dataclass(frozen=True, slots=True, eq=False)
class Position(Condition):
    """`left` is "position" or "last"; `right` is "last" or the spelling of a number."""

    left: str
    op: str
    right: str
    _number: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positional", True)
        object.__setattr__(self, "_number", 0.0 if self.right == "last" else number(self.right))
        self._seal(self.left, self.op, self.right)

    def holds(self, position: int, last: int) -> bool:
        """Whether the place is right; places count from 1."""
        left = position if self.left == "position" else last
        right = last if self.right == "last" else self._number
        return COMPARISONS[self.op](left, right)


@dataclass(frozen=True, slots=True, eq=False)
class _Compound(Condition):
    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "positional", any(part.positional for part in self.parts))
        self._seal(*self.parts)


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
        self._seal(self.part)


@dataclass(frozen=True, slots=True, eq=False)
class Always(Condition):
    holds: bool

    def __post_init__(self) -> None:
        self._seal(str(self.holds))


def steps_of(condition: Condition) -> list[Step]:
    """All steps inside a condition, outer ones before those in their conditions."""
    return [part for part in _parts(condition) if isinstance(part, Step)]


def tests_of(condition: Condition) -> list[Test]:
    """All node tests inside a condition."""
    return [part.test for part in _parts(condition) if isinstance(part, Step | Is)]


def _parts(condition: Condition) -> Iterator[Step | Condition]:
    waiting: list[Condition] = [condition]
    while waiting:
        current = waiting.pop()
        yield current
        match current:
            case And(parts=parts) | Or(parts=parts):
                waiting += parts
            case Not(part=part):
                waiting.append(part)
            case Exists(path=path) | First(path=path) | Count(path=path):
                for step in path.steps:
                    yield step
                    waiting += step.conditions
