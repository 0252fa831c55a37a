"""The few labels, attributes and values that random documents and random subscriptions share.

Simple things come first, and `chance` is false for the smallest roll: where hypothesis provides the
randomness it shrinks towards the beginning of a pool and away from what is only sometimes there.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

__all__ = [
    "ATTRIBUTES",
    "LABELS",
    "LANGUAGES",
    "NATIVE",
    "NUMBERS",
    "WHOLE",
    "Knobs",
    "chance",
    "value",
]

LABELS = ("a", "a", "a", "b", "b", "b", "c", "c", "d")
ATTRIBUTES = ("x", "y", "p:x", "xml:lang", "xml:id")
NUMBERS = ("1", "2", "3", "5", "5", "10", "-3", "0", "0.5", "1.50")
WORDS = ("abc", "ab", "b", "é", "a b", "x", "en")
# What one number parser takes and another does not; libxml2's answer counts.
ODD_VALUES = (
    *(
        "",
        " ",
        " 5 ",
        "\t5\n",
        "1e3",
        "1E2",
        "1e",
        "1e+2",
        "1e-2",
        "1e400",
        "-1e400",
        "+5",
        "-",
        ".",
    ),
    *(
        "--5",
        "- 5",
        "5.",
        ".5",
        "-.5",
        "-0",
        "05",
        "0x10",
        "1_0",
        "5 5",
        "5abc",
        "NaN",
        "nan",
        "inf",
    ),
    *(
        "Infinity",
        "\u0665",
        "\uff15",
        "\u00a05",
        "0.1",
        "0.30000000000000004",
        "12345678901234567890",
    ),
    *("-5", "5.0", "\U0001f600", "abcabc", "Abc", "en-GB", "it's", '"5"', "<&>", "\u0301", "true"),
)
LANGUAGES = ("en", "en-GB", "fr", "")


@dataclass(frozen=True, slots=True)
class Knobs:
    """What the expressions look like; each number is a probability at every choice it governs."""

    residual: float = 0.0  # a construct that is no part of a tree pattern
    relative: float = 0.3  # a top-level path that starts with neither / nor //
    odd: float = 0.08  # white space, redundant parentheses and steps, full axes, doubled conditions
    depth: int = 2  # how deep predicates nest


NATIVE = Knobs()
WHOLE = Knobs(residual=0.2)


def value(rng: Random) -> str:
    """A text that a document holds or a subscription asks for."""
    roll = rng.random()
    if roll < 0.55:
        return rng.choice(NUMBERS)
    return rng.choice(WORDS) if roll < 0.8 else rng.choice(ODD_VALUES)


def chance(rng: Random, probability: float) -> bool:
    """True that often; false for the smallest roll."""
    return rng.random() >= 1 - probability
