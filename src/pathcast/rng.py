"""Chance that is the same everywhere: one seed, the same choices on any machine and any Python.

Only `random.Random.random` is used of the standard library: its sequence for a seed is documented not to change,
while the algorithms of `choice`, `gauss` and the others may. Distributions are made from it by comparing and adding:
a C library's `log` may differ in its last bit from another's, and a byte of the output with it.

A `Chance` is named by a seed and a path, so that every document, subscription or city has a stream of its own, whatever was
made before it: document 7 is the same in a run of ten and in a run of a million, and two processes may share the work.

>>> Chance(1, "documents", 7).below(100) == Chance(1, "documents", 7).below(100)
True
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["Chance", "Zipf"]

T = TypeVar("T")


class Chance:
    """A stream of choices; `random` gives the next number in [0, 1)."""

    __slots__ = ("random",)

    random: Callable[[], float]

    def __init__(self, seed: int, *path: str | int) -> None:
        name = "/".join(str(part) for part in (seed, *path))
        number = int.from_bytes(blake2b(name.encode(), digest_size=16).digest(), "big")
        self.random = random.Random(number).random

    def below(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices, all alike."""
        return choices[int(self.random() * len(choices))]

    def exponential(self) -> float:
        """From the exponential distribution with mean 1, by von Neumann's comparisons.

        Runs of falling uniform numbers: a run of odd length ends it, every other adds one to the result.
        """
        whole = 0
        while True:
            first = last = self.random()
            length = 1
            while (following := self.random()) < last:
                last = following
                length += 1
            if length % 2:
                return whole + first
            whole += 1

    def normal(self) -> float:
        """Nearly from the normal distribution (mean 0, deviation 1): twelve uniform numbers, added.

        It never goes beyond 6, which suits weather and prices.
        """
        return sum(self.random() for _ in range(12)) - 6.0


class Zipf:
    """Ranks 0 to n - 1 with weights 1 / (rank + 1) ** theta; theta 0 makes all alike."""

    __slots__ = ("_sums",)

    def __init__(self, n: int, theta: float) -> None:
        weights = [round(1.0 / (rank + 1) ** theta, 12) for rank in range(n)]
        total = sum(weights)
        sums = itertools.accumulate(weights)
        self._sums = [one / total for one in sums]

    def pick(self, chance: Chance) -> int:
        """A rank."""
        return min(bisect.bisect_right(self._sums, chance.random()), len(self._sums) - 1)
