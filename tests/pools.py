"""The small pools of labels, attributes and values that random documents and subscriptions share.

Simple values come first, and `chance` is false for the smallest draw. So hypothesis, as the source
of randomness, shrinks towards the start of a pool and away from optional constructs.
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
    "SIDEWAYS",
    "WHOLE",
    "Knobs",
    "chance",
    "value",
]

LABELS = ("a", "a", "a", "b", "b", "b", "c", "c", "d")
ATTRIBUTES = ("x", "y", "p:x", "xml:lang", "xml:id")
NUMBERS = ("1", "2", "3", "5", "5", "10", "-3", "0", "0.5", "1.50")
WORDS = ("abc", "ab", "b", "é", "a b", "x", "en")
# Texts on which number parsers disagree; libxml2 decides.
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
    """Parameters of random expressions; the floats are probabilities at each choice."""

    residual: float = 0.0  # a construct outside tree patterns
    sideways: float = 0.0  # an axis outside the subtree, or a string function around a value
    relative: float = 0.3  # a top-level path that starts with neither / nor //
    odd: float = 0.08  # white space, redundant parentheses and steps, full axes, doubled conditions
    depth: int = 2  # maximum nesting of predicates


NATIVE = Knobs()
WHOLE = Knobs(residual=0.2)
SIDEWAYS = Knobs(sideways=0.4)


def value(rng: Random) -> str:
    """Return a random text for a document or for a comparison."""
    roll = rng.random()
    if roll < 0.55:
        return rng.choice(NUMBERS)
    return rng.choice(WORDS) if roll < 0.8 else rng.choice(ODD_VALUES)


def chance(rng: Random, probability: float) -> bool:
    """Return True with this probability; False for the smallest draw."""
    return rng.random() >= 1 - probability
