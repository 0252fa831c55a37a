"""The lists of a snapshot as JSON, and the checks of each list on its own.

An id may be any str, lone surrogates included, or any int. An int outside the int64 range is
written as `["hex digits"]`, because Python limits the decimal digits of an int and not its hex
digits. Lone surrogates are rejected everywhere else: no document can contain one. Patterns are
written in columns, and each distinct set of namespaces once.

>>> encoded = ids_to_json(["desk-7", 7, 1 << 64])
>>> encoded
['desk-7', 7, ['10000000000000000']]
>>> ids_from_json(encoded)
['desk-7', 7, 18446744073709551616]
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pathcast.matching.matches import Id
from pathcast.matching.snapshot.content_errors import reject
from pathcast.matching.snapshot.model import SavedPattern
from pathcast.matching.snapshot.plan_codes import PlanReader

__all__ = [
    "ids_from_json",
    "ids_to_json",
    "names_from_json",
    "patterns_from_json",
    "patterns_to_json",
    "values_from_json",
]

_INT64_LIMIT: Final = 1 << 63
_OPERATORS: Final = {
    "string": ("=", "!="),
    "number": ("=", "!=", "<", "<=", ">", ">="),
    "contains": ("",),
    "starts-with": ("",),
    "functions": ("",),
}


def ids_to_json(ids: Iterable[Id]) -> list[str | int | list[str]]:
    """Return ids as JSON values, ints outside the int64 range as hex digits."""
    return [
        id if isinstance(id, str) or -_INT64_LIMIT <= id < _INT64_LIMIT else [format(id, "x")]
        for id in ids
    ]


def ids_from_json(values: list[Any]) -> list[Id]:
    """Return the ids of a JSON list; reject duplicates."""
    types = set(map(type, values))
    if list in types:
        values = [_large_id(value) if type(value) is list else value for value in values]
        types = set(map(type, values))
    if not types <= {str, int}:
        reject("an id that is neither a text nor a whole number")
    if len(set(values)) < len(values):
        reject("an id that two subscriptions have")
    return values


def _large_id(digits: list[Any]) -> int:
    """Return the int that is written as ["hex digits"]."""
    try:
        (text,) = digits
        value = int(text, 16)
    except (TypeError, ValueError):
        value = 0
    if -_INT64_LIMIT <= value < _INT64_LIMIT:
        reject("an invalid large id")
    return value


def names_from_json(values: list[Any]) -> list[str]:
    """Return the names of the vocabulary."""
    if not set(map(type, values)) <= {str} or not all(values):
        reject("a name that is not a text")
    if len(set(values)) < len(values):
        reject("a name that has two numbers")
    if any(name[0] == "{" and "}" not in name for name in values):
        reject("a name with half a namespace")
    _check_encodable(values)
    return values


def values_from_json(values: list[Any]) -> list[tuple[str, str, str]]:
    """Return the value tests of the vocabulary: kind, operator and operand."""
    tests = [_value_test(value) for value in values]
    if len(set(tests)) < len(tests):
        reject("a value test that has two numbers")
    _check_encodable(operand for _, _, operand in tests)
    return tests


def _value_test(value: Any) -> tuple[str, str, str]:
    match value:
        case [str(kind), str(op), str(operand)] if op in _OPERATORS.get(kind, ()):
            if kind == "number" and not _is_canonical_number(operand):
                reject("a value test with an invalid number")
            if not op and not operand:
                reject("a value test without a keyword")
            if kind == "functions" and not _is_chain_of_functions(operand):
                reject("a value test with unknown string functions")
        case _:
            reject("a value test that is not a kind, an operator and an operand")
    return kind, op, operand


def _is_chain_of_functions(text: str) -> bool:
    """Whether the text is the one spelling of a chain of string functions."""
    try:
        chain = json.loads(text)
    except (ValueError, RecursionError):
        return False
    match chain:
        case [_, *_]:
            return json.dumps(chain) == text and all(map(_is_string_function, chain))
        case _:
            return False


def _is_string_function(call: object) -> bool:
    match call:
        case ["normalize-space"]:
            return True
        case ["translate", str(), str()]:
            return True
        case _:
            return False


def _is_canonical_number(text: str) -> bool:
    """Whether the text is the one spelling of a number, so that equal numbers are one test."""
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        return False
    return not math.isnan(value) and (value + 0.0).hex() == text


def _check_encodable(texts: Iterable[str]) -> None:
    """Reject lone surrogates, which JSON can spell: the core compares UTF-8."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        reject("half a surrogate pair outside of the ids")


def patterns_to_json(patterns: Sequence[SavedPattern]) -> tuple[list[Any], ...]:
    """Return the columns of patterns, all except their plans."""
    namespace_sets: dict[tuple[tuple[str, str], ...], int] = {}
    return (
        [pattern.text for pattern in patterns],
        [pattern.check for pattern in patterns],
        [pattern.quadratic_on_sibling_runs for pattern in patterns],
        [pattern.expensive for pattern in patterns],
        [
            namespace_sets.setdefault(pattern.namespaces, len(namespace_sets))
            for pattern in patterns
        ],
        list(namespace_sets),
    )


def patterns_from_json(columns: list[Any], plans: PlanReader) -> list[SavedPattern]:
    """Return the patterns of these columns, with the plans that the reader holds."""
    types: tuple[set[type], ...] = ({str}, {str, type(None)}, {bool}, {bool}, {int}, {list})
    if len(columns) != len(types):
        reject("patterns that are not six columns")
    for column, allowed in zip(columns, types, strict=True):
        if type(column) is not list or not set(map(type, column)) <= allowed:
            reject("patterns with a column of something else")
    texts, checks, quadratic, expensive, set_numbers, sets = columns
    if len({len(column) for column in columns[:-1]}) > 1:
        reject("patterns with columns of different lengths")
    if set_numbers and not 0 <= min(set_numbers) <= max(set_numbers) < len(sets):
        reject("a pattern whose namespaces are missing")
    namespace_sets = [tuple([_namespace(pair) for pair in pairs]) for pairs in sets]
    _check_encodable(texts)
    _check_encodable(filter(None, checks))
    _check_encodable(text for pairs in namespace_sets for pair in pairs for text in pair)
    namespaces = [namespace_sets[number] for number in set_numbers]
    alternatives = plans.read(len(texts))
    return list(map(SavedPattern, texts, namespaces, checks, quadratic, expensive, alternatives))


def _namespace(pair: Any) -> tuple[str, str]:
    match pair:
        case [str(prefix), str(uri)]:
            pass
        case _:
            reject("a namespace that is not a prefix and an address")
    return prefix, uri
