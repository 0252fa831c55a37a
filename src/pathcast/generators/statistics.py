"""Streaming statistics of generated subscriptions and documents.

Subscriptions are tokenised, not parsed, since parsing a million would take longer than generating
them; the tokeniser covers the forms that `subscriptions` writes. A *step* is an element step, in a
branch or not; `*` and `//` are shares of the steps (a relative path starts with a // step). The
depth is the number of steps on the longest path. A *predicate* compares or requires something other
than an element: an attribute, a text or a position.

Sizes are of all documents; depths and element counts are of the first `MAX_PARSED`. Distinct items
are counted by 64-bit hashes, 8 bytes each. Among a million distinct items, a collision occurs once
in 40 million runs.

>>> found = SubscriptionStatistics()
>>> for text in ("/a/b//*", "/a[@n = 7][.//b/c]/d", "/a/b//*"):
...     found.add(text)
>>> found.count, found.distinct, found.steps, found.wildcards, found.descendants, found.depths
(3, 2, 10, 2, 3, Counter({3: 3}))
>>> found.branched, found.predicates
(1, 1)
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from hashlib import blake2b

__all__ = [
    "MAX_PARSED",
    "DistinctCounter",
    "DocumentStatistics",
    "MinMaxMean",
    "SubscriptionStatistics",
]

MAX_PARSED = 1000  # documents parsed for depth and elements
_TOKEN = re.compile(
    r"""'[^']*' | "[^"]*" | //? | [][@*(),] | [^\W\d][\w.:-]*\(? | [\d.]+ | [^\s\w]+""", re.VERBOSE
)


class DistinctCounter:
    """Counts items, and distinct items by hash."""

    def __init__(self) -> None:
        self._hashes = array("Q")

    def add(self, octets: bytes) -> None:
        self._hashes.append(int.from_bytes(blake2b(octets, digest_size=8).digest(), "big"))

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def distinct(self) -> int:
        """The number of distinct items; sorts all hashes, so read it once."""
        count, last = 0, -1
        for digest in sorted(self._hashes):
            count += digest != last
            last = digest
        return count


class MinMaxMean:
    """Minimum, maximum and mean of a sequence of numbers."""

    def __init__(self) -> None:
        self.count = self.total = self.least = self.most = 0

    def add(self, number: int) -> None:
        self.least = min(self.least, number) if self.count else number
        self.most = max(self.most, number)
        self.count += 1
        self.total += number

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    def __str__(self) -> str:
        return f"{self.least:,} to {self.most:,}, mean {self.mean:,.1f}"

    def as_dict(self) -> dict[str, object]:
        return {"least": self.least, "most": self.most, "mean": round(self.mean, 2)}


class SubscriptionStatistics:
    """Figures of the texts that `add` received."""

    def __init__(self) -> None:
        self._distinct = DistinctCounter()
        self.lengths = MinMaxMean()
        self.depths: Counter[int] = Counter()
        self.steps = self.wildcards = self.descendants = 0
        self.relative = self.branched = self.predicated = self.predicates = 0

    def add(self, text: str) -> None:
        self._distinct.add(text.encode())
        self.lengths.add(len(text))
        relative = not text.startswith("/")
        self.relative += relative
        self.descendants += relative
        if "[" in text:
            self._twig(text)
        else:
            deep = text.count("//")
            depth = text.count("/") - deep + relative
            self.descendants += deep
            self.wildcards += text.count("*")
            self.steps += depth
            self.depths[depth] += 1

    def _twig(self, text: str) -> None:
        outer: list[int] = []  # depth at each open bracket
        depth = deepest = predicates = branches = 0
        last = "/"
        for word in _TOKEN.findall(text):
            if word == "[":
                outer.append(depth)
                branches += 1
            elif word == "]":
                depth = outer.pop()
            elif word == "//":
                self.descendants += 1
            elif _is_step(word, last):
                depth += 1
                deepest = max(deepest, depth)
                self.steps += 1
                self.wildcards += word == "*"
            elif (last == "[" and word != ".") or (last == "." and word != "/"):
                # The bracket does not start with a step.
                predicates += 1
                branches -= 1
            last = word
        self.depths[deepest] += 1
        self.branched += branches > 0
        self.predicated += predicates > 0
        self.predicates += predicates

    @property
    def count(self) -> int:
        return len(self._distinct)

    @property
    def distinct(self) -> int:
        return self._distinct.distinct


def _is_step(word: str, last: str) -> bool:
    if last not in ("/", "//", "["):
        return False
    return word == "*" or ((word[0].isalpha() or word[0] == "_") and not word.endswith("("))


class DocumentStatistics:
    """Figures of the documents that `add` received."""

    def __init__(self) -> None:
        self._distinct = DistinctCounter()
        self.sizes = MinMaxMean()
        self.depths: Counter[int] = Counter()
        self.elements = MinMaxMean()

    def add(self, body: bytes) -> None:
        self._distinct.add(body)
        self.sizes.add(len(body))
        if self.elements.count < MAX_PARSED:
            depth, elements = _depth_and_elements(body)
            self.depths[depth] += 1
            self.elements.add(elements)

    @property
    def count(self) -> int:
        return len(self._distinct)

    @property
    def distinct(self) -> int:
        return self._distinct.distinct


def _depth_and_elements(body: bytes) -> tuple[int, int]:
    """Return the depth and the number of elements of a document."""
    from lxml import etree

    depth = deepest = elements = 0
    for event, _ in etree.iterwalk(etree.fromstring(body), events=("start", "end")):
        if event == "start":
            depth += 1
            elements += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest, elements
