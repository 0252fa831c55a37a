"""What tests of a string-value say about each other: is there a string that passes, does one test follow from others?

A literal is a value test or its denial, and a set of literals asks for strings that pass them all. Two questions are answered, intersect
soundly and neither in full: `entails` says yes only if every string that passes the given literals passes the asked one, and
`is_satisfiable` says no only if no string passes. An equality pins the string down, and then intersect are exact.

Otherwise three views are kept apart: the number that the string reads as (an interval with holes, and whether it may be no number at all),
its length (likewise), and what it starts with, contains, and does not. A number with an unlucky prefix, say, is not found out.

>>> from pathcast.xpath.tree import Value, ValueKind
>>> more, most = (ValueLiteral(Value(ValueKind.NUMBER, ">", bound)) for bound in ("15", "20"))
>>> entails({most}, more), entails({more}, most)
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


@dataclass(frozen=True, slots=True)
class ValueLiteral:
    """A value test, or that it fails."""

    value: Value
    wanted: bool = True

    def holds(self, text: str) -> bool:
        return self.value.holds(text) is self.wanted


@dataclass(slots=True)
class NumberSet:
    """NumberSet between two bounds (themselves included if closed) without some of them; perhaps also what is no number."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    holes: set[float] = field(default_factory=set)
    other: bool = True
    whole: bool = False  # only whole numbers from 0 up are meant

    @classmethod
    def naturals(cls) -> NumberSet:
        """Lengths, counts and places."""
        return cls(low=0, other=False, whole=True)

    def narrow(self, op: str, bound: float, wanted: bool = True) -> None:
        """Leave only what passes a comparison, or only what fails it; no number passes `!=` alone."""
        self.other = self.other and wanted is (op == "!=")
        if not wanted:
            op = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[op]
        match op:
            case "=":
                self._above(bound, False)
                self._below(bound, False)
            case "!=":
                self.holes.add(bound)
            case "<" | "<=":
                self._below(bound, op == "<")
            case _:
                self._above(bound, op == ">")
        if self.whole:
            self._to_whole()

    def _above(self, bound: float, open_: bool) -> None:
        if (bound, open_) > (self.low, self.low_open):
            self.low, self.low_open = bound, open_

    def _below(self, bound: float, open_: bool) -> None:
        if (bound, not open_) < (self.high, not self.high_open):
            self.high, self.high_open = bound, open_

    def _to_whole(self) -> None:
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
    def none(self) -> bool:
        """Whether it is sure that no number is left."""
        if self.low > self.high:
            return True
        if self.low == self.high:
            return self.low_open or self.high_open or self.low in self.holes
        return False

    def within(self, other: NumberSet) -> bool:
        """Whether all that is left here is left there."""
        if self.other and not other.other:
            return False
        if self.none:
            return True
        if (self.low, self.low_open) < (other.low, other.low_open):
            return False
        if (self.high, not self.high_open) > (other.high, not other.high_open):
            return False
        return all(hole in self.holes or not self._spans(hole) for hole in other.holes)

    def _spans(self, value: float) -> bool:
        above = value > self.low or (value == self.low and not self.low_open)
        below = value < self.high or (value == self.high and not self.high_open)
        return above and below and (not self.whole or value == math.floor(value))


def is_satisfiable(given: Collection[ValueLiteral]) -> bool:
    """Whether some string may pass them all; never wrongly no."""
    text = equality_constant(given)
    if text is not None:
        return all(one.holds(text) for one in given)
    return not _Facts.of(given).impossible


def entails(given: Collection[ValueLiteral], asked: ValueLiteral) -> bool:
    """Whether every string that passes all the given passes the asked one; never wrongly yes."""
    if asked in given:
        return True
    text = equality_constant(given)
    if text is not None:
        return asked.holds(text)
    value = asked.value
    if value.kind is ValueKind.STRING:
        if asked.wanted is (value.op == "="):
            return False
        return not all(one.holds(value.operand) for one in given)
    facts = _Facts.of(given)
    if facts.impossible:
        return True
    match value.kind:
        case ValueKind.NUMBER:
            return facts.numbers.within(_numbers([asked], ValueKind.NUMBER))
        case ValueKind.LENGTH:
            return facts.lengths.within(_numbers([asked], ValueKind.LENGTH))
        case ValueKind.CONTAINS:
            return facts.has(value.operand) if asked.wanted else facts.lacks(value.operand)
        case _:
            return facts.starts(value.operand) if asked.wanted else facts.starts_not(value.operand)


def equality_constant(given: Iterable[ValueLiteral]) -> str | None:
    """The only string that can pass, if an equality says so."""
    for one in given:
        if one.value.kind is ValueKind.STRING and one.wanted is (one.value.op == "="):
            return one.value.operand
    return None


def _numbers(literals: Iterable[ValueLiteral], kind: ValueKind) -> NumberSet:
    found = NumberSet() if kind is ValueKind.NUMBER else NumberSet.naturals()
    for one in literals:
        if one.value.kind is kind:
            found.narrow(one.value.op, number(one.value.operand), one.wanted)
    return found


@dataclass(slots=True)
class _Facts:
    """What literals without an equality say, view by view."""

    start: str
    parts: list[str]
    no_starts: list[str]
    no_parts: list[str]
    numbers: NumberSet
    lengths: NumberSet
    clash: bool = False

    @classmethod
    def of(cls, given: Collection[ValueLiteral]) -> _Facts:
        texts: dict[tuple[ValueKind, bool], list[str]] = {}
        for one in given:
            texts.setdefault((one.value.kind, one.wanted), []).append(one.value.operand)
        starts = texts.get((ValueKind.STARTS_WITH, True), [])
        facts = cls(
            start=max(starts, key=len, default=""),
            parts=texts.get((ValueKind.CONTAINS, True), []),
            no_starts=texts.get((ValueKind.STARTS_WITH, False), []),
            no_parts=texts.get((ValueKind.CONTAINS, False), []),
            numbers=_numbers(given, ValueKind.NUMBER),
            lengths=_numbers(given, ValueKind.LENGTH),
        )
        least = max((len(one) for one in (facts.start, *facts.parts)), default=0)
        facts.lengths.narrow(">=", least if facts.numbers.other else max(least, 1))
        seen = (facts.start, *facts.parts)
        if any(not _NUMERIC.issuperset(one) for one in seen):
            facts.numbers.low, facts.numbers.high = math.inf, -math.inf
        facts.clash = (
            any(not facts.start.startswith(one) for one in starts)
            or any(facts.start.startswith(one) for one in facts.no_starts)
            or any(no in one for no in facts.no_parts for one in seen)
            or facts.lengths.none
        )
        return facts

    @property
    def impossible(self) -> bool:
        return self.clash or (self.numbers.none and not self.numbers.other)

    def has(self, part: str) -> bool:
        return part in self.start or any(part in one for one in self.parts)

    def lacks(self, part: str) -> bool:
        return any(no in part for no in self.no_parts)

    def starts(self, text: str) -> bool:
        return self.start.startswith(text)

    def starts_not(self, text: str) -> bool:
        if self.lacks(text) or any(text.startswith(no) for no in self.no_starts):
            return True
        return not (self.start.startswith(text) or text.startswith(self.start))
