"""Advertisements as Li, Hou and Jacobsen (2008, section 3.1) write them: values, and what they mean.

    /a/b/c                  non-recursive
    /a(/b)+/c               simple-recursive: one recursive pattern
    /a(/b)+/c(/d)+/e        series-recursive: several, one after the other
    /a(/b(/c)+/d)+/e        embedded-recursive: one in another

A name may be the wildcard `*`. The paper's notation is not enough for every DTD: where elements lie on several cycles (`em` in `strong`, `strong`
in `em`, each in itself), what is repeated is now this and now that, which no finite number of its expressions says. So a group may have
alternatives: `(/em|/strong)+`. They also stand for elements that are alike in all ways, and keep what would be too many expressions
together; then without a +. They make no difference to the class of an expression.

Expressions share their parts, and written out may be very much larger than in memory: look at `size` before you ask for the text. For the same
reason they are not compared by value.

An expression is an automaton with a state for each name in it (Glushkov 1961).

>>> from pathcast.routing.advertisement.notation import parse_expression
>>> one = parse_expression("/a(/b(/c)+/d)+/e")
>>> str(one), one.kind.value, len(one.advertisement().labels)
('/a(/b(/c)+/d)+/e', 'embedded-recursive', 5)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits
from pathcast.routing.advertisement.labels import ElementLabel

__all__ = [
    "AdvertisementExpression",
    "ElementStep",
    "Group",
    "Part",
    "RecursionClass",
    "group",
    "recursion_class",
    "union",
]


class RecursionClass(Enum):
    """The classes of the paper."""

    NONE = "non-recursive"
    SIMPLE = "simple-recursive"
    SERIES = "series-recursive"
    EMBEDDED = "embedded-recursive"


@dataclass(frozen=True, slots=True)
class ElementStep:
    """One element."""

    label: ElementLabel
    size: int = field(default=1, init=False)
    patterns: int = field(default=0, init=False)
    nested: int = field(default=0, init=False)

    def __str__(self) -> str:
        return f"/{self.label}"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """One of several expressions; `repeated`: once or more often."""

    choices: tuple[AdvertisementExpression, ...]
    repeated: bool = True
    size: int = field(init=False)
    patterns: int = field(init=False)
    nested: int = field(init=False)

    def __post_init__(self) -> None:
        own = int(self.repeated)
        object.__setattr__(self, "size", sum(one.size for one in self.choices))
        patterns = own + max(one.patterns for one in self.choices)
        object.__setattr__(self, "patterns", patterns)
        object.__setattr__(self, "nested", own + max(one.nested for one in self.choices))

    def __str__(self) -> str:
        return f"({'|'.join(map(str, self.choices))}){'+' if self.repeated else ''}"

    def short(self, most: int) -> str:
        """What stands for it where it is too large to be written."""
        inner = f"... {self.size:,} names ..."
        if len(self.choices) == 1:
            inner = self.choices[0].short(most)
        return f"({inner}){'+' if self.repeated else ''}"


Part: TypeAlias = ElementStep | Group


@dataclass(frozen=True, slots=True, eq=False)
class AdvertisementExpression:
    """Parts in sequence. `size`: names in it; `patterns`: recursive ones, at most; `nested`: how deep in each other."""

    parts: tuple[Part, ...]
    size: int = field(init=False)
    patterns: int = field(init=False)
    nested: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(part.size for part in self.parts))
        object.__setattr__(self, "patterns", sum(part.patterns for part in self.parts))
        nested = max((part.nested for part in self.parts), default=0)
        object.__setattr__(self, "nested", nested)

    @property
    def kind(self) -> RecursionClass:
        return recursion_class(self.patterns, self.nested)

    def __add__(self, other: AdvertisementExpression) -> AdvertisementExpression:
        return AdvertisementExpression(self.parts + other.parts)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def short(self, most: int = 60) -> str:
        """The text, with `...` for groups of more than so many names."""
        return "".join(
            str(part) if part.size <= most or isinstance(part, ElementStep) else part.short(most)
            for part in self.parts
        )

    def advertisement(self) -> Advertisement:
        """The automaton of all paths that the expression stands for."""
        return union([self])


def recursion_class(patterns: int, nested: int) -> RecursionClass:
    """The class of what has so many recursive patterns, nested so deep."""
    if nested > 1:
        return RecursionClass.EMBEDDED
    if patterns > 1:
        return RecursionClass.SERIES
    return RecursionClass.SIMPLE if patterns else RecursionClass.NONE


def group(
    choices: Iterable[AdvertisementExpression], *, repeated: bool = True
) -> AdvertisementExpression:
    """The choices as one part; a choice that is nothing but alternatives itself is spread."""
    found: dict[AdvertisementExpression, None] = {}
    for one in choices:
        inner = one.parts[0]
        if len(one.parts) == 1 and isinstance(inner, Group) and not inner.repeated:
            found.update(dict.fromkeys(inner.choices))
        else:
            found[one] = None
    if len(found) == 1 and not repeated:
        return next(iter(found))
    return AdvertisementExpression((Group(tuple(found), repeated),))


def union(expressions: Iterable[AdvertisementExpression]) -> Advertisement:
    """One advertisement that allows what any of the expressions stands for, path by path."""
    building = _Building()
    roots = leaves = 0
    for expression in expressions:
        first, last = building.sequence(expression)
        roots |= first
        leaves |= last
    return Advertisement.build(building.labels, building.below, roots, leaves)


class _Building:
    """States for names, and which may follow which; every part gives its first and its last ones."""

    def __init__(self) -> None:
        self.labels: list[ElementLabel] = []
        self.below: list[int] = []

    def sequence(self, expression: AdvertisementExpression) -> tuple[int, int]:
        first, last = self.part(expression.parts[0])
        for part in expression.parts[1:]:
            following, end = self.part(part)
            self.join(last, following)
            last = end
        return first, last

    def part(self, part: Part) -> tuple[int, int]:
        if isinstance(part, ElementStep):
            self.labels.append(part.label)
            self.below.append(0)
            return (1 << (len(self.labels) - 1),) * 2
        first = last = 0
        for choice in part.choices:
            start, end = self.sequence(choice)
            first |= start
            last |= end
        if part.repeated:
            self.join(last, first)
        return first, last

    def join(self, here: int, there: int) -> None:
        for state in bits(here):
            self.below[state] |= there
