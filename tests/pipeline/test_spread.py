"""Matching in fragments gives the same results as in one piece, as Matcher and as libxml2."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from pathcast import Matcher
from pathcast.documents import Limits
from pathcast.errors import PipelineError
from pathcast.files import Subscription
from pathcast.pipeline import matching
from pathcast.pipeline.fragment_matching import PARTS_PER_FRAGMENT, match_in_fragments
from pathcast.pipeline.fragments import Fragments, split_version
from pathcast.pipeline.rows import DOCUMENT_SCHEMA, MAX_SUBSCRIPTIONS_PER_ROW
from pathcast.pipeline.versions import Version, compile_version
from pathcast.pipeline.worker import MatchTask, load_version, match_bodies
from tests import generate
from tests.generate import NAMESPACES
from tests.oracle import oracle
from tests.pipeline.sets import by_matcher, without_expensive

COLUMNS = (
    "id string, body binary, source string, time timestamp, "
    "fault struct<kind:string,message:string>"
)
TIME = datetime(2024, 5, 1, 12, tzinfo=UTC)

Errors = frozenset[tuple[str | None, str, str | None, str]]


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """The result rows of a document, combined."""

    subscriptions: frozenset[str]
    errors: Errors
    facts: tuple[object, ...]


def read_results(rows: Sequence[Row], version: str) -> dict[str, DocumentResult]:
    """Combine the rows of each document, and check the invariants of `rows`."""
    by_document: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_document[row.document].append(row)
    results = {}
    for document, document_rows in by_document.items():
        first = [row for row in document_rows if row.first]
        assert len(first) == 1, (document, document_rows)
        matches = [row for row in document_rows if row.kind is None]
        assert all(row.subscriptions for row in matches if not row.first)
        assert all(len(row.subscriptions) <= MAX_SUBSCRIPTIONS_PER_ROW for row in matches)
        parts = [row.part for row in matches]
        assert len(set(parts)) == len(parts)
        ids = [id for row in matches for id in row.subscriptions]
        assert len(set(ids)) == len(ids), "a match was found twice"
        assert {row.version for row in document_rows} == {version}
        for row in document_rows:
            if not row.first:
                assert (row.source, row.time, row.bytes, row.structure) == (None,) * 4
        errors = [
            (row.subscriptions[0] if row.subscriptions else None, row.kind, row.place, row.message)
            for row in document_rows
            if row.kind is not None
        ]
        assert len(set(errors)) == len(errors)
        (row,) = first
        columns = (row.source, row.time, row.bytes, row.structure)
        results[document] = DocumentResult(frozenset(ids), frozenset(errors), columns)
    return results


def documents_table(spark: SparkSession, bodies: Mapping[str, bytes | None]) -> DataFrame:
    rows = [
        (id, body, "here", TIME, None if body is not None else ("size", "too large"))
        for id, body in bodies.items()
    ]
    return spark.createDataFrame(rows, COLUMNS).repartition(2)


def match_by_fragments(
    documents: DataFrame, version: Version, count: int, limits: Limits | None = None
) -> dict[str, DocumentResult]:
    fragments = split_version(version, count)
    fragments.ship(documents.sparkSession.sparkContext)
    task = MatchTask(version.name, version.file, limits or Limits(), structure_share=0.5)
    return read_results(match_in_fragments(documents, fragments, task).collect(), version.name)


def match_whole(
    documents: DataFrame, version: Version, limits: Limits | None = None
) -> dict[str, DocumentResult]:
    version.ship(documents.sparkSession.sparkContext)
    task = MatchTask(version.name, version.file, limits or Limits(), structure_share=0.5)
    return read_results(matching.match_documents(documents, task).collect(), version.name)


def test_random_subscriptions_against_libxml2(spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(11)
    texts = {generate.expression(rng, knobs) for knobs in
             (generate.WHOLE, generate.NATIVE) for _ in range(150)}  # fmt: skip
    subscriptions = without_expensive(
        Subscription(number, text, NAMESPACES) for number, text in enumerate(sorted(texts))
    )
    bodies: dict[str, bytes | None] = {f"d{number}": generate.document(rng) for number in range(60)}
    documents = documents_table(spark, bodies)
    version = compile_version(subscriptions, tmp_path)
    results = match_by_fragments(documents, version, 3)
    assert results == match_whole(documents, version)
    for id, body in bodies.items():
        assert body is not None
        expected = {
            str(subscription.id)
            for subscription in subscriptions
            if oracle(subscription.xpath, subscription.namespaces, body)
        }
        assert results[id].subscriptions == expected


def test_every_document_has_one_result(spark: SparkSession, tmp_path: Path) -> None:
    subscriptions = [
        Subscription("homes", "/a | /b | /c/d | //e[f]"),
        Subscription("a", "/a"),
        Subscription("b", "/b/x"),
        Subscription("cd", "/c/d"),
        Subscription("ef", "//e/f"),
        Subscription("lang", "//@xml:lang"),
        Subscription("p", "//p:a[@q:x]", NAMESPACES),
        Subscription("any", "//p:*", NAMESPACES),
        Subscription("note", "//processing-instruction('i')"),
        Subscription("text", "/g/text()"),
    ]
    bodies: dict[str, bytes | None] = {
        "all": b"<a xml:lang='en'><e><f/></e><p:a xmlns:p='urn:p' p:x=''/><?i 5?></a>",
        "two": b"<c><d/><e><f/></e></c>",
        "attribute": b"<p:a xmlns:p='urn:p' xmlns:q='urn:q' q:x=''/>",
        "text": b"<g>5</g>",
        "none": b"<z/>",
        "near": b"<b/>",
        "broken": b"<a>",
        "empty": b"",
        "deep": b"<a>" * 20 + b"</a>" * 20,
        "unread": None,
    }
    documents = documents_table(spark, bodies)
    version = compile_version(subscriptions, tmp_path)
    limits = Limits(depth=10)
    results = match_whole(documents, version, limits)
    for count in (2, 30):
        assert match_by_fragments(documents, version, count, limits) == results
    assert set(results) == set(bodies)
    expected = by_matcher(subscriptions, bodies) | {"deep": frozenset()}
    assert {id: result.subscriptions for id, result in results.items()} == expected
    assert expected["all"] == {"homes", "a", "ef", "lang", "any", "note"}
    kinds = {
        id: [kind for _, kind, _, _ in result.errors]
        for id, result in results.items()
        if result.errors
    }
    assert kinds == {
        "broken": ["malformed"],
        "empty": ["empty"],
        "deep": ["depth"],
        "unread": ["size"],
    }
    assert results["none"].facts[:3] == ("here", TIME.replace(tzinfo=None), 4)


def test_undecided_subscriptions_are_reported_once(spark: SparkSession, tmp_path: Path) -> None:
    """libxml2 would take too long on so many comments: each subscription that needs it has an
    error.
    """
    texts = [f"concat(//a/comment(), '') = '{number}' or /r/a{number}" for number in range(6)]
    subscriptions = without_expensive(
        Subscription(number, text) for number, text in enumerate(texts)
    )
    bodies: dict[str, bytes | None] = {"long": b"<r><a>" + b"<!--7-->" * 5_000 + b"</a></r>"}
    documents = documents_table(spark, bodies)
    version = compile_version([*subscriptions, Subscription("r", "/r")], tmp_path)
    results = match_by_fragments(documents, version, 3)
    assert results == match_whole(documents, version)
    assert len(results["long"].errors) == len(subscriptions) > 0
    assert results["long"].subscriptions == {"r"}


def test_long_results_have_several_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Equal subscriptions, more than a row holds, all with the same key."""
    count = MAX_SUBSCRIPTIONS_PER_ROW + 5_000
    version = compile_version(
        (Subscription(number, "//a" if number % 2 else "/a") for number in range(2 * count)),
        tmp_path,
    )
    fragments = split_version(version, 2)
    fragments.ship(spark.sparkContext)
    documents = documents_table(spark, {"a": b"<a/>", "b": b"<b><a/></b>"})
    rows = match_in_fragments(documents, fragments, MatchTask(version.name, version.file)).select(
        "document", "part", "first", F.size("subscriptions").alias("size")
    )
    sizes = sorted(map(tuple, rows.collect()))
    assert sizes == [
        ("a", 0, True, MAX_SUBSCRIPTIONS_PER_ROW),
        ("a", 1, False, 5_000),
        ("a", PARTS_PER_FRAGMENT, False, MAX_SUBSCRIPTIONS_PER_ROW),
        ("a", PARTS_PER_FRAGMENT + 1, False, 5_000),
        ("b", 0, True, MAX_SUBSCRIPTIONS_PER_ROW),
        ("b", 1, False, 5_000),
    ]


def test_record_batches_stay_bounded(tmp_path: Path) -> None:
    """Memory does not grow with the number of documents in a batch."""
    count = MAX_SUBSCRIPTIONS_PER_ROW // 2
    version = compile_version((Subscription(number, "/a") for number in range(count)), tmp_path)
    bodies = [b"<a/>"] * 40 + [b"<b/>"] * 40 + [b"<a>"]
    ids = [str(number) for number in range(len(bodies))]
    columns = pa.RecordBatch.from_pylist(
        [{"document": id, "first": True} for id in ids], DOCUMENT_SCHEMA
    )
    loaded = load_version(str(version.path))
    rows = [*match_bodies(loaded, pa.array(bodies), columns, version.name)]
    assert (
        max(len(pc.list_flatten(row.column("subscriptions"))) for row in rows)
        <= 2 * MAX_SUBSCRIPTIONS_PER_ROW
    )
    assert [id for row in rows for id in row.column("document").to_pylist()] == ids
    sizes = [size for row in rows for size in pc.list_value_length(row.column("subscriptions"))]
    assert [size.as_py() for size in sizes] == [count] * 40 + [0] * 40 + [None]
    assert loaded.matcher.stats().documents == 80


def test_documents_are_routed_to_matching_fragments_only(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Parts identify the fragment, and a task matches one fragment after the other."""
    version = compile_version(
        [
            Subscription(f"{root}{number}", f"/{root}/x{number}")
            for root in "abcd"
            for number in range(8)
        ],
        tmp_path,
    )
    fragments = split_version(version, 4)
    fragments.ship(spark.sparkContext)
    bodies = {f"{root} {number}": f"<{root}><x1/><x5/></{root}>".encode()
              for root in "abcde" for number in range(20)}  # fmt: skip
    matched = match_in_fragments(
        documents_table(spark, bodies), fragments, MatchTask(version.name, version.file)
    ).withColumn("partition", F.spark_partition_id())
    homes: dict[str, set[int]] = defaultdict(set)
    tasks: dict[int, list[int]] = defaultdict(list)
    rows = matched.collect()
    for row in rows:
        if row.subscriptions:
            fragment = row.part // PARTS_PER_FRAGMENT
            homes[row.document[0]].add(fragment)
            if fragment not in tasks[row.partition][-1:]:
                tasks[row.partition].append(fragment)
    assert Counter(row.document for row in rows) == dict.fromkeys(bodies, 1)
    assert homes == {"a": {0}, "b": {1}, "c": {2}, "d": {3}}
    assert len(tasks) == spark.sparkContext.defaultParallelism == 2
    assert sorted(fragment for task in tasks.values() for fragment in task) == [0, 1, 2, 3]


def test_workers_share_fragments(spark: SparkSession, tmp_path: Path) -> None:
    version = compile_version([Subscription("a", "//a")], tmp_path)
    fragments = split_version(version, 1)
    fragments.ship(spark.sparkContext)
    bodies = {str(number): b"<a/>" for number in range(40)}
    matched = match_in_fragments(
        documents_table(spark, bodies), fragments, MatchTask(version.name, version.file)
    )
    used = matched.withColumn("partition", F.spark_partition_id()).collect()
    assert {row.partition for row in used} == set(range(spark.sparkContext.defaultParallelism))
    assert len(used) == 40


# files


def test_fragments_are_reused(tmp_path: Path) -> None:
    version = compile_version(
        [Subscription(number, f"/a/b{number}") for number in range(9)], tmp_path
    )
    fragments = split_version(version, 3)
    assert isinstance(fragments, Fragments)
    assert [path.name for path in fragments.paths] == [
        f"{version.name}-3-{number}.subscriptions" for number in range(3)
    ]
    assert [len(Matcher.load(path)) for path in fragments.paths] == [3, 3, 3]
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()}
    assert split_version(version, 3) == fragments
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == {
        path: time for path, (time, _) in before.items()
    }
    for missing in (
        fragments.router,
        fragments.paths[1],
    ):  # a missing file is built again, identically
        missing.unlink()
        assert split_version(version, 3) == fragments
        assert missing.read_bytes() == before[missing][1]


@pytest.mark.parametrize("count", [0, 4097])
def test_number_of_fragments_is_limited(tmp_path: Path, count: int) -> None:
    version = compile_version([Subscription("a", "/a")], tmp_path)
    with pytest.raises(PipelineError, match=f"not {count:,}"):
        split_version(version, count)
