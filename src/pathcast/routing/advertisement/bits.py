"""Sets of states as integer bit masks: bit i stands for state i."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["bits", "closure", "image", "mask", "transpose"]


def bits(states: int) -> Iterator[int]:
    """Yield the states of a set in ascending order."""
    while states:
        low = states & -states
        yield low.bit_length() - 1
        states ^= low


def mask(numbers: Iterable[int]) -> int:
    """Return the set of the given states."""
    states = 0
    for number in numbers:
        states |= 1 << number
    return states


def image(table: Sequence[int], states: int) -> int:
    """Return the image of a set under a relation: the union of its rows for the states."""
    union = 0
    for number in bits(states):
        union |= table[number]
    return union


def closure(table: Sequence[int], states: int) -> int:
    """Return all states that are reachable in any number of steps, the start states included."""
    reached = fresh = states
    while fresh:
        fresh = image(table, fresh) & ~reached
        reached |= fresh
    return reached


def transpose(table: Sequence[int]) -> list[int]:
    """Return the relation with every edge reversed."""
    reverse = [0] * len(table)
    for source, states in enumerate(table):
        for target in bits(states):
            reverse[target] |= 1 << source
    return reverse
