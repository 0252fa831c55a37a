"""Audit of deliveries against lxml, which evaluates every expression on every document.

For sampled documents, the audit compares the tables and the segments with libxml2's result under
the version that matched the document. It shares only the parser with the pipeline and is thousands
of times slower, so it is meant for samples.

It supports expressions that begin with `/` or `(`, and relative location paths, which match at any
depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from pathcast.files import Subscription
from pathcast.files.outboxes import SEGMENTS_FOLDER, bodies_name
from pathcast.pipeline.hadoop import escape_glob

__all__ = ["AuditResult", "LxmlOracle", "audit"]


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The numbers of documents and deliveries compared, and each mismatch as a sentence."""

    documents: int
    deliveries: int
    mismatches: tuple[str, ...]


def audit(
    session: SparkSession,
    out: Path,
    bodies: Mapping[str, bytes],
    versions: Mapping[str, Iterable[Subscription]],
) -> AuditResult:
    """Compare the deliveries of these documents (by id) with lxml, under each version's
    subscriptions.
    """
    is_sampled = F.col("document").isin(*bodies)

    def rows(table: str) -> list[Row]:
        return session.read.parquet(escape_glob(str(out / table))).where(is_sampled).collect()

    version_of = {row.document: row.version for row in rows("matches")}
    delivered: dict[str, dict[str, list[str]]] = {}
    for row in rows("deliveries"):
        delivered.setdefault(row.document, {})[row.subscriber] = list(row.subscriptions)
    outbox_bodies = {
        (row.document, row.subscriber): _read_body(out / SEGMENTS_FOLDER, row)
        for row in (rows(SEGMENTS_FOLDER) if delivered else ())
    }
    oracles = {name: LxmlOracle(rows) for name, rows in versions.items()}
    mismatches = []
    deliveries = 0
    for document, body in bodies.items():
        expected = (
            oracles[version_of[document]].subscribers_of(body) if document in version_of else {}
        )
        deliveries += len(expected)
        if expected != delivered.get(document, {}):
            mismatches.append(
                f"{document}: lxml says {expected}, delivered was {delivered.get(document)}"
            )
        mismatches += [
            f"{document}: the outbox of {subscriber} does not have it as it is"
            for subscriber in expected
            if outbox_bodies.pop((document, subscriber), None) != body
        ]
    mismatches += [
        f"{document}: the outbox of {subscriber} has it" for document, subscriber in outbox_bodies
    ]
    return AuditResult(len(bodies), deliveries, tuple(mismatches))


def _read_body(segments: Path, row: Row) -> bytes:
    with (segments / f"batch={row.batch}" / bodies_name(row.segment)).open("rb") as file:
        file.seek(row.offset)
        return file.read(row.length)


class LxmlOracle:
    """Evaluates subscriptions with libxml2, one by one.

    >>> both = [Subscription("x", "//b", subscriber="ann"), Subscription("y", "b")]
    >>> LxmlOracle(both).subscribers_of(b"<a><b/></a>")
    {'ann': ['x'], 'y': ['y']}
    """

    def __init__(self, subscriptions: Iterable[Subscription]) -> None:
        self._subscriptions = [
            (subscription, _expression(subscription)) for subscription in subscriptions
        ]

    def subscribers_of(self, body: bytes) -> dict[str, list[str]]:
        """Return the subscribers of a document, each with its matching subscriptions, sorted."""
        try:
            tree = etree.fromstring(body).getroottree()
        except etree.XMLSyntaxError:
            return {}
        matched: dict[str, list[str]] = {}
        for subscription, expression in self._subscriptions:
            if expression(tree):
                matched.setdefault(str(subscription.subscriber), []).append(str(subscription.id))
        return {subscriber: sorted(ids) for subscriber, ids in matched.items()}


def _expression(subscription: Subscription) -> etree.XPath:
    xpath = (
        subscription.xpath
        if subscription.xpath.startswith(("/", "("))
        else f"//{subscription.xpath}"
    )
    return etree.XPath(
        f"boolean({xpath})", namespaces=dict(subscription.namespaces or {}), regexp=False
    )
