"""The statistics job: read the tables of a run, compute all statistics, swap in the new ones.

Only the compared subscriptions (at most `MAX_COMPARED`) and totals are collected in the driver. The
ids of all matches are read once, for overlap, if batches wrote partials that fit the windows
(`partial_rows`). Otherwise they are read three times: also for matches per document and per
subscription. `in_memory` computes the same tables of a small run without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.parallel_jobs import run_parallel
from pathcast.pipeline.statistics.counts import errors_by_kind, outcomes, sources, totals, traffic
from pathcast.pipeline.statistics.overlap import count_single, overlap, select_subscriptions
from pathcast.pipeline.statistics.partial_rows import (
    deliveries_by_window,
    documents_in_partials,
    partial_sums,
    version_counts,
    windowed_pairs,
    windowed_partials,
)
from pathcast.pipeline.statistics.rates import (
    group_pairs,
    rates,
    rates_by_window,
    subscriber_pairs,
)
from pathcast.pipeline.statistics.saved import (
    NEW_FOLDER,
    TABLES,
    read_summary,
    save_summary,
    saved_path,
    start_saving,
    swap_in,
)
from pathcast.pipeline.statistics.selectivity import selectivity, selectivity_of_counts
from pathcast.pipeline.statistics.settings import StatisticsSettings
from pathcast.pipeline.statistics.structures import cache_hits, structures
from pathcast.pipeline.statistics.summary import StatisticsSummary, summarise
from pathcast.pipeline.statistics.tables import (
    RunTables,
    derive_session,
    open_run_storage,
    read_tables,
)
from pathcast.pipeline.statistics.windows import (
    WindowAxis,
    assign_windows,
    join_windows,
    window_axis,
)
from pathcast.pipeline.storage import Storage

__all__ = ["Statistics", "compute", "read_statistics"]

_MAX_BROADCAST_DOCUMENTS: Final = 500_000  # documents, about 100 bytes each
_DEFAULTS: Final = StatisticsSettings()


@dataclass(frozen=True, slots=True)
class Statistics:
    """The summary, and the saved tables."""

    summary: StatisticsSummary
    paths: Mapping[str, str]
    """The path of each of `TABLES`, for Spark."""

    def table(self, session: SparkSession, name: str) -> DataFrame:
        """Return one of `TABLES`."""
        return session.read.parquet(escape_glob(self.paths[name]))


def compute(
    session: SparkSession,
    out: str,
    *,
    settings: StatisticsSettings = _DEFAULTS,
    groups: DataFrame | None = None,
    on_table: Callable[[str], None] = lambda _name: None,
) -> Statistics:
    """Compute the statistics of the run in `out`, and save them there.

    `on_table` is called with the name of each table that is complete, in any thread.
    `groups` is (subscription, group): rates are then per group instead of per subscriber.
    """
    storage = open_run_storage(session, out)
    own = derive_session(session)
    tables = read_tables(own, storage)
    start_saving(storage)
    summary = _StatisticsJob(own, storage, tables, settings, on_table).run(groups)
    save_summary(storage, summary)
    swap_in(storage)
    return _statistics_in(storage, summary)


def read_statistics(session: SparkSession, out: str) -> Statistics:
    """Return the saved statistics; PipelineError if there are none."""
    storage = open_run_storage(session, out)
    return _statistics_in(storage, read_summary(storage, out))


def _statistics_in(storage: Storage, summary: StatisticsSummary) -> Statistics:
    return Statistics(summary, {name: saved_path(storage, name) for name in TABLES})


class _StatisticsJob:
    """One computation of all tables; it persists the shared inputs while it runs."""

    def __init__(
        self,
        session: SparkSession,
        storage: Storage,
        tables: RunTables,
        settings: StatisticsSettings,
        on_table: Callable[[str], None],
    ) -> None:
        self._on_table = on_table
        self._session = session
        self._storage = storage
        self._tables = tables
        self._settings = settings
        self._axis: WindowAxis = window_axis(tables.documents, settings)
        self._subscriptions = (
            None
            if tables.routes is None
            else tables.routes.select("subscription", "version", "xpath")
        )

    def run(self, groups: DataFrame | None) -> StatisticsSummary:
        """Write all tables, independent ones in parallel."""
        axis, tables = self._axis, self._tables
        partials = windowed_partials(tables, axis)
        outcome_rows = assign_windows(tables.documents, axis)
        if partials is None:
            outcome_rows = outcomes(outcome_rows, tables.matches, tables.errors)
        outcome_rows = outcome_rows.persist()
        try:
            joinable = (
                F.broadcast(outcome_rows)
                if axis.documents <= _MAX_BROADCAST_DOCUMENTS
                else outcome_rows
            )
            windowed_matches = join_windows(tables.matches, joinable)
            errors, deliveries = run_parallel(
                self._session, tables.errors.count, tables.deliveries.count
            )
            if groups is not None or not deliveries:
                pairs = group_pairs(windowed_matches, self._routes() if groups is None else groups)
                rate_table = rates(pairs, axis)
            elif partials is not None:
                rate_table = rates_by_window(deliveries_by_window(partials), axis)
            else:  # deliveries are (document, subscriber) pairs already
                rate_table = rates(subscriber_pairs(tables.deliveries, joinable), axis)
            counted, sums = outcome_rows, totals()
            if partials is not None:
                counted, sums = documents_in_partials(partials), partial_sums()
            rate_rows, selectivity_rows, *_ = run_parallel(
                self._session,
                lambda: self._save("rates", rate_table),
                lambda: self._selectivity_and_overlap(windowed_matches, outcome_rows, partials),
                lambda: self._structures(outcome_rows),
                lambda: self._save("traffic", traffic(counted, axis, sums).orderBy("window")),
                lambda: self._save("sources", sources(counted, sums)),
                lambda: self._save("errors", errors_by_kind(tables.errors)),
            )
            counts = selectivity_rows.agg(
                F.count("*").alias("all"), F.count_if(F.col("matched") == 0).alias("silent")
            ).first()
            assert counts is not None
            return summarise(
                outcome_rows,
                axis,
                None if partials is None else counted,
                errors=errors,
                deliveries=deliveries,
                groups=rate_rows.count(),
                subscriptions=counts["all"],
                silent=None if self._subscriptions is None else counts["silent"],
            )
        finally:
            outcome_rows.unpersist()

    def _selectivity_and_overlap(
        self, windowed_matches: DataFrame, outcome_rows: DataFrame, partials: DataFrame | None
    ) -> DataFrame:
        """Save the selectivities, and the overlap of the subscriptions that they select."""
        if partials is None:
            read = outcome_rows.where("matches is not null")
            table = selectivity(windowed_matches, read, self._axis, self._subscriptions)
        else:
            pairs, counts = windowed_pairs(partials), version_counts(partials)
            table = selectivity_of_counts(pairs, counts, self._axis, self._subscriptions)
        selectivity_rows = self._save("selectivity", table)
        self._overlap(windowed_matches, selectivity_rows)
        return selectivity_rows

    def _structures(self, outcome_rows: DataFrame) -> DataFrame:
        ranked = self._save("structures", structures(outcome_rows))
        return self._save("cache", cache_hits(ranked, self._settings.entries))

    def _routes(self) -> DataFrame | None:
        routes = self._tables.routes
        return None if routes is None else routes.withColumnRenamed("subscriber", "group")

    def _overlap(self, windowed_matches: DataFrame, selectivity_rows: DataFrame) -> None:
        ids = list(self._settings.subscriptions) or self._top(selectivity_rows)
        selected = select_subscriptions(windowed_matches, ids).persist()
        try:
            single_counts = count_single(selected)
            id_column = F.array(*map(F.lit, dict.fromkeys(ids))).cast("array<string>")
            self._save(
                "chosen",
                self._session.range(1)
                .select(F.explode(id_column).alias("subscription"))
                .join(single_counts.drop("weight"), "subscription", "left")
                .groupBy("subscription")
                .agg(F.coalesce(F.sum("documents"), F.lit(0)).alias("documents"))
                .join(selectivity_rows.select("subscription", "xpath"), "subscription", "left"),
            )
            self._save("overlap", overlap(selected, single_counts, self._subscriptions))
        finally:
            selected.unpersist()

    def _top(self, selectivity_rows: DataFrame) -> list[str]:
        """Return the subscriptions with the most matches, of those that look equal the first.

        Subscriptions that match the same documents have the same counts and times. Comparing them
        would fill the overlap with ones.
        """
        order = [F.desc("matched"), F.asc("subscription")]
        signature = ["matched", "documents", "selectivity", "windows", "first", "last"]
        distinct = (
            selectivity_rows.where("matched > 0")
            .groupBy(*signature)
            .agg(F.min("subscription").alias("subscription"))
        )
        top = distinct.orderBy(*order).limit(self._settings.top)
        return [row["subscription"] for row in top.select("subscription").collect()]

    def _save(self, name: str, table: DataFrame) -> DataFrame:
        """Write a table and return it as read back, so that later steps do not compute it again."""
        path = self._storage.path(f"{NEW_FOLDER}/{name}")
        table.write.mode("overwrite").parquet(path)
        self._on_table(name)
        return self._session.read.schema(table.schema).parquet(escape_glob(path))
