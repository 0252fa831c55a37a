"""Subscriptions that come and go while documents are matched: what is left of the rate without it.

After each document as many subscriptions are added and as many removed as the CPU time so far asks for, a thousand of both a
second. That time is all of it, adding and removing included. Those removed are the oldest; what is added was not
there, so that nothing is saved by two equal ones. Removed texts come back much later.

The rate without churn is that of a second matcher that is left alone: one that takes turns would spend its quiet turn on
putting in order what the last busy one left behind.

An engine that cannot keep up would never end, so there is a most for one document. It is a hundred times what is due for
a document of a millisecond, and whoever needs it misses the target anyway.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pathcast.bench.filter.bench import Bench, joined, loaded
from pathcast.bench.measure import compared
from pathcast.bench.report import Line
from pathcast.matching import Matcher

__all__ = ["churn"]

_CHURN = {100_000: 0.7}
_RATE = 1_000  # added, and removed, in a second of CPU time
_MOST = 100  # added, and removed, after one document
_SPARE = 20_000  # texts to add, at first


def churn(bench: Bench) -> Iterator[Line]:
    bodies = bench.bodies() * bench.sizes.passes
    for size in bench.sizes.of(_CHURN):
        what = f"{_RATE:,} added and removed a second, linear, {size.count:,}"
        bench.tell(what)
        texts = bench.inputs.linear(size.count)
        spare = bench.inputs.spare(_SPARE // bench.sizes.divide)
        busy = Changing(loaded(texts), deque(enumerate(texts)), deque(spare), size.count)
        still = Changing(loaded(texts), deque(), deque(), size.count)
        found = compared(
            partial(turn, busy, bodies, _RATE),
            partial(turn, still, bodies, 0),
            rounds=bench.sizes.rounds,
        )
        ours, theirs = len(bodies) / found.ours, len(bodies) / found.theirs
        rates = f"{ours:,.0f} documents/s, {theirs:,.0f} without"
        kept = f"{busy.changes / busy.seconds:,.0f} added and removed a second"
        note = joined(rates, kept, size.note)
        yield Line(what, found.figure, "x", target=size.target, spread=found.spread, note=note)


@dataclass(slots=True)
class Changing:
    """A matcher, what is in it from the oldest on, what may come in, the next id, and what was done."""

    matcher: Matcher
    inside: deque[tuple[int, str]]
    outside: deque[str]
    next: int
    changes: int = 0
    seconds: float = 0.0  # of CPU time, in turns

    def change(self) -> None:
        """One comes in, the oldest goes."""
        text = self.outside.popleft()
        self.matcher.add(self.next, text)
        self.inside.append((self.next, text))
        oldest, text = self.inside.popleft()
        self.matcher.remove(oldest)
        self.outside.append(text)
        self.next += 1
        self.changes += 1


def turn(
    changing: Changing,
    bodies: Sequence[bytes],
    rate: int,
    clock: Callable[[], float] = time.process_time,
) -> None:
    """Match the documents; after each one make the changes that are due."""
    start = clock()
    done = 0
    for body in bodies:
        changing.matcher.match(body).numbers  # noqa: B018 - it may be made when it is asked for
        due = min(int((clock() - start) * rate), done + _MOST)
        for _ in range(due - done):
            changing.change()
        done = due
    changing.seconds += clock() - start
