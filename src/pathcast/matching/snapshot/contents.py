"""The lists of a snapshot <-> what JSON can say; nothing that is found is believed before it is checked.

Ids may be any str, halves of surrogate pairs included, and any int; those that no int64 can hold are written as
`["hex digits"]`, for which no number of digits is too large. Everywhere else half a pair is refused,
since no document can have one. Patterns are written in columns, since there may be many, and their namespaces once.

>>> written = ids_to_json(["desk-7", 7, 1 << 64])
>>> written
['desk-7', 7, ['10000000000000000']]
>>> ids_from_json(written)
['desk-7', 7, 18446744073709551616]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pathcast.matching.matches import Id
from pathcast.matching.snapshot.faults import wrong
from pathcast.matching.snapshot.model import SavedPattern
from pathcast.matching.snapshot.plans import Plans

__all__ = [
    "ids_from_json",
    "ids_to_json",
    "names_from_json",
    "patterns_from_json",
    "patterns_to_json",
    "values_from_json",
]

_LARGE: Final = 1 << 63
_OPS: Final = {"string": ("=", "!="), "number": ("=", "!=", "<", "<=", ">", ">=")}


def ids_to_json(ids: Iterable[Id]) -> list[str | int | list[str]]:
    """Ids as they are written, large ones as text."""
    return [
        id if isinstance(id, str) or -_LARGE <= id < _LARGE else [format(id, "x")] for id in ids
    ]


def ids_from_json(found: list[Any]) -> list[Id]:
    """The ids that were written, no two of them equal."""
    kinds = set(map(type, found))
    if list in kinds:
        found = [_large(one) if type(one) is list else one for one in found]
        kinds = set(map(type, found))
    if not kinds <= {str, int}:
        wrong("an id that is neither a text nor a whole number")
    if len(set(found)) < len(found):
        wrong("an id that two subscriptions have")
    return found


def _large(found: list[Any]) -> int:
    """The number that stands as ["hex digits"]."""
    try:
        (text,) = found
        value = int(text, 16)
    except (TypeError, ValueError):
        value = 0
    if -_LARGE <= value < _LARGE:
        wrong("a large id that is none")
    return value


def names_from_json(found: list[Any]) -> list[str]:
    """The names of the vocabulary."""
    if not set(map(type, found)) <= {str} or not all(found):
        wrong("a name that is not a text")
    if len(set(found)) < len(found):
        wrong("a name that has two numbers")
    if any(name[0] == "{" and "}" not in name for name in found):
        wrong("a name with half a namespace")
    _check_text(found)
    return found


def values_from_json(found: list[Any]) -> list[tuple[str, str, str]]:
    """The value tests of the vocabulary: kind, operator and operand."""
    tests = [_value(one) for one in found]
    if len(set(tests)) < len(tests):
        wrong("a value test that has two numbers")
    _check_text(operand for _, _, operand in tests)
    return tests


def _value(found: Any) -> tuple[str, str, str]:
    match found:
        case [str(kind), str(op), str(operand)] if op in _OPS.get(kind, ()):
            if kind == "number" and not _is_number(operand):
                wrong("a value test with a number that is none")
        case _:
            wrong("a value test that is not a kind, an operator and an operand")
    return kind, op, operand


def _is_number(text: str) -> bool:
    """Whether this is how a number is spelled; there is one way for each, so that equal ones are one."""
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        return False
    return not math.isnan(value) and (value + 0.0).hex() == text


def _check_text(texts: Iterable[str]) -> None:
    """Refuse what the core could not look for in a document: halves of surrogate pairs, which JSON can spell."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong("half a surrogate pair outside of the ids")


def patterns_to_json(patterns: Sequence[SavedPattern]) -> tuple[list[Any], ...]:
    """The columns of patterns, all but their plans."""
    spaces: dict[tuple[tuple[str, str], ...], int] = {}
    return (
        [one.text for one in patterns],
        [one.check for one in patterns],
        [one.quadratic_on_sibling_runs for one in patterns],
        [one.expensive for one in patterns],
        [spaces.setdefault(one.namespaces, len(spaces)) for one in patterns],
        list(spaces),
    )


def patterns_from_json(columns: list[Any], plan: Plans) -> list[SavedPattern]:
    """The patterns in these columns, each with its part of the plans."""
    kinds: tuple[set[type], ...] = ({str}, {str, type(None)}, {bool}, {bool}, {int}, {list})
    if len(columns) != len(kinds):
        wrong("patterns that are not six columns")
    for column, allowed in zip(columns, kinds, strict=True):
        if type(column) is not list or not set(map(type, column)) <= allowed:
            wrong("patterns with a column of something else")
    texts, checks, fears, expensive, spaces, distinct = columns
    if len({len(column) for column in columns[:-1]}) > 1:
        wrong("patterns with columns of different lengths")
    if spaces and not 0 <= min(spaces) <= max(spaces) < len(distinct):
        wrong("a pattern whose namespaces are missing")
    known = [tuple([_pair(pair) for pair in one]) for one in distinct]
    _check_text(texts)
    _check_text(filter(None, checks))
    _check_text(part for one in known for pair in one for part in pair)
    namespaces = [known[place] for place in spaces]
    alternatives = plan.all(len(texts))
    return list(map(SavedPattern, texts, namespaces, checks, fears, expensive, alternatives))


def _pair(found: Any) -> tuple[str, str]:
    match found:
        case [str(prefix), str(address)]:
            pass
        case _:
            wrong("a namespace that is not a prefix and an address")
    return prefix, address
