"""The statistics of a small run, computed in this process without Spark.

    small_run            which runs are small; their tables as arrays
    columns              parquet columns as numbers
    windowed             windows and weights of documents
    document_tables      traffic, sources, errors, structures, cache, rates
    subscription_tables  selectivity, overlap and the compared subscriptions

Starting Spark and planning its jobs takes more than ten seconds, whatever the size of a run. The
tables, their values and the summary are those of `compute`; the tests compare both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.errors import PipelineError
from pathcast.pipeline.statistics.in_memory.document_tables import (
    cache_table,
    errors_table,
    rates_table,
    sources_table,
    structures_table,
    traffic_table,
)
from pathcast.pipeline.statistics.in_memory.small_run import (
    NO_TIME,
    SmallRun,
    is_small_run,
    read_run,
)
from pathcast.pipeline.statistics.in_memory.subscription_tables import (
    overlap_tables,
    selectivity_table,
    top_subscriptions,
)
from pathcast.pipeline.statistics.in_memory.windowed import WindowedDocuments, assign_windows
from pathcast.pipeline.statistics.run_files import no_folder_error, require_run
from pathcast.pipeline.statistics.saved import NEW_FOLDER, save_summary, start_saving, swap_in
from pathcast.pipeline.statistics.settings import StatisticsSettings
from pathcast.pipeline.statistics.summary import StatisticsSummary, from_micros
from pathcast.pipeline.storage import LocalStorage, local_path

__all__ = ["compute_in_memory", "is_small_run", "open_local_run"]

_DEFAULTS: Final = StatisticsSettings()


def open_local_run(out: str) -> LocalStorage:
    """Open the folder of a run on a local disk; PipelineError if it does not exist."""
    folder = local_path(out)
    if not folder.is_dir():
        raise no_folder_error(out)
    return LocalStorage(folder.resolve())


def compute_in_memory(
    out: str,
    *,
    settings: StatisticsSettings = _DEFAULTS,
    on_table: Callable[[str], None] = lambda _name: None,
) -> StatisticsSummary:
    """Compute the statistics of the run in a local folder, and save them there.

    `on_table` is called with the name of each table that is complete. The memory grows with the
    run: ask `is_small_run` first.
    """
    storage = open_local_run(out)
    try:
        require_run(storage)
        run = read_run(storage)
        windowed = assign_windows(run.documents, settings)
        start_saving(storage)
        tables = {}
        for name, table in _tables(run, windowed, settings):
            folder = storage.root / NEW_FOLDER / name
            folder.mkdir(parents=True)
            pq.write_table(table, folder / "part-0.parquet")
            tables[name] = table
            on_table(name)
        summary = _summarise(run, windowed, tables["selectivity"], len(tables["rates"]))
        save_summary(storage, summary)
        swap_in(storage)
    except OSError as error:
        raise PipelineError("output", f"{out}: {error.strerror or error}") from error
    return summary


def _tables(
    run: SmallRun, windowed: WindowedDocuments, settings: StatisticsSettings
) -> Iterator[tuple[str, pa.Table]]:
    """Yield all tables by name."""
    selectivity = selectivity_table(run, windowed)
    yield "selectivity", selectivity
    ids = settings.subscriptions or top_subscriptions(selectivity, settings.top)
    chosen, overlap = overlap_tables(run, windowed, selectivity, ids)
    yield "chosen", chosen
    yield "overlap", overlap
    yield "rates", rates_table(run, windowed)
    structures = structures_table(run, windowed)
    yield "structures", structures
    yield "cache", cache_table(structures, settings.entries)
    yield "traffic", traffic_table(run, windowed)
    yield "sources", sources_table(run)
    yield "errors", errors_table(run)


def _summarise(
    run: SmallRun, windowed: WindowedDocuments, selectivity: pa.Table, groups: int
) -> StatisticsSummary:
    documents, axis = run.documents, windowed.axis
    weight = windowed.weight[documents.read]
    squares = float((weight * weight).sum())
    sampled = documents.structure[documents.structure >= 0]
    timed = documents.time[documents.time != NO_TIME]
    silent = int((selectivity["matched"].to_numpy() == 0).sum())
    return StatisticsSummary(
        documents=len(documents),
        bytes=int(documents.bytes.sum()),
        read=int(documents.read.sum()),
        matched=int((documents.matches > 0).sum()),
        matches=int(documents.matches.sum()),
        refused=int(documents.refused.sum()),
        errors=len(run.errors.kind),
        deliveries=run.deliveries,
        groups=groups,
        subscriptions=len(selectivity),
        silent=None if run.routes is None else silent,
        sampled=len(sampled),
        structures=len(np.unique(sampled)),
        batches=len(np.unique(documents.batch)),
        first=_time(timed.min()) if len(timed) else None,
        last=_time(timed.max()) if len(timed) else None,
        by=axis.by,
        window=axis.window_length,
        windows=axis.windows,
        decay=axis.decay,
        kept=axis.kept,
        effective=float(weight.sum()) ** 2 / squares if squares else 0.0,
    )


def _time(micros: np.int64) -> datetime | None:
    return from_micros(int(micros))
