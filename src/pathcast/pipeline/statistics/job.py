"""The statistics of a run: read its tables, make all of them, swap them for those of the last time.

They are written beside their place and moved there together, when all are complete: whoever reads finds the tables of one job, the
old or the new, except in the moment between the two moves. Nothing but the chosen subscriptions (at most `MOST_CHOSEN`) and sums come
to the driver. The ids of all matches are read three times: to count matches per document, per subscription, and for overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import literal
from pathcast.pipeline.parallel_jobs import together
from pathcast.pipeline.statistics.counts import errors_by_kind, outcomes, sources, traffic
from pathcast.pipeline.statistics.overlap import alone, chosen, overlap
from pathcast.pipeline.statistics.rates import delivered, grouped, rates
from pathcast.pipeline.statistics.selectivity import selectivity
from pathcast.pipeline.statistics.settings import StatisticsSettings
from pathcast.pipeline.statistics.structures import cache, structures
from pathcast.pipeline.statistics.summary import Summary, dumped, loaded, summed
from pathcast.pipeline.statistics.tables import Tables, own_session, read_tables, storage_of
from pathcast.pipeline.statistics.windows import Axis, axis_of, placed, seen
from pathcast.pipeline.storage import Storage

__all__ = ["TABLES", "Statistics", "compute", "read_statistics", "swap"]

TABLES: Final = (
    "selectivity",
    "rates",
    "overlap",
    "chosen",
    "structures",
    "cache",
    "traffic",
    "sources",
    "errors",
)
_PLACE: Final = "statistics"
_NEW: Final = "_statistics.new"
_OLD: Final = "_statistics.old"
_SUMMARY: Final = "summary.json"
_FEW: Final = 500_000  # documents whose places may be sent to every worker: some 100 bytes each
_DEFAULTS: Final = StatisticsSettings()


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was found: the figures, and the tables as they were saved."""

    summary: Summary
    paths: Mapping[str, str]
    """Where each of `TABLES` is, for Spark."""

    def table(self, session: SparkSession, name: str) -> DataFrame:
        """One of `TABLES`."""
        return session.read.parquet(literal(self.paths[name]))


def compute(
    session: SparkSession,
    out: str,
    *,
    settings: StatisticsSettings = _DEFAULTS,
    groups: DataFrame | None = None,
) -> Statistics:
    """Make the statistics of the run in `out`, and save them there.

    `groups` is (subscription, group): rates are then those of groups, and of subscribers otherwise.
    """
    storage = storage_of(session, out)
    own = own_session(session)
    tables = read_tables(own, storage)
    storage.remove(_NEW)
    summary = _Job(own, storage, tables, settings).run(groups)
    storage.write(f"{_NEW}/{_SUMMARY}", dumped(summary))
    swap(storage)
    return _saved(storage, summary)


def read_statistics(session: SparkSession, out: str) -> Statistics:
    """The statistics that were saved; PipelineError if there are none."""
    storage = storage_of(session, out)
    record = storage.read(f"{_PLACE}/{_SUMMARY}")
    if record is None:
        raise PipelineError(
            "statistics", f"there are no statistics in {out}", hint="compute them first"
        )
    return _saved(storage, loaded(record))


def _saved(storage: Storage, summary: Summary) -> Statistics:
    return Statistics(summary, {name: storage.path(f"{_PLACE}/{name}") for name in TABLES})


def swap(storage: Storage) -> None:
    """Let the new tables take the place of the old."""
    storage.remove(_OLD)
    if _PLACE in storage.names(""):
        storage.move(_PLACE, _OLD)
    storage.move(_NEW, _PLACE)
    storage.remove(_OLD)


class _Job:
    """One making of all tables; what several of them need is kept in Spark while it lasts."""

    def __init__(
        self,
        session: SparkSession,
        storage: Storage,
        tables: Tables,
        settings: StatisticsSettings,
    ) -> None:
        self._session = session
        self._storage = storage
        self._tables = tables
        self._settings = settings
        self._axis: Axis = axis_of(tables.documents, settings)
        self._known = (
            None if tables.routes is None else tables.routes.select("subscription", "version")
        )

    def run(self, groups: DataFrame | None) -> Summary:
        """Write all tables, those that do not build on each other at the same time."""
        axis, tables = self._axis, self._tables
        places = placed(tables.documents, axis)
        found = outcomes(places, tables.matches, tables.errors).persist()
        try:
            documents = F.broadcast(found) if axis.documents <= _FEW else found
            matched = seen(tables.matches, documents)
            errors, deliveries = together(
                self._session, tables.errors.count, tables.deliveries.count
            )
            if groups is not None or not deliveries:
                pairs = grouped(matched, self._routes() if groups is None else groups)
            else:  # they are pairs of document and subscriber already
                pairs = delivered(tables.deliveries, documents)
            flows, asked, *_ = together(
                self._session,
                lambda: self._save("rates", rates(pairs, axis)),
                lambda: self._asked(matched, found),
                lambda: self._structures(found),
                lambda: self._save("traffic", traffic(found, axis).orderBy("window")),
                lambda: self._save("sources", sources(found)),
                lambda: self._save("errors", errors_by_kind(tables.errors)),
            )
            counts = asked.agg(
                F.count("*").alias("all"), F.count_if(F.col("matched") == 0).alias("silent")
            ).first()
            assert counts is not None
            return summed(
                found,
                axis,
                errors=errors,
                deliveries=deliveries,
                groups=flows.count(),
                subscriptions=counts["all"],
                silent=None if self._known is None else counts["silent"],
            )
        finally:
            found.unpersist()

    def _asked(self, matched: DataFrame, found: DataFrame) -> DataFrame:
        """Selectivity, and the overlap of those that it chooses."""
        read = found.where("matches is not null")
        asked = self._save("selectivity", selectivity(matched, read, self._axis, self._known))
        self._overlap(matched, asked)
        return asked

    def _structures(self, found: DataFrame) -> DataFrame:
        ranked = self._save("structures", structures(found))
        return self._save("cache", cache(ranked, self._settings.entries))

    def _routes(self) -> DataFrame | None:
        routes = self._tables.routes
        return None if routes is None else routes.withColumnRenamed("subscriber", "group")

    def _overlap(self, matched: DataFrame, asked: DataFrame) -> None:
        names = list(self._settings.subscriptions) or self._top(asked)
        met = chosen(matched, names).persist()
        try:
            single = alone(met)
            wanted = F.array(*map(F.lit, dict.fromkeys(names))).cast("array<string>")
            self._save(
                "chosen",
                self._session.range(1)
                .select(F.explode(wanted).alias("subscription"))
                .join(single.drop("weight"), "subscription", "left")
                .groupBy("subscription")
                .agg(F.coalesce(F.sum("documents"), F.lit(0)).alias("documents")),
            )
            self._save("overlap", overlap(met, single, self._known))
        finally:
            met.unpersist()

    def _top(self, asked: DataFrame) -> list[str]:
        order = [F.desc("matched"), F.asc("subscription")]
        first = asked.where("matched > 0").orderBy(*order).limit(self._settings.top)
        return [row["subscription"] for row in first.select("subscription").collect()]

    def _save(self, name: str, table: DataFrame) -> DataFrame:
        """Write a table, and give it back as it was written: what builds on it does not make it again."""
        path = self._storage.path(f"{_NEW}/{name}")
        table.write.mode("overwrite").parquet(path)
        return self._session.read.schema(table.schema).parquet(literal(path))
