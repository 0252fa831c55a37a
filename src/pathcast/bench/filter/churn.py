"""Churn: the rate of matching while subscriptions change, relative to the rate without changes.

After each document the benchmark adds and removes as many subscriptions as the elapsed CPU time
requires, a thousand of both per second. That time includes adding and removing. It removes the
oldest and adds texts that are not present, so that equal subscriptions save nothing. Removed texts
return much later.

A second matcher without changes gives the reference rate. A single matcher that alternates would
spend its quiet turn on merging the changes of the busy one.

An engine that cannot keep up would never finish, so the changes per document have a limit. It is a
hundred times what is due for a document of one millisecond, and an engine that needs it misses the
target.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pathcast.bench.filter.context import FilterContext, join_notes, load_matcher
from pathcast.bench.measure import compare
from pathcast.bench.report import ReportLine
from pathcast.matching import Matcher

__all__ = ["churn"]

_CHURN = {100_000: 0.7}
_CHANGES_PER_SECOND = 1_000  # of CPU time; a change adds one subscription and removes one
_MAX_CHANGES_PER_DOCUMENT = 100
_SPARE_TEXTS = 20_000


def churn(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.bodies() * bench.sizes.passes
    for size in bench.sizes.of(_CHURN):
        label = f"{_CHANGES_PER_SECOND:,} added and removed a second, linear, {size.count:,}"
        bench.progress(label)
        texts = bench.inputs.linear(size.count)
        spare = bench.inputs.spare(_SPARE_TEXTS // bench.sizes.divide)
        busy = ChangingMatcher(
            load_matcher(texts), deque(enumerate(texts)), deque(spare), size.count
        )
        still = ChangingMatcher(load_matcher(texts), deque(), deque(), size.count)
        ratio = compare(
            partial(match_and_change, busy, bodies, _CHANGES_PER_SECOND),
            partial(match_and_change, still, bodies, 0),
            rounds=bench.sizes.rounds,
        )
        ours, theirs = len(bodies) / ratio.ours, len(bodies) / ratio.theirs
        rates = f"{ours:,.0f} documents/s, {theirs:,.0f} without"
        changes = f"{busy.changes / busy.seconds:,.0f} added and removed a second"
        note = join_notes(rates, changes, size.note)
        yield ReportLine(
            label, ratio.figure, "x", target=size.target, spread=ratio.spread, note=note
        )


@dataclass(slots=True)
class ChangingMatcher:
    """A matcher with its subscriptions, oldest first, and the texts that may be added."""

    matcher: Matcher
    inside: deque[tuple[int, str]]
    outside: deque[str]
    next: int
    changes: int = 0
    seconds: float = 0.0  # CPU time of all turns

    def change(self) -> None:
        """Add one subscription and remove the oldest."""
        text = self.outside.popleft()
        self.matcher.add(self.next, text)
        self.inside.append((self.next, text))
        oldest, text = self.inside.popleft()
        self.matcher.remove(oldest)
        self.outside.append(text)
        self.next += 1
        self.changes += 1


def match_and_change(
    changing: ChangingMatcher,
    bodies: Sequence[bytes],
    rate: int,
    clock: Callable[[], float] = time.process_time,
) -> None:
    """Match the documents; after each, make the changes that are due."""
    start = clock()
    done = 0
    for body in bodies:
        changing.matcher.match(body).numbers  # noqa: B018 - the property may compute it
        due = min(int((clock() - start) * rate), done + _MAX_CHANGES_PER_DOCUMENT)
        for _ in range(due - done):
            changing.change()
        done = due
    changing.seconds += clock() - start
