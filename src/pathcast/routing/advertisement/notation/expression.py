"""Advertisement expressions of Li, Hou and Jacobsen (2008, section 3.1), as values.

    /a/b/c                  non-recursive
    /a(/b)+/c               simple-recursive: one recursive pattern
    /a(/b)+/c(/d)+/e        series-recursive: several patterns in sequence
    /a(/b(/c)+/d)+/e        embedded-recursive: one pattern inside another

A name may be the wildcard `*`. The paper's notation cannot express every DTD. Where elements lie on
several cycles (`em` in `strong`, `strong` in `em`, each in itself), each repetition may choose
another cycle, and no finite set of the paper's expressions says so. Hence a group may have
alternatives: `(/em|/strong)+`. Alternatives without a + abbreviate elements with equal neighbours,
or sets of expressions that are too large. They do not affect the class of an expression.

Expressions share subexpressions, so the text may be exponentially larger than the value: check
`size` before formatting. For the same reason expressions compare by identity.

The automaton of an expression has one state per name (Glushkov 1961).

>>> from pathcast.routing.advertisement.notation import parse_expression
>>> expression = parse_expression("/a(/b(/c)+/d)+/e")
>>> str(expression), expression.kind.value, len(expression.advertisement().labels)
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
    """The classes of advertisements in Li 2008."""

    NONE = "non-recursive"
    SIMPLE = "simple-recursive"
    SERIES = "series-recursive"
    EMBEDDED = "embedded-recursive"


@dataclass(frozen=True, slots=True)
class ElementStep:
    """One element name."""

    label: ElementLabel
    size: int = field(default=1, init=False)
    patterns: int = field(default=0, init=False)
    nested: int = field(default=0, init=False)

    def __str__(self) -> str:
        return f"/{self.label}"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A choice of expressions; `repeated` allows one or more repetitions."""

    choices: tuple[AdvertisementExpression, ...]
    repeated: bool = True
    size: int = field(init=False)
    patterns: int = field(init=False)
    nested: int = field(init=False)

    def __post_init__(self) -> None:
        own_pattern = int(self.repeated)
        object.__setattr__(self, "size", sum(choice.size for choice in self.choices))
        patterns = own_pattern + max(choice.patterns for choice in self.choices)
        object.__setattr__(self, "patterns", patterns)
        nested = own_pattern + max(choice.nested for choice in self.choices)
        object.__setattr__(self, "nested", nested)

    def __str__(self) -> str:
        return f"({'|'.join(map(str, self.choices))}){'+' if self.repeated else ''}"

    def abbreviate(self, max_names: int) -> str:
        """Return the text with `...` for the choices, or for their own large groups."""
        inner = f"... {self.size:,} names ..."
        if len(self.choices) == 1:
            inner = self.choices[0].abbreviate(max_names)
        return f"({inner}){'+' if self.repeated else ''}"


Part: TypeAlias = ElementStep | Group


@dataclass(frozen=True, slots=True, eq=False)
class AdvertisementExpression:
    """A sequence of parts."""

    parts: tuple[Part, ...]
    size: int = field(init=False)  # names in the text
    patterns: int = field(init=False)  # recursive patterns, the maximum over alternatives
    nested: int = field(init=False)  # nesting depth of recursive patterns

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

    def abbreviate(self, max_names: int = 60) -> str:
        """Return the text with `...` for groups of more than `max_names` names."""
        return "".join(
            str(part)
            if part.size <= max_names or isinstance(part, ElementStep)
            else part.abbreviate(max_names)
            for part in self.parts
        )

    def advertisement(self) -> Advertisement:
        """Return the automaton that accepts the paths of the expression."""
        return union([self])


def recursion_class(patterns: int, nested: int) -> RecursionClass:
    """Return the class of an expression by its number and nesting of recursive patterns."""
    if nested > 1:
        return RecursionClass.EMBEDDED
    if patterns > 1:
        return RecursionClass.SERIES
    return RecursionClass.SIMPLE if patterns else RecursionClass.NONE


def group(
    choices: Iterable[AdvertisementExpression], *, repeated: bool = True
) -> AdvertisementExpression:
    """Return the choices as one expression; nested alternatives are flattened."""
    flat: dict[AdvertisementExpression, None] = {}
    for choice in choices:
        inner = choice.parts[0]
        if len(choice.parts) == 1 and isinstance(inner, Group) and not inner.repeated:
            flat.update(dict.fromkeys(inner.choices))
        else:
            flat[choice] = None
    if len(flat) == 1 and not repeated:
        return next(iter(flat))
    return AdvertisementExpression((Group(tuple(flat), repeated),))


def union(expressions: Iterable[AdvertisementExpression]) -> Advertisement:
    """Return the advertisement whose leaf paths are the union of the expressions' paths."""
    glushkov = _GlushkovBuilder()
    roots = leaves = 0
    for expression in expressions:
        first, last = glushkov.sequence(expression)
        roots |= first
        leaves |= last
    return Advertisement.build(glushkov.labels, glushkov.below, roots, leaves)


class _GlushkovBuilder:
    """Glushkov's construction; each method returns the first and last states of its part."""

    def __init__(self) -> None:
        self.labels: list[ElementLabel] = []
        self.below: list[int] = []

    def sequence(self, expression: AdvertisementExpression) -> tuple[int, int]:
        first, last = self.part(expression.parts[0])
        for part in expression.parts[1:]:
            following, end = self.part(part)
            self.connect(last, following)
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
            self.connect(last, first)
        return first, last

    def connect(self, sources: int, targets: int) -> None:
        for state in bits(sources):
            self.below[state] |= targets
