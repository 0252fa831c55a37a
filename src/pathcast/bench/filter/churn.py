"""Churn: the rate of matching while subscriptions change, relative to the rate without changes.

After each document the benchmark adds and removes as many subscriptions as the elapsed CPU time
requires, a thousand or ten thousand of both per second. That time includes adding and removing. It
removes the oldest and adds texts that are not present, so that equal subscriptions save nothing.
Removed texts return much later.

A second matcher without changes gives the reference rate. A single matcher that alternates would
spend its quiet turn on merging the changes of the busy one.

An engine that cannot keep up would never finish, so the changes per document have a limit. It is
what is due for a document of 0.1 seconds, and an engine that needs it misses the target.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pathcast.bench.filter.context import FilterContext, join_notes, load_matcher
from pathcast.bench.filter.sizes import TargetSize
from pathcast.bench.measure import compare
from pathcast.bench.report import ReportLine
from pathcast.matching import Matcher

__all__ = ["churn"]

# By changes per second of CPU time; a change adds one subscription and removes one.
_LINEAR = {1_000: {100_000: 0.7}}
_MIXED = {1_000: {100_000: 0.8}, 10_000: {100_000: 0.6}}
_MAX_DOCUMENT_SECONDS = 0.1
_SPARE_TEXTS = 20_000


def churn(bench: FilterContext) -> Iterator[ReportLine]:
    spare_count = _SPARE_TEXTS // bench.sizes.divide
    for rate, targets in _LINEAR.items():
        for size in bench.sizes.of(targets):
            texts = bench.inputs.linear(size.count)
            yield _line(bench, "linear", rate, size, texts, bench.inputs.spare(spare_count))
    for rate, targets in _MIXED.items():
        for size in bench.sizes.of(targets):
            texts = bench.inputs.mixed_set(size.count + spare_count)
            inside, spare = texts[: size.count], texts[size.count :]
            yield _line(bench, "mixed", rate, size, inside, spare)


def _line(
    bench: FilterContext,
    kind: str,
    rate: int,
    size: TargetSize,
    texts: Sequence[str],
    spare: Sequence[str],
) -> ReportLine:
    label = f"{rate:,} added and removed a second, {kind}, {size.count:,}"
    bench.progress(label)
    bodies = bench.bodies() * bench.sizes.passes
    busy = ChangingMatcher(load_matcher(texts), deque(enumerate(texts)), deque(spare), size.count)
    still = ChangingMatcher(load_matcher(texts), deque(), deque(), size.count)
    ratio = compare(
        partial(match_and_change, busy, bodies, rate),
        partial(match_and_change, still, bodies, 0),
        rounds=bench.sizes.rounds,
    )
    ours, theirs = len(bodies) / ratio.ours, len(bodies) / ratio.theirs
    rates = f"{ours:,.0f} documents/s, {theirs:,.0f} without"
    changes = f"{busy.changes / busy.seconds:,.0f} added and removed a second"
    note = join_notes(rates, changes, size.note)
    return ReportLine(label, ratio.figure, "x", target=size.target, spread=ratio.spread, note=note)


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
        due = min(int((clock() - start) * rate), done + int(rate * _MAX_DOCUMENT_SECONDS))
        for _ in range(due - done):
            changing.change()
        done = due
    changing.seconds += clock() - start
