"""Tables about subscriptions: selectivity, the compared ones, and their overlap.

They equal those of `selectivity` and `overlap`, which have the definitions. The overlap of k
compared subscriptions is a product of matrices with a row per document that matches one of them and
k columns, over `_DOCUMENTS_PER_STEP` documents at a time. Documents that match few of them are
counted pair by pair instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.pipeline.statistics.in_memory.columns import Floats, Integers
from pathcast.pipeline.statistics.in_memory.small_run import NO_TIME, SmallRun
from pathcast.pipeline.statistics.in_memory.windowed import (
    WindowedDocuments,
    divide,
    extreme,
    ratio,
    sum_by,
    times,
    weigh_by,
)
from pathcast.pipeline.statistics.saved import SAVED_SCHEMAS
from pathcast.pipeline.statistics.selectivity import MAX_RECENT_WINDOWS

__all__ = ["overlap_tables", "selectivity_table", "top_subscriptions"]

_DOCUMENTS_PER_STEP: Final = 512
_PAIR_COST: Final = 100  # the time to count a pair, in products of two numbers


def selectivity_table(run: SmallRun, windowed: WindowedDocuments) -> pa.Table:
    """Return one row per subscription of any version, or that matched."""
    count = len(run.strings["subscription"])
    rows, groups = run.pair_document, run.pair_subscription
    matched = np.bincount(groups, minlength=count)
    weight = weigh_by(groups, windowed.weight[rows], count)
    documents, mass, since = _documents_per_subscription(run, windowed, count)
    xpath, is_listed = np.full(count, -1), matched > 0
    if run.routes is not None:
        np.maximum.at(xpath, run.routes.subscription, run.routes.xpath)
        is_listed[run.routes.subscription] = True
    columns = {
        "subscription": run.strings["subscription"].values,
        "matched": matched,
        "documents": documents,
        "share": divide(matched, documents),
        "selectivity": ratio(weight, mass),
        "windows": _recent_windows(run, windowed, count),
        "since": times(since),
        "first": times(extreme("first", groups, windowed.at[rows], count)),
        "last": times(extreme("last", groups, windowed.at[rows], count)),
        "xpath": run.strings["xpath"].decode(xpath),
    }
    return pa.table(columns, SAVED_SCHEMAS["selectivity"]).filter(pa.array(is_listed))


def _documents_per_subscription(
    run: SmallRun, windowed: WindowedDocuments, count: int
) -> tuple[Integers, Floats, Integers]:
    """Return the documents matched against each subscription, their weight, and the first's time.

    A subscription whose routes are gone counts all documents.
    """
    read = run.documents.read
    weight, at = windowed.weight[read], windowed.at[read]
    nowhere = np.zeros(len(weight), np.int64)
    all_since = int(extreme("first", nowhere, at, 1)[0])
    documents, mass = np.full(count, len(weight)), np.full(count, weight.sum())
    since = np.full(count, all_since)
    routes = run.routes
    if routes is None:
        return documents, mass, since
    versions, version = len(run.strings["version"]), run.documents.version[read]
    version_documents = np.bincount(version, minlength=versions)[routes.version]
    version_mass = weigh_by(version, weight, versions)[routes.version]
    version_since = extreme("first", version, at, versions)[routes.version]
    routed = np.zeros(count, np.bool_)
    routed[routes.subscription] = True
    routed_since = extreme("first", routes.subscription, version_since, count)
    return (
        np.where(routed, sum_by(routes.subscription, version_documents, count), documents),
        np.where(routed, weigh_by(routes.subscription, version_mass, count), mass),
        np.where(routed_since == NO_TIME, all_since, routed_since),
    )


def _recent_windows(run: SmallRun, windowed: WindowedDocuments, count: int) -> Integers:
    """Return in how many of the newest windows subscriptions match."""
    age = (windowed.axis.newest - windowed.window)[run.pair_document]
    is_recent = age < MAX_RECENT_WINDOWS
    keys = run.pair_subscription[is_recent] * MAX_RECENT_WINDOWS + age[is_recent]
    return np.bincount(np.unique(keys) // MAX_RECENT_WINDOWS, minlength=count)


def top_subscriptions(selectivity: pa.Table, top: int) -> list[str]:
    """Return the subscriptions with the most matches, of those that look equal the first."""
    signature = ["matched", "documents", "selectivity", "windows", "first", "last"]
    matching = selectivity.filter(pa.array(selectivity["matched"].to_numpy() > 0))
    distinct = matching.group_by(signature).aggregate([("subscription", "min")])
    order = [("matched", "descending"), ("subscription_min", "ascending")]
    subscriptions: list[str] = distinct.sort_by(order)["subscription_min"].to_pylist()
    return subscriptions[:top]


def overlap_tables(
    run: SmallRun, windowed: WindowedDocuments, selectivity: pa.Table, ids: Sequence[str]
) -> tuple[pa.Table, pa.Table]:
    """Return the tables `chosen` and `overlap` of these subscriptions."""
    compared = sorted(set(ids))
    numbers = run.strings["subscription"].find(compared)
    column_of = np.full(len(run.strings["subscription"]) + 1, -1)
    column_of[numbers] = np.arange(len(compared))
    column_of[-1] = -1  # the number of ids that match nothing
    pair_column = column_of[run.pair_subscription]
    is_compared = pair_column >= 0
    rows, columns = run.pair_document[is_compared], pair_column[is_compared]
    order = np.argsort(rows, kind="stable")
    rows, columns = rows[order], columns[order]
    both, weight = _common(rows, columns, windowed.weight, len(compared))
    names = pa.array(compared, pa.string())
    listed = pc.index_in(names, value_set=selectivity["subscription"].combine_chunks())
    chosen = pa.table(
        {
            "subscription": names,
            "documents": both.diagonal().astype(np.int64),
            "xpath": selectivity["xpath"].take(listed),
        },
        SAVED_SCHEMAS["chosen"],
    )
    versions, documents_of, weight_of = _count_by_version(
        run, windowed, rows, columns, len(compared)
    )
    has = _versions_of(run, column_of, versions, documents_of)
    documents_under, weight_under = documents_of @ has.T, weight_of @ has.T
    a, b = np.nonzero(np.triu(both, 1))
    weight_a, weight_b = weight_under[a, b], weight_under[b, a]
    overlap = pa.table(
        {
            "a": names.take(pa.array(a)),
            "b": names.take(pa.array(b)),
            "both": both[a, b].astype(np.int64),
            "documents_a": documents_under[a, b].astype(np.int64),
            "documents_b": documents_under[b, a].astype(np.int64),
            "jaccard": ratio(weight[a, b], weight_a + weight_b - weight[a, b]),
            "given_a": ratio(weight[a, b], weight_a),
            "given_b": ratio(weight[a, b], weight_b),
        },
        SAVED_SCHEMAS["overlap"],
    )
    return chosen, overlap


def _common(
    rows: Integers, columns: Integers, weights: Floats, count: int
) -> tuple[Floats, Floats]:
    """Return the number and the weight of common documents of all pairs of columns.

    `rows` are sorted: the entries of a document are neighbours.
    """
    both, weight = np.zeros((count, count)), np.zeros((count, count))
    documents, starts, sizes = np.unique(rows, return_index=True, return_counts=True)
    for first in range(0, len(documents), _DOCUMENTS_PER_STEP):
        part = slice(first, first + _DOCUMENTS_PER_STEP)
        part_weights, part_sizes = weights[documents[part]], sizes[part]
        begin = int(starts[first])
        entries = columns[begin : begin + int(part_sizes.sum())]
        if (part_sizes**2).sum() * _PAIR_COST < len(part_sizes) * count**2:
            left, right, pair_weights = _pairs(entries, part_sizes, part_weights)
            np.add.at(both, (left, right), 1)
            np.add.at(weight, (left, right), pair_weights)
        else:
            matrix = np.zeros((len(part_sizes), count))
            matrix[np.repeat(np.arange(len(part_sizes)), part_sizes), entries] = 1
            both += matrix.T @ matrix
            weight += (matrix * part_weights[:, np.newaxis]).T @ matrix
    return both, weight


def _pairs(
    entries: Integers, sizes: Integers, weights: Floats
) -> tuple[Integers, Integers, Floats]:
    """Return all ordered pairs of entries of the same document, with its weight."""
    partners = np.repeat(sizes, sizes)  # of each entry
    left = np.repeat(np.arange(len(entries)), partners)
    document_start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    pair_start = np.cumsum(partners) - partners
    right = np.arange(len(left)) - np.repeat(pair_start - document_start, partners)
    return entries[left], entries[right], np.repeat(weights, sizes**2)


def _count_by_version(
    run: SmallRun, windowed: WindowedDocuments, rows: Integers, columns: Integers, count: int
) -> tuple[Integers, Integers, Floats]:
    """Return the versions of documents, and [i, v]: the number and the weight of those of i."""
    versions, version = np.unique(run.documents.version[rows], return_inverse=True)
    cells, shape = columns * len(versions) + version, (count, len(versions))
    size = count * len(versions)
    return (
        versions,
        np.bincount(cells, minlength=size).reshape(shape),
        weigh_by(cells, windowed.weight[rows], size).reshape(shape),
    )


def _versions_of(
    run: SmallRun, column_of: Integers, versions: Integers, documents: Integers
) -> Floats:
    """Return [i, v]: 1 if version v has subscription i.

    A subscription is in the versions of its routes, and in those that it matched under even if
    their routes are gone. Without routes every version has every subscription.
    """
    if run.routes is None:
        return np.ones(documents.shape)
    has = (documents > 0).astype(np.float64)
    column = column_of[run.routes.subscription]
    relevant = (column >= 0) & np.isin(run.routes.version, versions)
    has[column[relevant], np.searchsorted(versions, run.routes.version[relevant])] = 1
    return has
