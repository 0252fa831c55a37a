"""Sets of states as numbers: bit i is state i."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["bits", "closure", "image", "mask", "transpose"]


def bits(states: int) -> Iterator[int]:
    """The numbers in a set, smallest first."""
    while states:
        low = states & -states
        yield low.bit_length() - 1
        states ^= low


def mask(numbers: Iterable[int]) -> int:
    """The set of these numbers."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def image(table: Sequence[int], states: int) -> int:
    """All that the table has for any of the states."""
    found = 0
    for number in bits(states):
        found |= table[number]
    return found


def closure(table: Sequence[int], states: int) -> int:
    """The states, and all that these lead to in any number of steps."""
    found = fresh = states
    while fresh:
        fresh = image(table, fresh) & ~found
        found |= fresh
    return found


def transpose(table: Sequence[int]) -> list[int]:
    """The table with its arrows turned round."""
    found = [0] * len(table)
    for number, states in enumerate(table):
        for one in bits(states):
            found[one] |= 1 << number
    return found
