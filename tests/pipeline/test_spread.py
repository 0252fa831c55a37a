"""The automaton spread over fragments: the same answers as in one piece, as Matcher's, and as libxml2's."""

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
from tests.pipeline.sets import admitted, by_matcher

COLUMNS = "id string, body binary, source string, time timestamp, fault struct<kind:string,message:string>"
TIME = datetime(2024, 5, 1, 12, tzinfo=UTC)

Errors = frozenset[tuple[str | None, str, str | None, str]]


@dataclass(frozen=True, slots=True)
class Known:
    """What rows say of a document."""

    subscriptions: frozenset[str]
    errors: Errors
    facts: tuple[object, ...]


def read(rows: Sequence[Row], version: str) -> dict[str, Known]:
    """What all rows of documents say together, each of them once; they are looked at closely on the way."""
    by_document: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_document[row.document].append(row)
    found = {}
    for document, own in by_document.items():
        first = [row for row in own if row.first]
        assert len(first) == 1, (document, own)
        matches = [row for row in own if row.kind is None]
        assert all(row.subscriptions for row in matches if not row.first)
        assert all(len(row.subscriptions) <= MAX_SUBSCRIPTIONS_PER_ROW for row in matches)
        parts = [row.part for row in matches]
        assert len(set(parts)) == len(parts)
        ids = [id for row in matches for id in row.subscriptions]
        assert len(set(ids)) == len(ids), "a match was found twice"
        assert {row.version for row in own} == {version}
        for row in own:
            if not row.first:
                assert (row.source, row.time, row.bytes, row.structure) == (None,) * 4
        errors = [
            (row.subscriptions[0] if row.subscriptions else None, row.kind, row.place, row.message)
            for row in own
            if row.kind is not None
        ]
        assert len(set(errors)) == len(errors)
        (row,) = first
        facts = (row.source, row.time, row.bytes, row.structure)
        found[document] = Known(frozenset(ids), frozenset(errors), facts)
    return found


def table(spark: SparkSession, bodies: Mapping[str, bytes | None]) -> DataFrame:
    rows = [
        (id, body, "here", TIME, None if body is not None else ("size", "too large"))
        for id, body in bodies.items()
    ]
    return spark.createDataFrame(rows, COLUMNS).repartition(2)


def spread(
    documents: DataFrame, version: Version, count: int, limits: Limits | None = None
) -> dict[str, Known]:
    fragments = split_version(version, count)
    fragments.ship(documents.sparkSession.sparkContext)
    task = MatchTask(version.name, version.file, limits or Limits(), structure_share=0.5)
    return read(match_in_fragments(documents, fragments, task).collect(), version.name)


def whole(documents: DataFrame, version: Version, limits: Limits | None = None) -> dict[str, Known]:
    version.ship(documents.sparkSession.sparkContext)
    task = MatchTask(version.name, version.file, limits or Limits(), structure_share=0.5)
    return read(matching.match_documents(documents, task).collect(), version.name)


def test_random_ones_against_libxml2(spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(11)
    texts = {generate.expression(rng, knobs) for knobs in
             (generate.WHOLE, generate.NATIVE) for _ in range(150)}  # fmt: skip
    subscriptions = admitted(
        Subscription(number, text, NAMESPACES) for number, text in enumerate(sorted(texts))
    )
    bodies: dict[str, bytes | None] = {f"d{number}": generate.document(rng) for number in range(60)}
    documents = table(spark, bodies)
    version = compile_version(subscriptions, tmp_path)
    known = spread(documents, version, 3)
    assert known == whole(documents, version)
    for id, body in bodies.items():
        assert body is not None
        expected = {str(one.id) for one in subscriptions if oracle(one.xpath, one.namespaces, body)}
        assert known[id].subscriptions == expected


def test_every_document_is_answered_for_once(spark: SparkSession, tmp_path: Path) -> None:
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
    documents = table(spark, bodies)
    version = compile_version(subscriptions, tmp_path)
    limits = Limits(depth=10)
    known = whole(documents, version, limits)
    for count in (2, 30):
        assert spread(documents, version, count, limits) == known
    assert set(known) == set(bodies)
    expected = by_matcher(subscriptions, bodies) | {"deep": frozenset()}
    assert {id: one.subscriptions for id, one in known.items()} == expected
    assert expected["all"] == {"homes", "a", "ef", "lang", "any", "note"}
    kinds = {id: [kind for _, kind, _, _ in one.errors] for id, one in known.items() if one.errors}
    assert kinds == {
        "broken": ["malformed"],
        "empty": ["empty"],
        "deep": ["depth"],
        "unread": ["size"],
    }
    assert known["none"].facts[:3] == ("here", TIME.replace(tzinfo=None), 4)


def test_what_is_not_decided_is_told_once(spark: SparkSession, tmp_path: Path) -> None:
    """libxml2 would take too long over so many comments in a row: an error of each subscription that asks."""
    texts = [f"normalize-space(//a/comment()) = '{number}' or /r/a{number}" for number in range(6)]
    subscriptions = admitted(Subscription(number, text) for number, text in enumerate(texts))
    bodies: dict[str, bytes | None] = {"long": b"<r><a>" + b"<!--7-->" * 5_000 + b"</a></r>"}
    documents = table(spark, bodies)
    version = compile_version([*subscriptions, Subscription("r", "/r")], tmp_path)
    known = spread(documents, version, 3)
    assert known == whole(documents, version)
    assert len(known["long"].errors) == len(subscriptions) > 0
    assert known["long"].subscriptions == {"r"}


def test_a_long_answer_has_several_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Equal subscriptions, more than a row holds, and all with the same key."""
    many = MAX_SUBSCRIPTIONS_PER_ROW + 5_000
    version = compile_version(
        (Subscription(number, "//a" if number % 2 else "/a") for number in range(2 * many)),
        tmp_path,
    )
    fragments = split_version(version, 2)
    fragments.ship(spark.sparkContext)
    documents = table(spark, {"a": b"<a/>", "b": b"<b><a/></b>"})
    rows = match_in_fragments(documents, fragments, MatchTask(version.name, version.file)).select(
        "document", "part", "first", F.size("subscriptions").alias("size")
    )
    found = sorted(map(tuple, rows.collect()))
    assert found == [
        ("a", 0, True, MAX_SUBSCRIPTIONS_PER_ROW),
        ("a", 1, False, 5_000),
        ("a", PARTS_PER_FRAGMENT, False, MAX_SUBSCRIPTIONS_PER_ROW),
        ("a", PARTS_PER_FRAGMENT + 1, False, 5_000),
        ("b", 0, True, MAX_SUBSCRIPTIONS_PER_ROW),
        ("b", 1, False, 5_000),
    ]


def test_documents_with_long_answers_are_taken_a_few_at_a_time(tmp_path: Path) -> None:
    """What is in memory at a time does not grow with the batch of documents."""
    count = MAX_SUBSCRIPTIONS_PER_ROW // 2
    version = compile_version((Subscription(number, "/a") for number in range(count)), tmp_path)
    bodies = [b"<a/>"] * 40 + [b"<b/>"] * 40 + [b"<a>"]
    ids = [str(number) for number in range(len(bodies))]
    facts = pa.RecordBatch.from_pylist(
        [{"document": id, "first": True} for id in ids], DOCUMENT_SCHEMA
    )
    engine = load_version(str(version.path))
    rows = [*match_bodies(engine, pa.array(bodies), facts, version.name)]
    assert (
        max(len(pc.list_flatten(row.column("subscriptions"))) for row in rows)
        <= 2 * MAX_SUBSCRIPTIONS_PER_ROW
    )
    assert [id for row in rows for id in row.column("document").to_pylist()] == ids
    sizes = [size for row in rows for size in pc.list_value_length(row.column("subscriptions"))]
    assert [size.as_py() for size in sizes] == [count] * 40 + [0] * 40 + [None]
    assert engine.matcher.stats().documents == 80


def test_documents_go_only_where_they_may_match(spark: SparkSession, tmp_path: Path) -> None:
    """Each fragment is told apart by its parts, and is alone in its partition."""
    version = compile_version(
        [Subscription(f"{root}{number}", f"/{root}/x{number}") for root in "abcd" for number in range(8)],
        tmp_path,
    )  # fmt: skip
    fragments = split_version(version, 4)
    fragments.ship(spark.sparkContext)
    bodies = {f"{root} {number}": f"<{root}><x1/><x5/></{root}>".encode()
              for root in "abcde" for number in range(20)}  # fmt: skip
    found = match_in_fragments(
        table(spark, bodies), fragments, MatchTask(version.name, version.file)
    ).withColumn("partition", F.spark_partition_id())
    homes: dict[str, set[int]] = defaultdict(set)
    partitions: dict[int, set[int]] = defaultdict(set)
    rows = found.collect()
    for row in rows:
        if row.subscriptions:
            homes[row.document[0]].add(row.part // PARTS_PER_FRAGMENT)
            partitions[row.partition].add(row.part // PARTS_PER_FRAGMENT)
    assert Counter(row.document for row in rows) == dict.fromkeys(bodies, 1)
    assert homes == {"a": {0}, "b": {1}, "c": {2}, "d": {3}}
    assert partitions == {0: {0}, 1: {1}, 2: {2}, 3: {3}}


def test_more_workers_than_fragments_share_them(spark: SparkSession, tmp_path: Path) -> None:
    version = compile_version([Subscription("a", "//a")], tmp_path)
    fragments = split_version(version, 1)
    fragments.ship(spark.sparkContext)
    bodies = {str(number): b"<a/>" for number in range(40)}
    found = match_in_fragments(
        table(spark, bodies), fragments, MatchTask(version.name, version.file)
    )
    used = found.withColumn("partition", F.spark_partition_id()).collect()
    assert {row.partition for row in used} == set(range(spark.sparkContext.defaultParallelism))
    assert len(used) == 40


# files


def test_fragments_are_made_once(tmp_path: Path) -> None:
    version = compile_version(
        [Subscription(number, f"/a/b{number}") for number in range(9)], tmp_path
    )
    found = split_version(version, 3)
    assert isinstance(found, Fragments)
    assert [path.name for path in found.paths] == [
        f"{version.name}-3-{number}.subscriptions" for number in range(3)
    ]
    assert [len(Matcher.load(path)) for path in found.paths] == [3, 3, 3]
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()}
    assert split_version(version, 3) == found
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == {
        path: time for path, (time, _) in before.items()
    }
    for lost in (found.router, found.paths[1]):  # whatever is missing is made again, and the same
        lost.unlink()
        assert split_version(version, 3) == found
        assert lost.read_bytes() == before[lost][1]


@pytest.mark.parametrize("count", [0, 4097])
def test_there_are_not_too_many(tmp_path: Path, count: int) -> None:
    version = compile_version([Subscription("a", "/a")], tmp_path)
    with pytest.raises(PipelineError, match=f"not {count:,}"):
        split_version(version, count)
