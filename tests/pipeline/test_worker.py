from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from pathcast.formats import Subscription
from pathcast.pipeline import matching
from pathcast.pipeline.versions import compiled
from pathcast.pipeline.worker import Task

FAULT = "struct<kind:string,message:string>"
COLUMNS = f"id string, body binary, source string, time timestamp, fault {FAULT}"


def test_every_document_has_one_first_row(spark: SparkSession, tmp_path: Path) -> None:
    version = compiled([Subscription("a", "//a"), Subscription(7, "//b")], tmp_path)
    version.ship(spark.sparkContext)
    rows = [
        ("1", b"<a><b/></a>", "here", None, None),
        ("2", b"<c/>", "here", None, None),
        ("3", b"<c>", "here", None, None),
        ("4", None, "here", None, ("size", "too large")),
    ]
    found = matching.matched(
        spark.createDataFrame(rows, COLUMNS), Task(version.name, version.file, share=1.0)
    ).collect()
    assert sorted(row.document for row in found if row.first) == ["1", "2", "3", "4"]
    assert {row.document: row.subscriptions for row in found if row.kind is None} == {
        "1": ["a", "7"],
        "2": [],
    }
    assert {row.document: row.kind for row in found if row.kind} == {"3": "malformed", "4": "size"}
    assert [row.bytes for row in sorted(found, key=lambda row: row.document)] == [11, 4, 3, None]
