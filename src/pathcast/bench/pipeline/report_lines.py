"""Turns -> lines: the arithmetic of the report, and its targets.

The CPU of a step is that of all processes of the application in its turn. What is subtracted is the CPU that its workers spent in the
matcher, in the same turn: that of the two matchers in theirs differs by more than what is sought.

>>> step = Turn(2.5, {"driver": 0.1, "java": 0.5, "workers": 4.2}, ({"matching": 4.0},))
>>> round(own_cost(step, 20_000), 3)  # microseconds for a document
40.0
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from pathcast.bench.pipeline.child import Turn
from pathcast.bench.pipeline.sizes import FULL, Sizes
from pathcast.bench.report import Line

__all__ = [
    "SINKS",
    "Round",
    "cost_line",
    "doubling_line",
    "memory_line",
    "own_cost",
    "rate_line",
    "share_line",
    "sink_line",
]

_SHARE = 0.5  # percent
_RATE = 0.75
_COST = 40.0  # microseconds
_DOUBLING = 0.15
_MEMORY = 0.6
_MICRO, _MEGA = 1e6, 1e6
SINKS = {"matches": "matches as parquet", "deliveries": "deliveries, exploded, as parquet"}


class Round(NamedTuple):
    """The turns of a round: the matchers; the step with all documents, with half of them; reading alone."""

    matchers: Turn
    whole: Turn
    half: Turn
    read: Turn


def own_cost(step: Turn, documents: int) -> float:
    """Microseconds of CPU that a step takes for a document beyond what matching it takes."""
    return (step.cpu - matching(step)) / documents * _MICRO


def matching(step: Turn) -> float:
    """Seconds of CPU that went into matching itself."""
    return float(str(step.answers[0]["matching"]))


def share_line(found: int, sizes: Sizes) -> Line:
    """What part of the subscriptions a document matches; it must be like what the targets are for."""
    each = found / sizes.turn
    share = 100 * each / sizes.subscriptions
    note = f"{each:,.0f} of {sizes.subscriptions:,} ids a document"
    return Line("subscriptions matched", share, "%", target=_SHARE, at_least=False, note=note)


def rate_line(rounds: Sequence[Round], sizes: Sizes) -> Line:
    ratios = [one.matchers.wall / one.whole.wall for one in rounds]
    ours, theirs = (
        sizes.turn / median(walls)
        for walls in ([one.whole.wall for one in rounds], [one.matchers.wall for one in rounds])
    )
    note = f"{ours:,.0f} documents/s, the matchers {theirs:,.0f}, by the wall clock"
    return Line(
        "documents/s on Spark / two matchers",
        median(ratios),
        "x",
        target=_RATE,
        spread=(min(ratios), max(ratios)),
        note=_joined(note, _made(sizes)),
    )


def cost_line(rounds: Sequence[Round], sizes: Sizes) -> Line:
    costs = [own_cost(one.whole, sizes.turn) for one in rounds]
    java, workers = (
        _each([share(one.whole) for one in rounds], sizes.turn) for share in (_java, _workers)
    )
    read = _each([one.read.cpu for one in rounds], sizes.turn)
    inside = _each([matching(one.whole) for one in rounds], sizes.turn)
    alone = _each([one.matchers.cpu for one in rounds], sizes.turn)
    return Line(
        "Spark's own CPU for a document",
        median(costs),
        "us",
        target=_COST,
        at_least=False,
        spread=(min(costs), max(costs)),
        note=f"java {java}, workers {workers}; reading the table alone {read}; matching {inside}, the matchers {alone}",
    )


def _java(step: Turn) -> float:
    return step.seconds["java"]


def _workers(step: Turn) -> float:
    return step.seconds["workers"] - matching(step)


def doubling_line(rounds: Sequence[Round], sizes: Sizes) -> Line:
    """The time of a document among all, against the time of one among half as many."""
    documents = sizes.turn // 2
    ratios = [one.whole.wall / (2 * one.half.wall) for one in rounds]
    cpu = median(one.whole.cpu / (2 * one.half.cpu) for one in rounds)
    return Line(
        f"twice as many documents / twice the time, {documents:,}",
        median(ratios),
        "x",
        target=1 - _DOUBLING,
        most=1 + _DOUBLING,
        spread=(min(ratios), max(ratios)),
        note=f"by the wall clock; by CPU time {cpu:.3g}",
    )


def sink_line(sink: str, turns: Sequence[Turn], sizes: Sizes) -> Line:
    """Spark's own cost with a sink, for a quarter of the documents: to be seen beside the one with none."""
    documents = sizes.turn // 4
    costs = [own_cost(one, documents) for one in turns]
    rate = documents / median(one.wall for one in turns)
    return Line(
        f"... with {SINKS[sink]}",
        median(costs),
        "us",
        spread=(min(costs), max(costs)),
        note=f"{rate:,.0f} documents/s; {documents:,} documents",
    )


def memory_line(held: int, spread: int, fragments: int, sizes: Sizes) -> Line:
    """The largest worker with fragments, against the largest with all subscriptions; bytes."""
    full = sizes.held >= FULL.held
    note = (
        f"{spread / _MEGA:,.0f} MB, {held / _MEGA:,.0f} MB with all; "
        f"{fragments} fragments, {sizes.sent:,} documents"
    )
    return Line(
        f"the largest worker, {sizes.held:,} subscriptions, spread / not",
        spread / held,
        "x",
        target=_MEMORY if full else None,
        at_least=False,
        note=_joined(note, "" if full else f"the target, {_MEMORY}, is for {FULL.held:,}"),
    )


def _each(seconds: Sequence[float], documents: int) -> str:
    return f"{median(seconds) / documents * _MICRO:,.0f}"


def _made(sizes: Sizes) -> str:
    return "" if sizes.passes == 1 else f"{sizes.documents:,} documents, {sizes.passes} times each"


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
