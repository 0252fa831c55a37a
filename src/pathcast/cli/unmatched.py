"""The subscriptions that matched no document, with the reason where a name shows it.

Reasons come from the names in the documents (`NameCensus`), collected while some subscription has
not matched. Only the first `MAX_LISTED` subscriptions are explained: each must be parsed again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pathcast.cli.console import plural, say
from pathcast.documents import Limits
from pathcast.matching import Matcher, NameCensus
from pathcast.matching.matches import Id

__all__ = ["UnmatchedSubscriptions"]

MAX_LISTED: Final = 10
_NO_REASON: Final = "its names occur, but not as it demands"


class UnmatchedSubscriptions:
    """The subscriptions of a matcher that have matched no document so far."""

    def __init__(self, matcher: Matcher, limits: Limits) -> None:
        self._matcher = matcher
        self._census = NameCensus(limits)
        self._ids = set(matcher)
        self._documents = 0

    def on_match(self, body: bytes, ids: Iterable[Id], undecided: Iterable[Id]) -> None:
        """Remove the subscriptions that a document matches, or that are undecided on it."""
        self._documents += 1
        if self._ids:
            self._ids.difference_update(ids, undecided)
        if self._ids:
            self._census.add(body)

    def report(self, source: str) -> None:
        """Write the subscriptions of the file `source` that matched nothing to stderr."""
        if not self._ids or not self._documents:
            return
        total = plural(len(self._matcher), "subscription")
        examined = ""
        if self._census.documents < self._documents:
            sample = f"{self._census.documents:,} of {plural(self._documents, 'document')}"
            examined = f" (names from {sample})"
        say(f"pathcast: {len(self._ids):,} of {total} matched no document{examined}", "yellow")
        listed = [id for id in self._matcher if id in self._ids][:MAX_LISTED]
        reasons = []
        for id in listed:
            text = self._matcher.get(id)
            reasons.append(self._census.explain(text.xpath, text.namespaces))
            say(f"  {id}: {reasons[-1] or _NO_REASON}")
        if len(self._ids) > len(listed):
            say(f"  and {len(self._ids) - len(listed):,} more")
        if not all(reasons):
            say(f"  hint: pathcast explain {source} ID DOCUMENT... says where one fails")
