from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from pathcast.documents import Limits
from pathcast.files import Subscription
from pathcast.pipeline import matching, worker
from pathcast.pipeline.versions import compile_version
from pathcast.pipeline.worker import MatchTask

FAULT = "struct<kind:string,message:string>"
COLUMNS = f"id string, body binary, source string, time timestamp, fault {FAULT}"


def test_every_document_has_one_first_row(spark: SparkSession, tmp_path: Path) -> None:
    version = compile_version([Subscription("a", "//a"), Subscription(7, "//b")], tmp_path)
    version.ship(spark.sparkContext)
    rows = [
        ("1", b"<a><b/></a>", "here", None, None),
        ("2", b"<c/>", "here", None, None),
        ("3", b"<c>", "here", None, None),
        ("4", None, "here", None, ("size", "too large")),
    ]
    results = matching.match_documents(
        spark.createDataFrame(rows, COLUMNS),
        MatchTask(version.name, version.file, structure_share=1.0),
    ).collect()
    assert sorted(row.document for row in results if row.first) == ["1", "2", "3", "4"]
    assert {row.document: row.subscriptions for row in results if row.kind is None} == {
        "1": ["a", "7"],
        "2": [],
    }
    assert {row.document: row.kind for row in results if row.kind} == {
        "3": "malformed",
        "4": "size",
    }
    assert [row.bytes for row in sorted(results, key=lambda row: row.document)] == [11, 4, 3, None]


def test_worker_holds_one_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The previous version is freed before the next is loaded."""
    versions = [compile_version([Subscription("a", text)], tmp_path) for text in ("//a", "//b")]
    monkeypatch.setattr(SparkFiles, "get", lambda name: str(tmp_path / name))
    monkeypatch.setattr(worker, "_version_cache", {})
    first = worker.cached_version(versions[0].file)
    assert worker.cached_version(versions[0].file) is first
    previous = weakref.ref(first.matcher)
    del first
    load, still_loaded = worker.load_version, []

    def observe_load(*arguments: Any) -> worker.LoadedVersion:
        still_loaded.append(previous() is not None)
        return load(*arguments)

    monkeypatch.setattr(worker, "load_version", observe_load)
    second = worker.cached_version(versions[1].file)
    assert still_loaded == [False]
    assert [*second.matcher.match(b"<b/>")] == ["a"]
    assert worker.cached_version(versions[1].file, Limits(depth=3)) is not second
