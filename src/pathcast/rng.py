"""Reproducible pseudo-random numbers: one seed gives the same draws on any machine and any Python.

Of the standard library only `random.Random.random` is used: its sequence for a seed is documented
not to change, while the algorithms of `choice`, `gauss` and the others may. The distributions are
computed by comparison and addition alone. The `log` of one C library may differ from another's in
the last bit, and a byte of the output with it.

A seed and a path of labels name a stream of numbers, so every document, subscription or city has a
stream of its own. Document 7 is the same in a run of ten and in a run of a million, and processes
can share the work.

>>> SeededRandom(1, "documents", 7).below(100) == SeededRandom(1, "documents", 7).below(100)
True
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["SeededRandom", "Zipf"]

T = TypeVar("T")


class SeededRandom:
    """A random number generator named by a seed and labels; `random()` draws from [0, 1)."""

    __slots__ = ("random",)

    random: Callable[[], float]

    def __init__(self, seed: int, *labels: str | int) -> None:
        name = "/".join(str(part) for part in (seed, *labels))
        number = int.from_bytes(blake2b(name.encode(), digest_size=16).digest(), "big")
        self.random = random.Random(number).random

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1, uniformly."""
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included, uniformly."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, choices: Sequence[T]) -> T:
        """Draw one of the choices, uniformly."""
        return choices[int(self.random() * len(choices))]

    def exponential(self) -> float:
        """Draw from the exponential distribution with mean 1, by von Neumann's comparison method.

        It draws runs of falling uniform numbers. A run of odd length yields the fractional part of
        the result, its first number; each run of even length before it adds 1.
        """
        integer_part = 0
        while True:
            first = last = self.random()
            length = 1
            while (following := self.random()) < last:
                last = following
                length += 1
            if length % 2:
                return integer_part + first
            integer_part += 1


class Zipf:
    """Zipf distribution of ranks 0 to n - 1: weight 1 / (rank + 1) ** theta; theta 0 is uniform."""

    __slots__ = ("_cumulative",)

    def __init__(self, n: int, theta: float) -> None:
        weights = [round(1.0 / (rank + 1) ** theta, 12) for rank in range(n)]
        total = sum(weights)
        sums = itertools.accumulate(weights)
        self._cumulative = [partial / total for partial in sums]

    def pick(self, rng: SeededRandom) -> int:
        """Draw a rank."""
        return min(bisect.bisect_right(self._cumulative, rng.random()), len(self._cumulative) - 1)
