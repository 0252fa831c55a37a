"""Partial statistics of a batch: equal to loops, and to the merged partials of any parts."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathcast.pipeline.delivery_index import DeliveryIndex
from pathcast.pipeline.partial_counter import PartialCounter
from pathcast.pipeline.partials import merge_partials, partial_rows
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from tests.pipeline.made_runs import SampleDocument, SampleRun, random_run

START = datetime(1969, 12, 31, 22, 30, tzinfo=UTC)
ROUTES = {"v": {"a": "ann", "b": "ann", "c": "bob"}}

documents_of = st.lists(
    st.builds(
        SampleDocument,
        batch=st.just(0),
        id=st.uuids().map(str),
        time=st.none() | st.integers(0, 4 * 3600).map(lambda s: START + timedelta(seconds=s)),
        matches=st.none() | st.lists(st.sampled_from("abc"), unique=True).map(tuple),
        bytes=st.none() | st.integers(0, 99),
        source=st.sampled_from(["x", "y"]),
    ),
    max_size=12,
)


def partials_of(documents: list[SampleDocument]) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        SampleRun(documents, ROUTES).write(Path(folder))
        return partial_rows(Path(folder), "v")


def rows_of(table: pa.Table) -> set[tuple[object, ...]]:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert len(rows) == len(set(rows))
    return set(rows)


def expected_rows(documents: list[SampleDocument]) -> set[tuple[object, ...]]:
    """Add up documents one by one."""
    sums: dict[tuple[object, ...], Counter[str]] = {}
    times: dict[tuple[object, ...], list[datetime]] = {}

    def add(document: SampleDocument, kind: str, version: str | None, key: str, **counts: int):  # type: ignore[no-untyped-def]
        hour = None if document.time is None else int(document.time.timestamp() // 3600)
        group = (kind, hour, version, key)
        sums.setdefault(group, Counter()).update(documents=1, **counts)
        times.setdefault(group, []).extend([document.time] if document.time else [])

    run = SampleRun(documents, ROUTES)
    for document in documents:
        matches, size = document.matches, document.bytes or 0
        is_read = matches is not None
        add(
            *(document, "document", "v" if is_read else None, document.source),
            bytes=size,
            read=is_read,
            matched=bool(matches),
            matches=len(matches or ()),
            refused=not is_read,
        )
        for subscription in matches or ():
            add(document, "match", "v", subscription)
        for subscriber in run.deliveries(document):
            add(document, "delivery", None, subscriber, bytes=size)
    names = ("documents", "bytes", "read", "matched", "matches", "refused")
    return {
        (
            *group,
            *(counts[name] for name in names),
            min(times[group], default=None),
            max(times[group], default=None),
        )
        for group, counts in sums.items()
    }


@settings(max_examples=60, deadline=None)
@given(documents_of, st.lists(st.integers(0, 12), max_size=3))
def test_partials_against_loops_and_of_parts(
    documents: list[SampleDocument], cuts: list[int]
) -> None:
    table = partials_of(documents)
    assert rows_of(table) == expected_rows(documents)
    bounds = [0, *sorted(cuts), len(documents)]
    parts = [partials_of(documents[low:high]) for low, high in itertools.pairwise(bounds)]
    random.Random(1).shuffle(parts)
    merged = parts[0]
    for part in parts[1:]:
        merged = merge_partials(pa.concat_tables([merged, part]))
    assert rows_of(merged) == rows_of(table)


@settings(max_examples=60, deadline=None)
@given(documents_of, st.integers(1, 5), st.sampled_from([1, 3, 100]))
def test_worker_counts_the_same(documents: list[SampleDocument], chunk: int, pending: int) -> None:
    """The numbers of a worker give the rows that the tables give."""
    ids = pa.array(["c", "a", "b"])
    subscribers = pa.array([ROUTES["v"][id] for id in ids.to_pylist()])
    index = DeliveryIndex.build(ids, subscribers)
    written: list[pa.RecordBatch] = []
    counter = PartialCounter(7, "v", ids, written.append)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_MAX_PENDING", "_MAX_SOURCES"):
            patch.setattr(f"pathcast.pipeline.partial_counter.{name}", pending)
        patch.setattr("pathcast.pipeline.partial_counter._MAX_SPARSITY", pending % 2)
        for start in range(0, len(documents), chunk):
            part = documents[start : start + chunk]
            lists = [[ids.to_pylist().index(id) for id in doc.matches or ()] for doc in part]
            offsets = np.concatenate(([0], np.cumsum([len(numbers) for numbers in lists])))
            numbers = np.array([number for row in lists for number in row], np.int32)
            columns = pa.RecordBatch.from_arrays(
                [
                    pa.array([doc.source for doc in part]),
                    pa.array([doc.time for doc in part], pa.timestamp("us", tz="UTC")),
                    pa.array([doc.bytes for doc in part], pa.int64()),
                ],
                names=["source", "time", "bytes"],
            )
            refused = np.array([doc.matches is None for doc in part])
            counter.add_documents(columns, np.diff(offsets), refused)
            counter.add_matches(columns, offsets, numbers)
            counter.add_deliveries(columns, index.group(offsets, numbers))
        counter.close()
    table = pa.Table.from_batches(written, TABLE_SCHEMAS["partials"])
    assert set(table["batch"].to_pylist()) <= {7}
    merged = merge_partials(table.drop_columns(["batch"]))
    assert rows_of(merged) == expected_rows(documents)


def test_partials_of_many_row_groups(tmp_path: Path) -> None:
    run = random_run(7, documents=200)
    documents = [document for document in run.docs if document.version == "v1"]
    SampleRun(documents, run.routes).write(tmp_path, part=1)
    table = partial_rows(tmp_path, "v1")
    schema = TABLE_SCHEMAS["partials"]
    assert table.schema.names == [name for name in schema.names if name != "batch"]
    matches = sum(len(document.matches or ()) for document in documents)
    rows = table.to_pylist()
    assert sum(row["documents"] for row in rows if row["kind"] == "match") == matches
    assert sum(row["matches"] for row in rows if row["kind"] == "document") == matches
    assert pq.read_table(tmp_path / "matches").num_rows >= matches
