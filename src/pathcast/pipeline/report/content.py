"""The content of the report, read from the saved tables: top rows and aggregates.

Its size is bounded whatever the length of the run. Tables are cut to `_MAX_TABLE_ROWS`, windows are
merged until at most `_MAX_POINTS` remain, and selectivities are counted in a histogram with
`BARS_PER_DECADE` bars per power of ten. Tables are read without Spark, some rows at a time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.pipeline.batch_log import BatchOutcome
from pathcast.pipeline.statistics import StatisticsSummary
from pathcast.pipeline.statistics.saved import reduce_table
from pathcast.pipeline.storage import Storage

__all__ = [
    "BARS_PER_DECADE",
    "OverlapMatrix",
    "ReportContent",
    "ReportTable",
    "TrafficPoint",
    "batch_quantiles",
    "count_selectivities",
    "least_matching",
    "merge_traffic",
    "most_matching",
    "pick_different",
    "read_content",
    "silent_subscriptions",
    "sum_bars",
]

ReportRow = dict[str, Any]
ReportTable = tuple[ReportRow, ...]
RowOrder = list[tuple[str, str]]
"""Columns, each with "ascending" or "descending"."""

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


_POINT_COLUMNS: Final = [field.name for field in fields(TrafficPoint)]


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
    storage: Storage, summary: StatisticsSummary, outcomes: Sequence[BatchOutcome] = ()
) -> ReportContent:
    """Read the content from the statistics saved in a folder, and from the outcomes of batches."""
    windows_per_point = -(-summary.windows // _MAX_POINTS) or 1
    selectivity = reduce_table(storage, "selectivity", _listed_selectivities)
    traffic = reduce_table(
        storage,
        "traffic",
        lambda rows: merge_traffic(rows, windows_per_point),
        lambda rows: rows.select(_POINT_COLUMNS),
    )
    bars = reduce_table(storage, "selectivity", sum_bars, count_selectivities)

    def first_rows(name: str, order: RowOrder, count: int = _MAX_TABLE_ROWS) -> ReportTable:
        return _rows(reduce_table(storage, name, lambda rows: _first(rows, order, count)))

    return ReportContent(
        summary=summary,
        windows_per_point=windows_per_point,
        traffic=tuple(TrafficPoint(**row) for row in _rows(traffic)),
        selectivity_histogram={row["step"]: row["subscriptions"] for row in _rows(bars)},
        most_matching=_rows(most_matching(selectivity, _MAX_TABLE_ROWS)),
        least_matching=_rows(least_matching(selectivity, _MAX_TABLE_ROWS)),
        silent_subscriptions=_rows(silent_subscriptions(selectivity, _MAX_TABLE_ROWS)),
        busiest=first_rows("rates", _most("documents", "group"), _MAX_BARS),
        structures=first_rows("structures", [("rank", "ascending")]),
        cache=_rows(reduce_table(storage, "cache", lambda rows: rows.sort_by("entries"))),
        overlap=_overlap_matrix(
            storage, first_rows("chosen", _most("documents", "subscription"), _MAX_CANDIDATES)
        ),
        errors=first_rows("errors", _most("errors", "kind")),
        sources=first_rows("sources", _most("documents", "source")),
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


def _rows(table: pa.Table) -> ReportTable:
    return tuple(table.to_pylist())


def _most(column: str, tie_breaker: str) -> RowOrder:
    return [(column, "descending"), (tie_breaker, "ascending")]


def _first(table: pa.Table, order: RowOrder, count: int) -> pa.Table:
    """Return the first rows by an order, nulls last."""
    return table.sort_by(order).slice(0, count)


def most_matching(selectivity: pa.Table, count: int) -> pa.Table:
    """Return the subscriptions with the highest selectivity."""
    order = [("selectivity", "descending"), *_most("matched", "subscription")]
    return _first(selectivity.filter(pc.field("matched") > 0), order, count)


def least_matching(selectivity: pa.Table, count: int) -> pa.Table:
    """Return the subscriptions with the lowest selectivity among those with a match."""
    order = [(name, "ascending") for name in ("selectivity", "matched", "subscription")]
    return _first(selectivity.filter(pc.field("matched") > 0), order, count)


def silent_subscriptions(selectivity: pa.Table, count: int) -> pa.Table:
    """Return subscriptions without a match, those with the most documents first."""
    order = _most("documents", "subscription")
    return _first(selectivity.filter(pc.field("matched") == 0), order, count)


def _listed_selectivities(selectivity: pa.Table) -> pa.Table:
    """Return the rows that one of the tables shows, each once."""
    lists = (most_matching, least_matching, silent_subscriptions)
    rows = pa.concat_tables([first(selectivity, _MAX_TABLE_ROWS) for first in lists])
    ids = rows["subscription"].to_pylist()
    return rows.take(pa.array([ids.index(id) for id in dict.fromkeys(ids)], pa.int64()))


def merge_traffic(windows: pa.Table, windows_per_point: int) -> pa.Table:
    """Return the sums of windows that share a point, in order."""
    numbers = windows["window"].to_numpy()
    # Groups begin at multiples of their size, as windows do.
    groups = windows.append_column("group", pa.array(numbers - numbers % windows_per_point))
    aggregates = [
        (name, "min" if name in ("window", "start") else "sum") for name in _POINT_COLUMNS
    ]
    points = groups.group_by("group").aggregate(aggregates)
    columns = [points[f"{name}_{function}"] for name, function in aggregates]
    return pa.table(columns, names=_POINT_COLUMNS).sort_by("window")


def count_selectivities(selectivity: pa.Table) -> pa.Table:
    """Return the bar of every subscription with a selectivity above 0."""
    values = selectivity.filter(pc.field("selectivity") > 0)["selectivity"].to_numpy()
    # Rounding keeps exact powers of ten in their bar, whatever the error of the logarithm.
    bars = np.floor(np.round(np.log10(values) * BARS_PER_DECADE, 9))
    steps = np.clip(bars, _MIN_DECADE * BARS_PER_DECADE, -1).astype(np.int64)
    return pa.table({"step": steps, "subscriptions": np.ones(len(steps), np.int64)})


def sum_bars(bars: pa.Table) -> pa.Table:
    """Return the subscriptions of every bar, in order."""
    sums = bars.group_by("step").aggregate([("subscriptions", "sum")])
    columns = {"step": sums["step"], "subscriptions": sums["subscriptions_sum"]}
    return pa.table(columns).sort_by("step")


def _overlap_matrix(storage: Storage, candidates: ReportTable) -> OverlapMatrix:
    ids = [row["subscription"] for row in candidates]
    values = pa.array(ids, pa.string())
    of_candidates = pc.is_in(pc.field("a"), values) & pc.is_in(pc.field("b"), values)
    pairs = _rows(reduce_table(storage, "overlap", lambda rows: rows.filter(of_candidates)))
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
