"""Runs every mode over Spark Connect, with a server of its own, and writes the results.

A process cannot hold a classic session and one of Spark Connect, so the tests start this module:

    python -m tests.spark.connect_child FOLDER

FOLDER has `subscriptions.pickle`, a `Compiled`, and the folder `documents`. The results go to
`results.json`.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.spark import Compiled, deliveries, hops, match, split, write_stream
from tests.spark.modes import MODES, Outcomes, read_documents

__all__ = ["main"]


def main(folder: Path) -> None:
    subs: Compiled = pickle.loads((folder / "subscriptions.pickle").read_bytes())
    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    spark = builder.getOrCreate()
    results: dict[str, Outcomes] = {
        mode: function(spark, folder / "documents", subs) for mode, function in MODES.items()
    }
    documents = read_documents(spark, folder / "documents")
    pairs = deliveries(documents, subs).groupBy("document")
    delivered = pairs.agg(F.sort_array(F.collect_list("subscriber")).alias("subscribers"))
    results["deliveries"] = {row["document"]: row["subscribers"] for row in delivered.collect()}
    table = {"letters": "//a", "digits": "//*[. = '1']"}
    results["hops"] = {
        row["id"]: row["hops"] for row in hops(documents, table, keep=["id"]).collect()
    }
    try:
        match(documents, subs, "bdy")
    except PipelineError as error:
        results["wrong column"] = {"error": error.kind}
    dump = spark.createDataFrame([("d", "<f><i>1</i><i>2</i></f>")], "id string, body string")
    results["records"] = {
        row["id"]: bytes(row["body"]).decode() for row in split(dump, "i").collect()
    }
    try:
        write_stream(dump, subs, folder / "out")
    except PipelineError as error:
        results["stream into a folder"] = {"error": error.message}
    (folder / "results.json").write_text(json.dumps(results))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
