"""What the report shows, read from the saved tables: the first few rows of each, and sums over the rest.

Nothing here grows with the run: tables are cut to `_ROWS`, windows are put together until there are at most `_POINTS`, and
selectivities are counted by size, a quarter of a power of ten each.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.pipeline.statistics import Statistics, Summary
from pathcast.pipeline.statistics.rates import busiest
from pathcast.pipeline.statistics.selectivity import least, most, never
from pathcast.pipeline.statistics.summary import instant

__all__ = ["STEPS", "Content", "Matrix", "Point", "Table", "gather"]

Row = dict[str, Any]
Table = tuple[Row, ...]

STEPS: Final = 4
"""Bars of a power of ten."""
_LOWEST: Final = -8  # powers of ten: rarer than one in a hundred million is drawn as that
_ROWS: Final = 20
_BARS: Final = 15
_POINTS: Final = 60


@dataclass(frozen=True, slots=True)
class Point:
    """Some windows together: `window` is the number of the first, `start` when that begins."""

    window: int
    start: datetime | None
    documents: int
    matched: int
    matches: int
    refused: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Overlap: the share of the documents of subscription j that match i too, `shares[i][j]`; None: not known."""

    subscriptions: tuple[str, ...]
    documents: tuple[int, ...]
    shares: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Content:
    """All that the page needs."""

    summary: Summary
    together: int
    """How many windows a point has."""
    traffic: tuple[Point, ...]
    selectivities: dict[int, int]
    """Subscriptions that match by floor(STEPS x log10(selectivity)); those that match all are with the last below 0."""
    most: Table
    least: Table
    never: Table
    busiest: Table
    structures: Table
    cache: Table
    overlap: Matrix
    errors: Table
    sources: Table


def gather(session: SparkSession, found: Statistics) -> Content:
    """Read what is shown."""
    selectivity = found.table(session, "selectivity")
    together = -(-found.summary.windows // _POINTS) or 1
    return Content(
        summary=found.summary,
        together=together,
        traffic=_traffic(found.table(session, "traffic"), together),
        selectivities=_sizes(selectivity),
        most=_rows(most(selectivity, _ROWS)),
        least=_rows(least(selectivity, _ROWS)),
        never=_rows(never(selectivity).limit(_ROWS)),
        busiest=_rows(busiest(found.table(session, "rates"), _BARS)),
        structures=_rows(found.table(session, "structures").orderBy("rank").limit(_ROWS)),
        cache=_rows(found.table(session, "cache").orderBy("entries")),
        overlap=_matrix(found.table(session, "chosen"), found.table(session, "overlap")),
        errors=_rows(_first(found.table(session, "errors"), "errors", "kind")),
        sources=_rows(_first(found.table(session, "sources"), "documents", "source")),
    )


def _rows(table: DataFrame) -> Table:
    """All rows of a short table, with times in UTC."""
    times = {name for name, kind in table.dtypes if kind == "timestamp"}
    columns = [F.unix_micros(name).alias(name) if name in times else name for name in table.columns]
    return tuple(
        {
            name: instant(value) if name in times else value
            for name, value in row.asDict(recursive=True).items()
        }
        for row in table.select(*columns).collect()
    )


def _first(table: DataFrame, by: str, name: str) -> DataFrame:
    return table.orderBy(F.desc(by), F.asc(name)).limit(_ROWS)


def _traffic(table: DataFrame, together: int) -> tuple[Point, ...]:
    sums = ("documents", "matched", "matches", "refused", "bytes")
    # Groups of windows begin at multiples of their number, as windows do.
    first = (F.col("window") - F.pmod("window", F.lit(together))).alias("group")
    found = table.groupBy(first).agg(
        F.min("window").alias("window"),
        F.min("start").alias("start"),
        *(F.sum(name).alias(name) for name in sums),
    )
    return tuple(Point(**row) for row in _rows(found.drop("group").orderBy("window")))


def _sizes(selectivity: DataFrame) -> dict[int, int]:
    # One in a thousand is one in a thousand, whatever its logarithm is rounded to.
    step = F.floor(F.round(F.log10("selectivity") * STEPS, 9))
    step = F.greatest(F.least(step, F.lit(-1)), F.lit(_LOWEST * STEPS))
    found = selectivity.where("selectivity > 0").groupBy(step.alias("step")).count()
    return {row["step"]: row["count"] for row in found.orderBy("step").collect()}


def _matrix(chosen: DataFrame, overlap: DataFrame) -> Matrix:
    first = _rows(_first(chosen, "documents", "subscription"))
    names = [row["subscription"] for row in first]
    pairs = overlap.where(F.col("a").isin(names) & F.col("b").isin(names))
    shares: dict[tuple[str, str], float | None] = {}
    for row in _rows(pairs):
        shares[row["a"], row["b"]] = row["given_b"]
        shares[row["b"], row["a"]] = row["given_a"]
    return Matrix(
        tuple(names),
        tuple(row["documents"] for row in first),
        tuple(tuple(shares.get((i, j), float(i == j)) for j in names) for i in names),
    )
