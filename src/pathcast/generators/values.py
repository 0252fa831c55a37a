"""Value domains of texts, attributes and predicates: integers or words, uniform or Zipfian.

The default is "integers between 1 and 100" (Cao 2012, section 3.3.1); words resemble prose. `theta`
is the exponent of Zipf's law: the first value is the most frequent, and 0 is uniform.

A `ValueDomain` is a *table*: drawing picks a line uniformly, so a skewed domain costs no more than
a uniform one. The table of a uniform domain contains every value once. That of a skewed domain has
65,536 lines, and each value occupies its share of them, to within one line. So if the values in the
tail have less than a line each, some have one and the others none. A domain of more than 65,536
integers is thinned to that many, evenly.

>>> ValueDomain().table[:3], ValueDomain(low=0, high=10**9).table[1]
(('1', '2', '3'), '15258')
>>> ValueDomain(kind="words", vocabulary=("rain", "sun")).table
('rain', 'sun')
>>> from pathcast.rng import SeededRandom
>>> ValueDomain(kind="words", theta=1.0).draw(SeededRandom(1))
'loso'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal

from pathcast.errors import WorkloadError
from pathcast.rng import SeededRandom

__all__ = ["MAX_TABLE_LINES", "ValueDomain"]

MAX_TABLE_LINES = 65_536
"""Upper bound on the lines of a table."""

_MAX_LENGTH = 1000  # values in a text
_CONSONANTS = "bdfgklmnprst"
_VOWELS = "aeiou"
_VISIBLE = r"[^\x00-\x20\x7f-\x9f\ud800-\udfff\ufffe\uffff]+"
_PLAIN_VALUE = re.compile(rf"{_VISIBLE}(?: {_VISIBLE})*")


@dataclass(frozen=True, slots=True)
class ValueDomain:
    """A value domain; `vocabulary` is the number of words, or the words by descending frequency."""

    kind: Literal["integers", "words"] = "integers"
    low: int = 1
    high: int = 100
    vocabulary: int | tuple[str, ...] = 1000
    theta: float = 0.0
    length: int = 1  # upper bound on the values of a text; an attribute has one

    def __post_init__(self) -> None:
        if self.kind not in ("integers", "words"):
            hint = "integers or words"
            raise WorkloadError("values", f"no kind of values is called {self.kind!r}", hint=hint)
        if self.low > self.high:
            message = f"there is no integer from {self.low} to {self.high}"
            raise WorkloadError("values", message, hint="low must not be above high")
        if not 0.0 <= self.theta <= 10.0:
            message = f"theta must be from 0 to 10, not {self.theta}"
            raise WorkloadError("values", message, hint="0 makes all values alike; 1 is Zipf's own")
        if not 1 <= self.length <= _MAX_LENGTH:
            message = f"a text can have 1 to {_MAX_LENGTH} values, not {self.length}"
            raise WorkloadError("values", message)
        if isinstance(self.vocabulary, int):
            if not 1 <= self.vocabulary <= MAX_TABLE_LINES:
                message = (
                    f"a vocabulary can have 1 to {MAX_TABLE_LINES} words, not {self.vocabulary}"
                )
                raise WorkloadError("values", message)
            return
        if not 1 <= len(self.vocabulary) <= MAX_TABLE_LINES:
            message = (
                f"a vocabulary can have 1 to {MAX_TABLE_LINES} words, not {len(self.vocabulary)}"
            )
            raise WorkloadError("values", message)
        for word in self.vocabulary:
            if not _PLAIN_VALUE.fullmatch(word):
                hint = "visible characters, single spaces between them"
                raise WorkloadError("values", f"{word!r} cannot be a value", hint=hint)

    @property
    def domain(self) -> tuple[str, ...]:
        """The distinct values, the most frequent first."""
        return _domain(self)

    @property
    def table(self) -> tuple[str, ...]:
        """The lines to draw from, uniformly."""
        return _table(self)

    def draw(self, rng: SeededRandom) -> str:
        """Draw a value as plain text."""
        return rng.pick(_table(self))


@lru_cache(maxsize=64)
def _domain(values: ValueDomain) -> tuple[str, ...]:
    if values.kind == "words":
        if isinstance(values.vocabulary, tuple):
            return tuple(dict.fromkeys(values.vocabulary))
        return _words(values.vocabulary)
    span = values.high - values.low + 1
    if span <= MAX_TABLE_LINES:
        return tuple(map(str, range(values.low, values.high + 1)))
    return tuple(
        str(values.low + line * span // MAX_TABLE_LINES) for line in range(MAX_TABLE_LINES)
    )


@lru_cache(maxsize=64)
def _table(values: ValueDomain) -> tuple[str, ...]:
    domain = _domain(values)
    if not values.theta:
        return domain
    weights = [round(1.0 / (rank + 1) ** values.theta, 12) for rank in range(len(domain))]
    total = sum(weights)
    ends = [
        round(MAX_TABLE_LINES * partial / total) for partial in accumulate(weights, initial=0.0)
    ]
    lines: list[str] = []
    for value, (begin, end) in zip(domain, pairwise(ends), strict=True):
        lines += [value] * (end - begin)
    return tuple(lines)


@lru_cache(maxsize=64)
def _words(count: int) -> tuple[str, ...]:
    """Return distinct words: the first 3,600 have two syllables, the others three.

    The strides are coprime to the number of words of each kind, so no word repeats.
    """
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    syllable_count = len(syllables)
    words: list[str] = []
    for rank in range(count):
        if rank < syllable_count**2:
            first, second = divmod(rank * 1597 % syllable_count**2, syllable_count)
            words.append(syllables[first] + syllables[second])
        else:
            first, pair = divmod(
                (rank - syllable_count**2) * 75011 % syllable_count**3, syllable_count**2
            )
            words.append(
                syllables[first]
                + syllables[pair // syllable_count]
                + syllables[pair % syllable_count]
            )
    return tuple(words)
