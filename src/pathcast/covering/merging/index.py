"""Many linear patterns, and which of them a pattern covers or is covered by.

A pattern that covers another has no name that the other has not. So for every name there is the set of patterns that have it, as the bits of
one number, and a few operations on these numbers leave the few patterns that are worth reading. With 10,000 patterns a question takes
some microseconds for each name, and about one for each pattern read.

>>> index = LinearPathIndex()
>>> for steps in (("/a", "/b"), ("/a", "/c"), ("/x", "/*")):
...     index.add(steps)
>>> index.covered_by(("/a", "/*")), index.covering(("/x", "/b"))
([('/a', '/b'), ('/a', '/c')], [('/x', '/*')])
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.covering.merging.linear import ShiftAndNfa, Steps, single_nfa, step_name

__all__ = ["LinearPathIndex"]


class LinearPathIndex:
    """A set of patterns. Answers are in the order in which numbers were given: that of coming, as long as nothing leaves."""

    __slots__ = ("_all", "_free", "_machines", "_numbers", "_patterns", "_with")

    def __init__(self) -> None:
        self._patterns: list[Steps] = []
        self._machines: list[ShiftAndNfa] = []
        self._numbers: dict[Steps, int] = {}
        self._free: list[int] = []  # numbers of those that left
        self._with: dict[str, int] = {}  # name -> the patterns that have it
        self._all = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Steps]:
        return iter(self._numbers)

    def __contains__(self, steps: Steps) -> bool:
        return steps in self._numbers

    def add(self, steps: Steps) -> None:
        """Take a pattern that is not here."""
        machine = single_nfa(steps)
        if self._free:
            number = self._free.pop()
            self._patterns[number], self._machines[number] = steps, machine
        else:
            number = len(self._patterns)
            self._patterns.append(steps)
            self._machines.append(machine)
        self._numbers[steps] = number
        self._all |= 1 << number
        for one in _names(steps):
            self._with[one] = self._with.get(one, 0) | 1 << number

    def discard(self, steps: Steps) -> None:
        """Let a pattern go, if it is here."""
        number = self._numbers.pop(steps, None)
        if number is None:
            return
        self._free.append(number)
        self._all ^= 1 << number
        for one in _names(steps):
            self._with[one] ^= 1 << number
            if not self._with[one]:
                del self._with[one]

    def covered_by(self, steps: Steps) -> list[Steps]:
        """The patterns that this one covers, itself among them if it is here."""
        left = self._all
        for one in _names(steps):
            left &= self._with.get(one, 0)
        machine = single_nfa(steps)
        found = (self._patterns[number] for number in _bits(left))
        return [pattern for pattern in found if machine.accepts(pattern)]

    def covering(self, steps: Steps) -> list[Steps]:
        """The patterns that cover this one, itself among them if it is here."""
        own = _names(steps)
        strange = 0
        for one, those in self._with.items():
            if one not in own:
                strange |= those
        found = _bits(self._all & ~strange)
        return [self._patterns[number] for number in found if self._machines[number].accepts(steps)]


def _names(steps: Steps) -> set[str]:
    return {step_name(step) for step in steps} - {"*"}


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
