"""The subscriptions that matched no document, with the reason where a name shows it.

Reasons come from the names in the documents (`NameCensus`), collected while some subscription has
not matched. Only the first `MAX_LISTED` subscriptions are explained: each must be parsed again.
"""

from __future__ import annotations

import operator
from itertools import compress, islice
from typing import Final

from pathcast.cli.console import plural, say
from pathcast.documents import Limits
from pathcast.matching import Matcher, Matches, NameCensus
from pathcast.matching.matches import Id

__all__ = ["UnmatchedSubscriptions"]

MAX_LISTED: Final = 10
_NO_REASON: Final = "its names occur, but not as it demands"


class UnmatchedSubscriptions:
    """The subscriptions of a matcher that have matched no document so far.

    No subscription is added or removed meanwhile, so numbers follow the order of the ids.
    """

    def __init__(self, matcher: Matcher, limits: Limits) -> None:
        self._matcher = matcher
        self._census = NameCensus(limits)
        self._is_decided = bytearray(len(matcher))  # by number; a set would take 50 times as much
        self._undecided: set[Id] = set()
        self._documents = 0

    def on_match(self, body: bytes, matches: Matches) -> None:
        """Take the matches of a document, and its names."""
        self._documents += 1
        for number in matches.numbers:
            self._is_decided[number] = 1
        self._undecided.update(matches.errors)
        if self._is_decided.find(0) >= 0:
            self._census.add(body)

    def report(self, source: str) -> None:
        """Write the subscriptions of the file `source` that matched nothing to stderr.

        Those that were undecided on a document are not among them: they might have matched.
        """
        for number, id in enumerate(self._matcher if self._undecided else ()):
            if id in self._undecided:
                self._is_decided[number] = 1
        count = self._is_decided.count(0)
        if not count or not self._documents:
            return
        total = plural(len(self._matcher), "subscription")
        examined = ""
        if self._census.documents < self._documents:
            sample = f"{self._census.documents:,} of {plural(self._documents, 'document')}"
            examined = f" (names from {sample})"
        say(f"pathcast: {count:,} of {total} matched no document{examined}", "yellow")
        reasons = []
        for id in islice(compress(self._matcher, map(operator.not_, self._is_decided)), MAX_LISTED):
            text = self._matcher.get(id)
            reasons.append(self._census.explain(text.xpath, text.namespaces))
            say(f"  {id}: {reasons[-1] or _NO_REASON}")
        if count > len(reasons):
            say(f"  and {count - len(reasons):,} more")
        if not all(reasons):
            say(f"  hint: pathcast explain {source} ID DOCUMENT... says where one fails")
