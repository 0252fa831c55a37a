"""The content of the report, read from the saved tables: top rows and aggregates.

Its size is bounded whatever the length of the run. Tables are cut to `_MAX_TABLE_ROWS`, windows are
merged until at most `_MAX_POINTS` remain, and selectivities are counted in a histogram with
`BARS_PER_DECADE` bars per power of ten.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.pipeline.batch_log import BatchOutcome
from pathcast.pipeline.statistics import Statistics, StatisticsSummary
from pathcast.pipeline.statistics.rates import busiest
from pathcast.pipeline.statistics.selectivity import (
    least_matching,
    most_matching,
    silent_subscriptions,
)
from pathcast.pipeline.statistics.summary import from_micros

__all__ = [
    "BARS_PER_DECADE",
    "OverlapMatrix",
    "ReportContent",
    "ReportTable",
    "TrafficPoint",
    "batch_quantiles",
    "pick_different",
    "read_content",
]

ReportRow = dict[str, Any]
ReportTable = tuple[ReportRow, ...]

BARS_PER_DECADE: Final = 4
_MIN_DECADE: Final = -8  # power of ten; lower selectivities are drawn here
_MAX_TABLE_ROWS: Final = 20
_MAX_BARS: Final = 15
_MAX_CANDIDATES: Final = 200  # compared subscriptions of which the picture shows some
_MAX_POINTS: Final = 60


@dataclass(frozen=True, slots=True)
class TrafficPoint:
    """The sums of consecutive windows: `window` is the number of the first, `start` its time."""

    window: int
    start: datetime | None
    documents: int
    matched: int
    matches: int
    refused: int
    bytes: int


@dataclass(frozen=True, slots=True)
class OverlapMatrix:
    """`shares[i][j]`: the share of j's documents that subscription i matches; None if unknown."""

    subscriptions: tuple[str, ...]
    documents: tuple[int, ...]
    shares: tuple[tuple[float | None, ...], ...]
    xpaths: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportContent:
    """All values that the page shows."""

    summary: StatisticsSummary
    windows_per_point: int
    """The number of windows that a point sums up."""
    traffic: tuple[TrafficPoint, ...]
    selectivity_histogram: dict[int, int]
    """Matching subscriptions by floor(BARS_PER_DECADE x log10(selectivity)).

    The last bar below 0 includes those that match all documents.
    """
    most_matching: ReportTable
    least_matching: ReportTable
    silent_subscriptions: ReportTable
    busiest: ReportTable
    structures: ReportTable
    cache: ReportTable
    overlap: OverlapMatrix
    errors: ReportTable
    sources: ReportTable
    batches: ReportTable = ()
    """Quantiles of seconds, documents, rates and lags of batches."""


def read_content(
    session: SparkSession, saved: Statistics, outcomes: Sequence[BatchOutcome] = ()
) -> ReportContent:
    """Read the content from saved statistics, and from the outcomes of batches."""
    selectivity = saved.table(session, "selectivity")
    windows_per_point = -(-saved.summary.windows // _MAX_POINTS) or 1
    return ReportContent(
        summary=saved.summary,
        windows_per_point=windows_per_point,
        traffic=_traffic(saved.table(session, "traffic"), windows_per_point),
        selectivity_histogram=_selectivity_histogram(selectivity),
        most_matching=_collect_rows(most_matching(selectivity, _MAX_TABLE_ROWS)),
        least_matching=_collect_rows(least_matching(selectivity, _MAX_TABLE_ROWS)),
        silent_subscriptions=_collect_rows(
            silent_subscriptions(selectivity).limit(_MAX_TABLE_ROWS)
        ),
        busiest=_collect_rows(busiest(saved.table(session, "rates"), _MAX_BARS)),
        structures=_collect_rows(
            saved.table(session, "structures").orderBy("rank").limit(_MAX_TABLE_ROWS)
        ),
        cache=_collect_rows(saved.table(session, "cache").orderBy("entries")),
        overlap=_overlap_matrix(saved.table(session, "chosen"), saved.table(session, "overlap")),
        errors=_collect_rows(_top_rows(saved.table(session, "errors"), "errors", "kind")),
        sources=_collect_rows(_top_rows(saved.table(session, "sources"), "documents", "source")),
        batches=batch_quantiles(outcomes),
    )


def batch_quantiles(outcomes: Sequence[BatchOutcome]) -> ReportTable:
    """Return the median, the 95th percentile and the maximum of what batches have in common."""
    measures: dict[str, list[float]] = {
        "seconds": [outcome.seconds for outcome in outcomes],
        "documents": [float(outcome.documents) for outcome in outcomes],
        "documents/s": [
            outcome.documents / outcome.seconds for outcome in outcomes if outcome.seconds
        ],
        "lag in seconds": [outcome.lag for outcome in outcomes if outcome.lag is not None],
    }
    return tuple(
        {
            "measure": name,
            "median": statistics.median(values),
            "most": sorted(values)[math.ceil(0.95 * len(values)) - 1],
            "maximum": max(values),
        }
        for name, values in measures.items()
        if values
    )


def _collect_rows(table: DataFrame) -> ReportTable:
    """Return all rows of a short table, with times in UTC."""
    times = {name for name, kind in table.dtypes if kind == "timestamp"}
    columns = [F.unix_micros(name).alias(name) if name in times else name for name in table.columns]
    return tuple(
        {
            name: from_micros(value) if name in times else value
            for name, value in row.asDict(recursive=True).items()
        }
        for row in table.select(*columns).collect()
    )


def _top_rows(table: DataFrame, column: str, tie_breaker: str) -> DataFrame:
    return table.orderBy(F.desc(column), F.asc(tie_breaker)).limit(_MAX_TABLE_ROWS)


def _traffic(table: DataFrame, windows_per_point: int) -> tuple[TrafficPoint, ...]:
    summed = ("documents", "matched", "matches", "refused", "bytes")
    # Groups begin at multiples of their size, as windows do.
    group = (F.col("window") - F.pmod("window", F.lit(windows_per_point))).alias("group")
    points = table.groupBy(group).agg(
        F.min("window").alias("window"),
        F.min("start").alias("start"),
        *(F.sum(name).alias(name) for name in summed),
    )
    return tuple(
        TrafficPoint(**row) for row in _collect_rows(points.drop("group").orderBy("window"))
    )


def _selectivity_histogram(selectivity: DataFrame) -> dict[int, int]:
    # Rounding keeps exact powers of ten in their bar, whatever the error of the logarithm.
    bar = F.floor(F.round(F.log10("selectivity") * BARS_PER_DECADE, 9))
    bar = F.greatest(F.least(bar, F.lit(-1)), F.lit(_MIN_DECADE * BARS_PER_DECADE))
    bars = selectivity.where("selectivity > 0").groupBy(bar.alias("step")).count()
    return {row["step"]: row["count"] for row in bars.orderBy("step").collect()}


def _overlap_matrix(compared: DataFrame, overlap: DataFrame) -> OverlapMatrix:
    order = [F.desc("documents"), F.asc("subscription")]
    candidates = _collect_rows(compared.orderBy(*order).limit(_MAX_CANDIDATES))
    ids = [row["subscription"] for row in candidates]
    pairs = _collect_rows(overlap.where(F.col("a").isin(ids) & F.col("b").isin(ids)))
    similarity = {(row["a"], row["b"]): float(row["jaccard"] or 0) for row in pairs}
    ids = pick_different(ids, similarity, _MAX_TABLE_ROWS)
    top = [row for row in candidates if row["subscription"] in set(ids)]
    shares: dict[tuple[str, str], float | None] = {}
    for row in pairs:
        shares[row["a"], row["b"]] = row["given_b"]
        shares[row["b"], row["a"]] = row["given_a"]
    return OverlapMatrix(
        tuple(ids),
        tuple(row["documents"] for row in top),
        tuple(tuple(shares.get((i, j), float(i == j)) for j in ids) for i in ids),
        tuple(row["xpath"] for row in top),
    )


def pick_different(
    ids: Sequence[str], similarity: Mapping[tuple[str, str], float], count: int
) -> list[str]:
    """Return `count` ids in their order: the first, then always the least similar to those chosen.

    The similarity of a pair is looked up in both orders, and is 0 if it is not there.

    >>> pick_different("abc", {("a", "b"): 0.9, ("c", "a"): 0.2}, 2)
    ['a', 'c']
    """
    chosen = list(ids[:1])
    nearest = dict.fromkeys(ids[1:], 0.0)
    while nearest and len(chosen) < count:
        for id in nearest:
            pair = (chosen[-1], id)
            nearest[id] = max(
                nearest[id], similarity.get(pair, 0.0), similarity.get(pair[::-1], 0.0)
            )
        chosen.append(min(nearest, key=nearest.__getitem__))
        del nearest[chosen[-1]]
    return [id for id in ids if id in set(chosen)]
