"""Entailment and satisfiability of tests on a string-value.

A literal is a value test or its negation; a set of literals is their conjunction. `entails` and
`is_satisfiable` are sound and incomplete: `entails` is True only if every string that satisfies
the given literals satisfies the required one, and `is_satisfiable` is False only if no string
satisfies them all. If an equality fixes the string, both are exact.

Otherwise three abstractions of the string are kept apart: its number value (an interval with holes,
and whether it may be NaN), its length (likewise), and its prefix and substrings. Contradictions
between them, say a number with an impossible prefix, are not detected.

>>> from pathcast.xpath.tree import Value, ValueKind
>>> above_15, above_20 = (ValueLiteral(Value(ValueKind.NUMBER, ">", n)) for n in ("15", "20"))
>>> entails({above_20}, above_15), entails({above_15}, above_20)
(True, False)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pathcast.xpath.numbers import number
from pathcast.xpath.tree import Value, ValueKind

__all__ = ["NumberSet", "ValueLiteral", "entails", "equality_constant", "is_satisfiable"]

_NUMERIC = frozenset("0123456789+-.eE \t\r\n")
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class ValueLiteral:
    """A value test (`wanted`) or its negation."""

    value: Value
    wanted: bool = True

    def holds(self, text: str) -> bool:
        return self.value.holds(text) is self.wanted


@dataclass(slots=True)
class NumberSet:
    """A set of numbers: an interval without some points, and possibly NaN."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    holes: set[float] = field(default_factory=set)
    has_nan: bool = True
    integral: bool = False  # only non-negative integers; the bounds are then tight

    @classmethod
    def naturals(cls) -> NumberSet:
        """Return the set of all lengths, counts and positions."""
        return cls(low=0, has_nan=False, integral=True)

    def narrow(self, op: str, bound: float, wanted: bool = True) -> None:
        """Keep the numbers for which the comparison is `wanted`; NaN passes `!=` only."""
        self.has_nan = self.has_nan and wanted is (op == "!=")
        if not wanted:
            op = _NEGATED[op]
        match op:
            case "=":
                self._raise_low(bound, False)
                self._lower_high(bound, False)
            case "!=":
                self.holes.add(bound)
            case "<" | "<=":
                self._lower_high(bound, op == "<")
            case _:
                self._raise_low(bound, op == ">")
        if self.integral:
            self._tighten_to_integers()

    def _raise_low(self, bound: float, is_open: bool) -> None:
        if (bound, is_open) > (self.low, self.low_open):
            self.low, self.low_open = bound, is_open

    def _lower_high(self, bound: float, is_open: bool) -> None:
        if (bound, not is_open) < (self.high, not self.high_open):
            self.high, self.high_open = bound, is_open

    def _tighten_to_integers(self) -> None:
        if math.isfinite(self.low):
            up = math.ceil(self.low)
            self.low = float(up + 1 if self.low_open and up == self.low else up)
            self.low_open = False
        if math.isfinite(self.high):
            down = math.floor(self.high)
            self.high = float(down - 1 if self.high_open and down == self.high else down)
            self.high_open = False
        while self.low in self.holes:
            self.low += 1
        while self.high in self.holes and self.high >= self.low:
            self.high -= 1

    @property
    def is_empty(self) -> bool:
        """Whether the set certainly contains no number; NaN is not counted."""
        if self.low > self.high:
            return True
        if self.low == self.high:
            return self.low_open or self.high_open or self.low in self.holes
        return False

    def issubset(self, other: NumberSet) -> bool:
        if self.has_nan and not other.has_nan:
            return False
        if self.is_empty:
            return True
        if (self.low, self.low_open) < (other.low, other.low_open):
            return False
        if (self.high, not self.high_open) > (other.high, not other.high_open):
            return False
        return all(hole in self.holes or not self._spans(hole) for hole in other.holes)

    def _spans(self, value: float) -> bool:
        above = value > self.low or (value == self.low and not self.low_open)
        below = value < self.high or (value == self.high and not self.high_open)
        return above and below and (not self.integral or value == math.floor(value))


def is_satisfiable(given: Collection[ValueLiteral]) -> bool:
    """Return False only if no string satisfies all literals."""
    text = equality_constant(given)
    if text is not None:
        return all(literal.holds(text) for literal in given)
    return not _StringFacts.of(given).contradictory


def entails(given: Collection[ValueLiteral], required: ValueLiteral) -> bool:
    """Return True only if every string that satisfies the given literals satisfies the other."""
    if required in given:
        return True
    text = equality_constant(given)
    if text is not None:
        return required.holds(text)
    value = required.value
    if value.kind is ValueKind.STRING:
        if required.wanted is (value.op == "="):
            return False
        return not all(literal.holds(value.operand) for literal in given)
    facts = _StringFacts.of(given)
    if facts.contradictory:
        return True
    wanted, operand = required.wanted, value.operand
    match value.kind:
        case ValueKind.NUMBER:
            return facts.numbers.issubset(_number_set([required], ValueKind.NUMBER))
        case ValueKind.LENGTH:
            return facts.lengths.issubset(_number_set([required], ValueKind.LENGTH))
        case ValueKind.CONTAINS:
            return facts.contains(operand) if wanted else facts.excludes(operand)
        case _:
            return facts.starts_with(operand) if wanted else facts.never_starts_with(operand)


def equality_constant(given: Iterable[ValueLiteral]) -> str | None:
    """Return the only string that can satisfy the literals, if an equality fixes it."""
    for literal in given:
        value = literal.value
        if value.kind is ValueKind.STRING and literal.wanted is (value.op == "="):
            return value.operand
    return None


def _number_set(literals: Iterable[ValueLiteral], kind: ValueKind) -> NumberSet:
    numbers = NumberSet() if kind is ValueKind.NUMBER else NumberSet.naturals()
    for literal in literals:
        if literal.value.kind is kind:
            numbers.narrow(literal.value.op, number(literal.value.operand), literal.wanted)
    return numbers


@dataclass(slots=True)
class _StringFacts:
    """Facts about a string that follow from literals without an equality."""

    prefix: str
    substrings: list[str]
    excluded_prefixes: list[str]
    excluded_substrings: list[str]
    numbers: NumberSet
    lengths: NumberSet
    clash: bool = False

    @classmethod
    def of(cls, given: Collection[ValueLiteral]) -> _StringFacts:
        texts: dict[tuple[ValueKind, bool], list[str]] = {}
        for literal in given:
            key = (literal.value.kind, literal.wanted)
            texts.setdefault(key, []).append(literal.value.operand)
        prefixes = texts.get((ValueKind.STARTS_WITH, True), [])
        facts = cls(
            prefix=max(prefixes, key=len, default=""),
            substrings=texts.get((ValueKind.CONTAINS, True), []),
            excluded_prefixes=texts.get((ValueKind.STARTS_WITH, False), []),
            excluded_substrings=texts.get((ValueKind.CONTAINS, False), []),
            numbers=_number_set(given, ValueKind.NUMBER),
            lengths=_number_set(given, ValueKind.LENGTH),
        )
        parts = (facts.prefix, *facts.substrings)
        min_length = max(len(part) for part in parts)
        if not facts.numbers.has_nan:  # the empty string is NaN
            min_length = max(min_length, 1)
        facts.lengths.narrow(">=", min_length)
        if any(not _NUMERIC.issuperset(part) for part in parts):
            facts.numbers.low, facts.numbers.high = math.inf, -math.inf
        facts.clash = (
            any(not facts.prefix.startswith(prefix) for prefix in prefixes)
            or any(facts.prefix.startswith(prefix) for prefix in facts.excluded_prefixes)
            or any(excluded in part for excluded in facts.excluded_substrings for part in parts)
            or facts.lengths.is_empty
        )
        return facts

    @property
    def contradictory(self) -> bool:
        return self.clash or (self.numbers.is_empty and not self.numbers.has_nan)

    def contains(self, text: str) -> bool:
        return text in self.prefix or any(text in part for part in self.substrings)

    def excludes(self, text: str) -> bool:
        return any(excluded in text for excluded in self.excluded_substrings)

    def starts_with(self, text: str) -> bool:
        return self.prefix.startswith(text)

    def never_starts_with(self, text: str) -> bool:
        if self.excludes(text):
            return True
        if any(text.startswith(excluded) for excluded in self.excluded_prefixes):
            return True
        return not (self.prefix.startswith(text) or text.startswith(self.prefix))
