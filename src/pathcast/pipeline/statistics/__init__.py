"""What a run teaches of its subscriptions, subscribers and documents: tables for whoever plans, and for people.

    documents, matches, errors, deliveries, routes  (as `tables` reads them)
      -> windows: every document gets a window and a weight, by its age
      -> selectivity, overlap, rates, structures, traffic, sources, errors
      -> job: written together, and swapped for those of the last time

Each statistic is a function from tables to a table, lazy as all of Spark is; nothing that grows with subscriptions or
documents comes to the driver. docs/reference/statistics.md has the formulas.
"""

from pathcast.pipeline.statistics.job import TABLES, Statistics, compute, read_statistics
from pathcast.pipeline.statistics.settings import StatisticsSettings
from pathcast.pipeline.statistics.summary import StatisticsSummary

__all__ = [
    "TABLES",
    "Statistics",
    "StatisticsSettings",
    "StatisticsSummary",
    "compute",
    "read_statistics",
]
