"""Strings that pass value tests: one that passes them all, or the certainty that no white space does.

Finding a string for any set of tests is not attempted in full: candidates are made from the operands (the operands
themselves, numbers at, between and beside them, prefix + parts + padding) and tried. So None means "not found".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from pathcast.xpath.numbers import number
from pathcast.xpath.tree import Always, And, Condition, Not, Or, Value, ValueKind

__all__ = ["could_be_blank", "find_string", "holds"]

_LONGEST = 1000  # characters of padding for a string-length test


def holds(condition: Condition, text: str) -> bool | None:
    """Whether a condition is true of a node without children that has this string-value; None: not known."""
    match condition:
        case Value():
            return condition.holds(text)
        case Always(holds=answer):
            return answer
        case Not(part=part):
            inner = holds(part, text)
            return None if inner is None else not inner
        case And(parts=parts):
            answers = [holds(part, text) for part in parts]
            return False if False in answers else None if None in answers else True
        case Or(parts=parts):
            answers = [holds(part, text) for part in parts]
            return True if True in answers else None if None in answers else False
        case _:
            return None


def find_string(conditions: Iterable[Condition], first: Iterable[str] = ()) -> str | None:
    """A string of which no condition is known to be false; those in `first` are tried first."""
    wanted = tuple(conditions)
    for text in (*first, *_candidates(wanted)):
        if all(holds(condition, text) is not False for condition in wanted):
            return text
    return None


def could_be_blank(condition: Condition) -> bool:
    """Whether some string of white space may pass; never wrongly False."""
    match condition:
        case Value(kind=ValueKind.LENGTH):
            return True
        case Value(kind=ValueKind.NUMBER):
            return condition.holds("")
        case Value(kind=ValueKind.STRING, op="!="):
            return True
        case Value(operand=operand):
            return not operand.strip(" \t\r\n")
        case And(parts=parts):
            return all(could_be_blank(part) for part in parts)
        case Or(parts=parts):
            return any(could_be_blank(part) for part in parts)
        case Always(holds=answer):
            return answer
        case Not(part=Value(kind=ValueKind.NUMBER) as value):
            return not value.holds("")
        case _:
            return True


def _values(conditions: Iterable[Condition]) -> Iterator[Value]:
    waiting = list(conditions)
    while waiting:
        match waiting.pop():
            case Value() as value:
                yield value
            case Not(part=part):
                waiting.append(part)
            case And(parts=parts) | Or(parts=parts):
                waiting += parts
            case _:
                pass


def _candidates(conditions: tuple[Condition, ...]) -> Iterator[str]:
    values = list(_values(conditions))
    texts = [one.operand for one in values if one.kind not in (ValueKind.NUMBER, ValueKind.LENGTH)]
    yield from ("x", "1", "", " ", "text", "0")
    yield from texts
    numbers = sorted({number(one.operand) for one in values if one.kind is ValueKind.NUMBER})
    numbers = [one for one in numbers if math.isfinite(one)]
    for low, high in itertools.pairwise(numbers):
        yield _spelled((low + high) / 2)
    for near in numbers:
        for step in (0, 1, -1, 0.5, -0.5, 0.001, -0.001):
            yield _spelled(near + step)
    starts = [one.operand for one in values if one.kind is ValueKind.STARTS_WITH]
    parts = [one.operand for one in values if one.kind is ValueKind.CONTAINS]
    start = max(starts, key=len, default="")
    whole = start + "".join(part for part in parts if part not in start)
    for text in (whole, whole + "x", *texts, "1"):
        yield text
        for one in values:
            if one.kind is ValueKind.LENGTH:
                length = number(one.operand)
                for wanted in (length, length + 1, length - 1):
                    if math.isfinite(wanted) and len(text) <= wanted <= _LONGEST:
                        yield text + "x" * (int(wanted) - len(text))
                        yield "0" * (int(wanted) - len(text)) + text


def _spelled(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else format(value, ".12g")
