"""Statistics of a run on its subscriptions, subscribers and documents, for planners and people.

    documents, matches, errors, deliveries, routes
      -> windows: every document gets a window, and a weight by its age
      -> selectivity, overlap, rates, structures, traffic, sources, errors
      -> job: written together, then swapped for the previous ones

    settings     the parameters, validated
    run_files    the files of a run that count
    tables       the tables of a run, as Spark reads them
    windows      windows and weights of documents
    counts       totals by window, source and kind of error
    selectivity  the share of documents that a subscription matches
    overlap      the common documents of pairs of subscriptions
    rates        documents and bytes per subscriber or group
    structures   repeated document structures, and the hit rate of a cache of them
    summary      the totals, as JSON
    partial_rows the same from the partials that batches wrote
    job          the computation of all tables
    in_memory    the same tables of a small run, without Spark
    saved        the saved tables, and how they are replaced

With Spark, each statistic is a lazy function from tables to a table, and nothing that grows with
the number of subscriptions or documents is collected in the driver. The formulas are in
docs/reference/statistics.md.
"""

from pathcast.pipeline.statistics.in_memory import compute_in_memory, is_small_run
from pathcast.pipeline.statistics.job import Statistics, compute, read_statistics
from pathcast.pipeline.statistics.saved import TABLES
from pathcast.pipeline.statistics.settings import StatisticsSettings
from pathcast.pipeline.statistics.summary import StatisticsSummary

__all__ = [
    "TABLES",
    "Statistics",
    "StatisticsSettings",
    "StatisticsSummary",
    "compute",
    "compute_in_memory",
    "is_small_run",
    "read_statistics",
]
