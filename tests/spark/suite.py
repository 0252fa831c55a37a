"""The conformance suite as one table of documents and one set of subscriptions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.errors import DocumentError
from pathcast.files import Subscription
from pathcast.matching import Matcher
from tests.conformance.test_conformance import CASES, REJECTED
from tests.oracle import oracle
from tests.pipeline.sets import without_expensive
from tests.spark.modes import Outcomes

__all__ = ["Suite", "conformance_suite"]


@dataclass(frozen=True)
class Suite:
    subscriptions: list[Subscription]
    bodies: dict[str, bytes]
    expected: Outcomes

    def save(self, folder: Path) -> None:
        """Write the documents as two files of parquet."""
        folder.mkdir(parents=True)
        table = pa.table({"id": list(self.bodies), "body": list(self.bodies.values())})
        half = len(table) // 2
        pq.write_table(table.slice(0, half), folder / "1.parquet")
        pq.write_table(table.slice(half), folder / "2.parquet")


def conformance_suite() -> Suite:
    """Return all cases; `Matcher` gives the expected results, checked against libxml2."""
    bodies = {
        name: case["document"].encode(case.get("encoding", "utf-8")) for name, case in CASES.items()
    }
    rejected = {
        name: bytes.fromhex(table["hex"]) if "hex" in table else table["document"].encode()
        for name, table in REJECTED.items()
        if "repeat" not in table and "limits" not in table
    }
    subscriptions = without_expensive(
        [
            Subscription(f"{name}: {text}", text, case.get("namespaces"))
            for name, case in CASES.items()
            for text in (*case["match"], *case["miss"])
        ]
    )
    matcher = Matcher()
    matcher.add_many([(row.id, row.xpath, row.namespaces) for row in subscriptions])
    expected: Outcomes = {}
    for name, body in (bodies | rejected).items():
        try:
            expected[name] = sorted(map(str, matcher.match(body)))
        except DocumentError as error:
            expected[name] = error.kind
    for row in subscriptions:  # libxml2 agrees, on the document of each case
        name = str(row.id).removesuffix(f": {row.xpath}")
        assert (row.id in (expected[name] or ())) == oracle(row.xpath, row.namespaces, bodies[name])
    return Suite(subscriptions, bodies | rejected, expected)
