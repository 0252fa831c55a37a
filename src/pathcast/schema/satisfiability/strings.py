"""Strings that pass value tests, by generate and test.

The search is incomplete: candidates are made from the operands (operands, numbers at, between and
beside them, prefix + parts + padding) and tried. So None means "not found".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from pathcast.budget import WorkBudget
from pathcast.xpath.numbers import number
from pathcast.xpath.tree import Always, And, Condition, Not, Or, Value, ValueKind

__all__ = ["could_be_blank", "find_string", "holds"]

_MAX_PADDING = 1000  # characters, for string-length tests


def holds(condition: Condition, text: str) -> bool | None:
    """Return whether a leaf node with this string-value meets a condition; None if unknown."""
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


def find_string(
    conditions: Iterable[Condition], budget: WorkBudget, first: Iterable[str] = ()
) -> str | None:
    """Return a string that no condition rejects for certain; those in `first` are tried first."""
    required = tuple(conditions)
    for text in itertools.chain(first, _candidates(required)):
        budget.spend(1 + len(required) // 10)  # most candidates fail early
        if all(holds(condition, text) is not False for condition in required):
            return text
    return None


def could_be_blank(condition: Condition) -> bool:
    """Return whether white space may pass; never wrongly False."""
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
    texts = [
        value.operand for value in values if value.kind not in (ValueKind.NUMBER, ValueKind.LENGTH)
    ]
    yield from ("x", "1", "", " ", "text", "0")
    yield from texts
    numbers = sorted({number(value.operand) for value in values if value.kind is ValueKind.NUMBER})
    numbers = [value for value in numbers if math.isfinite(value)]
    for low, high in itertools.pairwise(numbers):
        yield _format_number((low + high) / 2)
    for operand in numbers:
        for step in (0, 1, -1, 0.5, -0.5, 0.001, -0.001):
            yield _format_number(operand + step)
    starts = [value.operand for value in values if value.kind is ValueKind.STARTS_WITH]
    parts = [value.operand for value in values if value.kind is ValueKind.CONTAINS]
    start = max(starts, key=len, default="")
    combined = start + "".join(part for part in parts if part not in start)
    for text in (combined, combined + "x", *texts, "1"):
        yield text
        for value in values:
            if value.kind is ValueKind.LENGTH:
                length = number(value.operand)
                for target in (length, length + 1, length - 1):
                    if math.isfinite(target) and len(text) <= target <= _MAX_PADDING:
                        yield text + "x" * (int(target) - len(text))
                        yield "0" * (int(target) - len(text)) + text


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else format(value, ".12g")
