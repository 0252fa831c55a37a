"""The Spark part of the API lines of `pathcast bench pipeline`.

Every step reads a table of documents, matches it and discards the result. `by-hand` is what a user
would write without this package: `mapInArrow` over `Matcher`, with ids gathered by Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pathcast.matching import Matcher
from pathcast.pipeline.session import open_session
from pathcast.spark.compiled import Compiled, subscriptions
from pathcast.spark.matching import match, matcher
from pathcast.spark.table_function import register

__all__ = ["API_STEPS", "ApiApplication"]

_VIEW: Final = "pathcast_bench_documents"


class ApiApplication:
    """A Spark application that matches tables in several ways with the same subscriptions."""

    def __init__(self, texts: Mapping[str, str], snapshot: str, master: str) -> None:
        self.session = open_session(master)
        self.compiled: Compiled = subscriptions(texts)
        self.snapshot = snapshot
        register(self.session, self.compiled)

    def run_step(self, step: str, files: Sequence[str]) -> None:
        """Run one of `API_STEPS` and discard its rows."""
        rows = API_STEPS[step](self, self.session.read.parquet(*files))
        rows.write.format("noop").mode("overwrite").save()

    def count(self, step: str, files: Sequence[str]) -> int:
        """Return the number of matches by one of the steps."""
        rows = API_STEPS[step](self, self.session.read.parquet(*files))
        row = rows.agg(F.sum(F.size("subscriptions"))).head()
        return 0 if row is None else int(row[0] or 0)

    def stop(self) -> None:
        self.session.stop()


def _match_by_hand(application: ApiApplication, documents: DataFrame) -> DataFrame:
    return documents.select("id", "body").mapInArrow(
        partial(_match_batches, snapshot=application.snapshot),
        "id string, subscriptions array<string>",
    )


_matchers: dict[str, tuple[Matcher, pa.StringArray]] = {}


def _match_batches(batches: Iterator[pa.RecordBatch], snapshot: str) -> Iterator[pa.RecordBatch]:
    if snapshot not in _matchers:
        loaded = Matcher.load(snapshot)
        ids = loaded.match_batch([]).ids(range(len(loaded)))
        _matchers[snapshot] = loaded, pa.array([str(id) for id in ids], pa.string())
    loaded, id_array = _matchers[snapshot]
    for batch in batches:
        results = loaded.match_batch(batch.column("body").to_pylist())
        offsets, numbers = (
            pa.Array.from_buffers(pa.int32(), len(buffer), [None, pa.py_buffer(buffer)])
            for buffer in (results.offsets, results.numbers)
        )
        matches = pa.ListArray.from_arrays(offsets, id_array.take(numbers))
        yield pa.RecordBatch.from_arrays(
            [batch.column("id"), matches], names=["id", "subscriptions"]
        )


def _match(application: ApiApplication, documents: DataFrame) -> DataFrame:
    return match(documents, application.compiled, keep=["id"])


def _matcher(application: ApiApplication, documents: DataFrame) -> DataFrame:
    ids = matcher(application.compiled)
    return documents.select("id", ids("body").alias("subscriptions"))


def _table_function(application: ApiApplication, documents: DataFrame) -> DataFrame:
    documents.createOrReplaceTempView(_VIEW)
    query = f"SELECT * FROM pathcast_match(TABLE(SELECT id, body FROM {_VIEW}))"  # noqa: S608
    return application.session.sql(query)


API_STEPS: Final[Mapping[str, Callable[[ApiApplication, DataFrame], DataFrame]]] = {
    "by-hand": _match_by_hand,
    "match": _match,
    "matcher": _matcher,
    "table function": _table_function,
}
