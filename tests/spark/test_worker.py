"""Tests of the worker functions without Spark: columns of results, bounded batches, deliveries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import DocumentError
from pathcast.files import Subscription
from pathcast.pipeline import worker as pipeline_worker
from pathcast.spark import Compiled, subscriptions, worker
from pathcast.spark.worker import MatchColumns, match_columns

XPATHS = ("//a", "//b", "/a/b", "//a[@x = '1']", "//c")
ROWS = [
    Subscription(f"s{number}", xpath, subscriber=f"u{number % 2}")
    for number, xpath in enumerate(XPATHS)
]
BODIES = (
    b"<a><b/></a>", b"<b/>", b"<a x='1'/>", b"<oops", b"<d/>", b"", None, b"<c><a/></c>",
)  # fmt: skip


@pytest.fixture(scope="module")
def subs() -> Compiled:
    return subscriptions(ROWS)


def ids_of(body: bytes | None) -> list[str] | None:
    matcher = Matcher()
    matcher.add_many([(row.id, row.xpath) for row in ROWS])
    try:
        return [str(id) for id in matcher.match(body or b"")]
    except DocumentError:
        return None


def batches(bodies: list[bytes | None]) -> Iterator[pa.RecordBatch]:
    ids = [f"d{number}" for number in range(len(bodies))]
    yield pa.record_batch({"document": ids, "body": pa.array(bodies, pa.binary())})


@given(
    st.lists(st.sampled_from(BODIES), max_size=20),
    st.integers(1, 8),
    st.sampled_from([pa.binary(), pa.string(), pa.large_binary(), pa.large_string()]),
)
def test_columns_equal_single_matches_whatever_the_bound(
    subs: Compiled, bodies: list[bytes | None], bound: int, column_type: pa.DataType
) -> None:
    column = pa.array(bodies, pa.binary()).cast(column_type)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "MAX_IDS_PER_BATCH", bound)
        columns = list(match_columns(worker.load(subs.task()), column))
    for part in columns:
        assert len(part) == len(part.errors)
        assert len(part) == 1 or len(part.subscriptions.values) <= bound
    ids = [row for part in columns for row in part.subscriptions.to_pylist()]
    errors = [row for part in columns for row in part.errors.to_pylist()]
    assert ids == [ids_of(body) for body in bodies]
    assert [error is None for error in errors] == [row is not None for row in ids]
    table = pa.RecordBatch.from_arrays(
        [pa.array(range(len(bodies)), pa.int64()), column], names=["id", "body"]
    )
    parts = list(worker.match_table(table, subs.task()))
    assert [tuple(row.values()) for part in parts for row in part.to_pylist()] == [
        (str(number), *row) for number, row in enumerate(zip(ids, errors, strict=True))
    ]


@given(st.lists(st.sampled_from(BODIES), max_size=20), st.integers(1, 8))
def test_deliveries_equal_grouped_matches(
    subs: Compiled, bodies: list[bytes | None], bound: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "MAX_IDS_PER_BATCH", bound)
        task = subs.task(routes=True)
        rows = [
            row for part in worker.deliver_documents(batches(bodies), task)
            for row in part.to_pylist()
        ]  # fmt: skip
    subscriber_of = {row.id: row.subscriber for row in ROWS}
    expected: dict[tuple[str, object], list[str]] = defaultdict(list)
    for number, body in enumerate(bodies):
        for id in ids_of(body) or ():
            expected[f"d{number}", subscriber_of[id]].append(id)
    assert {(row["document"], row["subscriber"]): row["subscriptions"] for row in rows} == expected
    assert [row["count"] for row in rows] == [len(row["subscriptions"]) for row in rows]
    assert len(rows) == len(expected)


def test_text_with_another_declared_encoding_is_not_misread() -> None:
    loaded = worker.load(subscriptions({"e": "//title[. = 'é']"}).task())
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><title>é</title>"
    column = pa.array([text, text])
    assert _ids(match_columns(loaded, column)) == [["e"], ["e"]]
    octets = pa.array([text.encode("latin-1"), text.encode()])
    assert _ids(match_columns(loaded, octets)) == [["e"], []]


def test_table_without_a_column_is_refused(subs: Compiled) -> None:
    table = pa.RecordBatch.from_pydict({"id": ["1"], "text": ["<a/>"]})
    with pytest.raises(ValueError, match="no column 'body'"):
        list(worker.match_table(table, subs.task()))


def test_strings_that_are_not_utf8_are_refused() -> None:
    loaded = worker.load(subscriptions({"e": "//a"}).task())
    column = pa.array([b"<a>\xff</a>", b"\xff\xfe<\0a\0/\0>\0"]).view(pa.string())
    (results,) = match_columns(loaded, column)
    assert results.subscriptions.to_pylist() == [None, None]
    kinds = [error["kind"] for error in results.errors.to_pylist()]
    assert set(kinds) <= {"encoding", "malformed"}


def test_other_columns_are_refused() -> None:
    loaded = worker.load(subscriptions({"e": "//a"}).task())
    with pytest.raises(TypeError, match="binary or string, not int64"):
        next(match_columns(loaded, pa.array([1])))


def test_undecided_subscriptions_are_named() -> None:
    xpaths = {f"s{number}": f"concat(//comment(), '') = '{number}'" for number in range(5)}
    loaded = worker.load(subscriptions(xpaths | {"a": "//a"}).task())
    body = b"<r><a/>" + b"<!--5-->" * 5000 + b"</r>"
    (results,) = match_columns(loaded, pa.array([body]))
    (error,) = results.errors.to_pylist()
    assert results.subscriptions.to_pylist() == [["a"]]
    assert error["kind"] == "document"
    assert "s0, s1, s2 and 2 more" in error["message"]


def test_a_worker_keeps_several_small_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline_worker, "_version_cache", {})
    tasks = [subscriptions({"s": f"//a{number}"}).task() for number in range(5)]
    loaded = [worker.load(task) for task in tasks]
    assert worker.load(tasks[1]) is loaded[1]
    assert worker.load(tasks[0]) is not loaded[0]  # it made room for the fifth


def _ids(columns: Iterator[MatchColumns]) -> list[list[str] | None]:
    return [row for part in columns for row in part.subscriptions.to_pylist()]
