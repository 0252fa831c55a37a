"""The totals of a run, saved as JSON beside the tables."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.statistics.counts import totals
from pathcast.pipeline.statistics.partial_rows import partial_sums
from pathcast.pipeline.statistics.windows import WindowAxis

__all__ = ["StatisticsSummary", "dump_summary", "from_micros", "load_summary", "summarise"]

_TIMES: Final = ("first", "last")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StatisticsSummary:
    """documents = read + refused, without repeats; matches are (document, subscription) pairs."""

    documents: int
    bytes: int
    read: int
    matched: int
    matches: int
    refused: int
    errors: int
    deliveries: int
    groups: int
    subscriptions: int
    """Those of all versions; if the versions are unknown, those that matched."""
    silent: int | None
    """Those without a match; None if the versions are unknown."""
    sampled: int
    structures: int
    batches: int
    first: datetime | None
    last: datetime | None
    by: str
    window: float
    """In seconds or batches."""
    windows: int
    decay: float
    kept: int | None
    effective: float
    """The effective sample size of the documents read: (sum of w)^2 / sum of w^2."""

    @property
    def unit(self) -> str:
        """The unit of time of rates."""
        return "second" if self.by == "time" else "batch"


def dump_summary(summary: StatisticsSummary) -> bytes:
    """Serialise a summary for `load_summary`."""
    fields = asdict(summary)
    for name in _TIMES:
        fields[name] = fields[name] and fields[name].isoformat()
    return json.dumps(fields, indent=1).encode() + b"\n"


def load_summary(content: bytes) -> StatisticsSummary:
    """Parse a summary; PipelineError if it is damaged or of another version of pathcast."""
    try:
        fields = json.loads(content)
        for name in _TIMES:
            fields[name] = fields[name] and datetime.fromisoformat(fields[name])
        return StatisticsSummary(**fields)
    except (ValueError, TypeError, KeyError) as error:
        raise PipelineError(
            "statistics", f"their summary cannot be read: {error}", hint="compute them again"
        ) from None


def summarise(
    outcomes: DataFrame, axis: WindowAxis, partials: DataFrame | None = None, **counts: Any
) -> StatisticsSummary:
    """Aggregate the outcomes of documents, and add the other counts.

    With `partials` of documents, the totals come from them, and `outcomes` may be plain documents.
    """
    structure_counts = [
        F.count("structure").alias("sampled"),
        F.count_distinct("structure").alias("structures"),
        F.count_distinct("batch").alias("batches"),
        F.min(F.unix_micros("time")).alias("first"),
        F.max(F.unix_micros("time")).alias("last"),
    ]
    weight = F.col("weight")
    if partials is None:
        read = F.when(F.col("matches").isNotNull(), 1)
        rows = [outcomes.agg(*totals(), *structure_counts, _effective(read, weight)).first()]
    else:
        effective = _effective(F.col("read"), weight)
        rows = [
            partials.agg(*partial_sums(), effective).first(),
            outcomes.agg(*structure_counts).first(),
        ]
    fields = {
        name: value for row in rows if row is not None for name, value in row.asDict().items()
    }
    times = {name: from_micros(fields[name]) for name in _TIMES}
    return StatisticsSummary(
        **{**fields, **times},
        by=axis.by,
        window=axis.window_length,
        windows=axis.windows,
        decay=axis.decay,
        kept=axis.kept,
        **counts,
    )


def _effective(read: Column, weight: Column) -> Column:
    """Return the effective sample size, for rows of so many documents read."""
    total, squares = F.sum(read * weight), F.sum(read * weight * weight)
    size = F.try_divide(F.pow(total, F.lit(2)), squares)
    return F.coalesce(size, F.lit(0.0)).alias("effective")


def from_micros(micros: int | None) -> datetime | None:
    """Convert Spark's microseconds to UTC; collected timestamps would be in the local time zone."""
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)
