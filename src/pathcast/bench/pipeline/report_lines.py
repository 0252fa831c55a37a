"""Turns -> lines: the arithmetic of the pipeline report, and its targets.

The CPU of a step is that of all processes of the application in its turn. The CPU that its workers
spent in the matcher in the same turn is subtracted; the two matchers' CPU differs from it by more
than the figure sought.

>>> step = Turn(2.5, {"driver": 0.1, "java": 0.5, "workers": 4.2}, ({"matching": 4.0},))
>>> round(own_cost(step, 20_000), 3)  # microseconds for a document
40.0
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from pathcast.bench.pipeline.bench_process import Turn
from pathcast.bench.pipeline.sizes import FULL, PipelineSizes
from pathcast.bench.report import ReportLine

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

_MAX_SHARE = 0.5  # percent
_MIN_RATE = 0.75
_MAX_COST = 40.0  # microseconds
_DOUBLING_TOLERANCE = 0.15
_MAX_MEMORY = 0.5
_MICRO, _MEGA = 1e6, 1e6
SINKS = {"matches": "matches as parquet", "deliveries": "deliveries, exploded, as parquet"}


class Round(NamedTuple):
    """The turns of a round: matchers; all documents; half of them; reading alone."""

    matchers: Turn
    full: Turn
    half: Turn
    read: Turn


def own_cost(step: Turn, documents: int) -> float:
    """Return the CPU microseconds per document that a step takes beyond matching."""
    return (step.cpu - matching(step)) / documents * _MICRO


def matching(step: Turn) -> float:
    """Return the CPU seconds that the step spent in the matcher."""
    return float(str(step.answers[0]["matching"]))


def share_line(matches: int, sizes: PipelineSizes) -> ReportLine:
    """Report the share of subscriptions that a document matches; the targets assume a bound."""
    each = matches / sizes.documents_per_turn
    share = 100 * each / sizes.subscriptions
    note = f"{each:,.0f} of {sizes.subscriptions:,} ids a document"
    return ReportLine(
        "subscriptions matched", share, "%", target=_MAX_SHARE, at_least=False, note=note
    )


def rate_line(rounds: Sequence[Round], sizes: PipelineSizes) -> ReportLine:
    ratios = [each.matchers.wall / each.full.wall for each in rounds]
    ours, theirs = (
        sizes.documents_per_turn / median(walls)
        for walls in ([each.full.wall for each in rounds], [each.matchers.wall for each in rounds])
    )
    note = f"{ours:,.0f} documents/s, the matchers {theirs:,.0f}, by the wall clock"
    return ReportLine(
        "documents/s on Spark / two matchers",
        median(ratios),
        "x",
        target=_MIN_RATE,
        spread=(min(ratios), max(ratios)),
        note=_join(note, _repetition_note(sizes)),
    )


def cost_line(rounds: Sequence[Round], sizes: PipelineSizes) -> ReportLine:
    costs = [own_cost(each.full, sizes.documents_per_turn) for each in rounds]
    java, workers = (
        _per_document([share(each.full) for each in rounds], sizes.documents_per_turn)
        for share in (_java, _workers)
    )
    read = _per_document([each.read.cpu for each in rounds], sizes.documents_per_turn)
    inside = _per_document([matching(each.full) for each in rounds], sizes.documents_per_turn)
    alone = _per_document([each.matchers.cpu for each in rounds], sizes.documents_per_turn)
    return ReportLine(
        "Spark's own CPU for a document",
        median(costs),
        "us",
        target=_MAX_COST,
        at_least=False,
        spread=(min(costs), max(costs)),
        note=f"java {java}, workers {workers}; reading the table alone {read};"
        f" matching {inside}, the matchers {alone}",
    )


def _java(step: Turn) -> float:
    return step.seconds["java"]


def _workers(step: Turn) -> float:
    return step.seconds["workers"] - matching(step)


def doubling_line(rounds: Sequence[Round], sizes: PipelineSizes) -> ReportLine:
    """Report the time per document for all documents, against that for half of them."""
    documents = sizes.documents_per_turn // 2
    ratios = [each.full.wall / (2 * each.half.wall) for each in rounds]
    cpu = median(each.full.cpu / (2 * each.half.cpu) for each in rounds)
    return ReportLine(
        f"twice as many documents / twice the time, {documents:,}",
        median(ratios),
        "x",
        target=1 - _DOUBLING_TOLERANCE,
        upper=1 + _DOUBLING_TOLERANCE,
        spread=(min(ratios), max(ratios)),
        note=f"by the wall clock; by CPU time {cpu:.3g}",
    )


def sink_line(sink: str, turns: Sequence[Turn], sizes: PipelineSizes) -> ReportLine:
    """Report Spark's own cost with a sink, for a quarter of the documents; it has no target."""
    documents = sizes.documents_per_turn // 4
    costs = [own_cost(turn, documents) for turn in turns]
    rate = documents / median(turn.wall for turn in turns)
    return ReportLine(
        f"... with {SINKS[sink]}",
        median(costs),
        "us",
        spread=(min(costs), max(costs)),
        note=f"{rate:,.0f} documents/s; {documents:,} documents",
    )


def memory_line(held: int, spread: int, fragments: int, sizes: PipelineSizes) -> ReportLine:
    """Report the largest worker with fragments, against the largest with all subscriptions."""
    full = sizes.held >= FULL.held
    note = (
        f"{spread / _MEGA:,.0f} MB, {held / _MEGA:,.0f} MB with all; "
        f"{fragments} fragments, {sizes.sent:,} documents"
    )
    return ReportLine(
        f"the largest worker, {sizes.held:,} subscriptions, spread / not",
        spread / held,
        "x",
        target=_MAX_MEMORY if full else None,
        at_least=False,
        note=_join(note, "" if full else f"the target, {_MAX_MEMORY}, is for {FULL.held:,}"),
    )


def _per_document(seconds: Sequence[float], documents: int) -> str:
    return f"{median(seconds) / documents * _MICRO:,.0f}"


def _repetition_note(sizes: PipelineSizes) -> str:
    return "" if sizes.passes == 1 else f"{sizes.documents:,} documents, {sizes.passes} times each"


def _join(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
