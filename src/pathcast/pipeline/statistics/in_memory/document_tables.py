"""Tables about documents: traffic, sources, errors, structures, cache, rates.

They equal those of `counts`, `structures` and `rates`, which have the definitions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pathcast.pipeline.statistics.in_memory.columns import Integers
from pathcast.pipeline.statistics.in_memory.small_run import SmallRun
from pathcast.pipeline.statistics.in_memory.windowed import (
    WindowedDocuments,
    start_times,
    sum_by,
    weigh_by,
    weights,
)
from pathcast.pipeline.statistics.saved import SAVED_SCHEMAS

__all__ = [
    "cache_table",
    "errors_table",
    "rates_table",
    "sources_table",
    "structures_table",
    "traffic_table",
]


def traffic_table(run: SmallRun, windowed: WindowedDocuments) -> pa.Table:
    """Return one row per window that has documents, in order."""
    length = windowed.axis.window_length
    totals = _totals(run, windowed.index, len(windowed.numbers))
    columns = {
        "window": windowed.numbers,
        "start": start_times(windowed.axis, windowed.numbers),
        **totals,
        "documents_rate": totals["documents"] / length,
        "bytes_rate": totals["bytes"] / length,
    }
    return pa.table(columns, SAVED_SCHEMAS["traffic"])


def sources_table(run: SmallRun) -> pa.Table:
    """Return the totals of each source."""
    sources, groups = np.unique(run.documents.source, return_inverse=True)
    names = run.strings["source"].decode(sources)
    columns = {"source": names, **_totals(run, groups, len(sources))}
    return pa.table(columns, SAVED_SCHEMAS["sources"])


def _totals(run: SmallRun, groups: Integers, count: int) -> dict[str, Integers]:
    documents = run.documents
    return {
        "documents": np.bincount(groups, minlength=count),
        "bytes": sum_by(groups, documents.bytes, count),
        "read": sum_by(groups, documents.read, count),
        "matched": sum_by(groups, documents.matches > 0, count),
        "matches": sum_by(groups, documents.matches, count),
        "refused": sum_by(groups, documents.refused, count),
    }


def errors_table(run: SmallRun) -> pa.Table:
    """Return one row per kind of error; the example is the first by document, place, message."""
    errors = run.errors
    order = np.lexsort((errors.message, errors.place, errors.document, errors.kind))
    kinds, first, groups = np.unique(errors.kind[order], return_index=True, return_inverse=True)
    examples = order[first]
    keys = np.stack([groups, errors.document[order], errors.batch[order]])
    distinct = np.unique(keys, axis=1)
    example = [
        run.strings["document"].decode(errors.document[examples]),
        run.strings["place"].decode(errors.place[examples]),
        run.strings["message"].decode(errors.message[examples]),
    ]
    schema = SAVED_SCHEMAS["errors"]
    columns = {
        "kind": run.strings["kind"].decode(kinds),
        "errors": np.bincount(groups, minlength=len(kinds)),
        "documents": np.bincount(distinct[0], minlength=len(kinds)),
        "undecided": sum_by(groups, errors.undecided[order], len(kinds)),
        "example": pa.StructArray.from_arrays(example, fields=list(schema.field("example").type)),
    }
    return pa.table(columns, schema)


def structures_table(run: SmallRun, windowed: WindowedDocuments) -> pa.Table:
    """Return the structures of sampled documents, most frequent first."""
    documents = run.documents
    sampled = np.flatnonzero(documents.structure >= 0)
    by_age = np.lexsort(
        (
            documents.document[sampled],
            documents.batch[sampled],
            windowed.at[sampled],  # no time is the smallest, as null is for Spark
            windowed.window[sampled],
            documents.structure[sampled],
        )
    )
    ordered = sampled[by_age]
    names, first, counts = np.unique(
        documents.structure[ordered], return_index=True, return_counts=True
    )
    ranked = np.lexsort((names, -counts))
    counts = counts[ranked]
    total = max(1, int(counts.sum()))
    columns = {
        "rank": np.arange(1, len(names) + 1),
        "structure": run.strings["structure"].decode(names[ranked]),
        "documents": counts,
        "share": counts / total,
        "cumulative": np.cumsum(counts) / total,
        "first": run.strings["document"].decode(documents.document[ordered[first[ranked]]]),
    }
    return pa.table(columns, SAVED_SCHEMAS["structures"])


def cache_table(structures: pa.Table, entries: Sequence[int]) -> pa.Table:
    """Return the hit rates of caches of these sizes, and of one that holds all structures."""
    rank, documents, share, cumulative = (
        structures[name].to_numpy() for name in ("rank", "documents", "share", "cumulative")
    )
    listed = np.isin(rank, list(entries)) | (cumulative == 1)
    columns = {
        "entries": rank[listed],
        "warm": cumulative[listed],
        "cold": (cumulative - rank * (share / documents))[listed],
    }
    return pa.table(columns, SAVED_SCHEMAS["cache"])


def rates_table(run: SmallRun, windowed: WindowedDocuments) -> pa.Table:
    """Return one row per subscriber: totals, rates, and the first of its fullest windows."""
    names = run.strings["subscriber"]
    rows, groups = run.delivery_document, run.delivery_subscriber
    if not run.deliveries and run.routes is not None:
        rows, groups = _route_pairs(run)
    elif not run.deliveries:  # each subscription is a group; ids are unique per document
        names = run.strings["subscription"]
        rows, groups = run.pair_document, run.pair_subscription
    axis, width = windowed.axis, max(1, len(windowed.numbers))
    keys, cells = np.unique(groups * width + windowed.index[rows], return_inverse=True)
    cell_documents = np.bincount(cells, minlength=len(keys))
    cell_bytes = sum_by(cells, run.documents.bytes[rows], len(keys))
    cell_window = windowed.numbers[keys % width] if len(keys) else keys
    weight = weights(axis, cell_window)
    members, first, group = np.unique(keys // width, return_index=True, return_inverse=True)
    count = len(members)
    documents, total_bytes = sum_by(group, cell_documents, count), sum_by(group, cell_bytes, count)
    peak = np.lexsort((cell_window, -cell_documents, group))[first]
    recent_length = axis.total_weight * axis.window_length
    recent_documents = weigh_by(group, cell_documents * weight, count)
    recent_bytes = weigh_by(group, cell_bytes * weight, count)
    columns = {
        "group": names.decode(members),
        "documents": documents,
        "bytes": total_bytes,
        "windows": np.bincount(group, minlength=count),
        "documents_rate": documents / (axis.total_length or 1),
        "bytes_rate": total_bytes / (axis.total_length or 1),
        "recent_documents_rate": recent_documents / (recent_length or 1),
        "recent_bytes_rate": recent_bytes / (recent_length or 1),
        "peak_window": cell_window[peak],
        "peak_start": start_times(axis, cell_window[peak]),
        "peak_documents": cell_documents[peak],
        "peak_documents_rate": cell_documents[peak] / axis.window_length,
        "peak_bytes_rate": cell_bytes[peak] / axis.window_length,
    }
    return pa.table(columns, SAVED_SCHEMAS["rates"])


def _route_pairs(run: SmallRun) -> tuple[Integers, Integers]:
    """Return the distinct pairs (document, subscriber) that follow from matches and routes."""
    routes = run.routes
    assert routes is not None
    versions = len(run.strings["version"])
    route_keys = routes.subscription * versions + routes.version
    order = np.argsort(route_keys, kind="stable")
    if not len(order):
        return run.pair_document[:0], run.pair_subscription[:0]
    pair_keys = run.pair_subscription * versions + run.documents.version[run.pair_document]
    positions = np.minimum(np.searchsorted(route_keys[order], pair_keys), len(order) - 1)
    route_rows = order[positions]
    routed = route_keys[route_rows] == pair_keys
    subscribers = max(1, len(run.strings["subscriber"]))
    pairs = np.unique(
        run.pair_document[routed] * subscribers + routes.subscriber[route_rows[routed]]
    )
    return pairs // subscribers, pairs % subscribers
