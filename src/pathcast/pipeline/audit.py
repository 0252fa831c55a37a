"""Deliveries checked against a second opinion: lxml, one expression after the other.

For a few documents, what is in the tables and in the outboxes is compared with what libxml2 says to each subscription of the version
under which the document was matched. This shares nothing with the pipeline but the parser, and is thousands of times
slower, so it is for samples.

It understands what begins with `/`, and location paths that do not, which match at any depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pathcast.files import Subscription
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.sinks.file_names import file_name

__all__ = ["AuditResult", "LxmlOracle", "audit"]


@dataclass(frozen=True, slots=True)
class AuditResult:
    """How many documents and deliveries were compared, and what is wrong, as sentences."""

    documents: int
    deliveries: int
    wrong: tuple[str, ...]


def audit(
    session: SparkSession,
    out: Path,
    bodies: Mapping[str, bytes],
    versions: Mapping[str, Iterable[Subscription]],
) -> AuditResult:
    """Compare the deliveries of these documents, by their ids, under the subscriptions of each version."""
    chosen = F.col("document").isin(*bodies)
    matched = session.read.parquet(escape_glob(str(out / "matches"))).where(chosen)
    version_of = {row.document: row.version for row in matched.collect()}
    found: dict[str, dict[str, list[str]]] = {}
    for row in session.read.parquet(escape_glob(str(out / "deliveries"))).where(chosen).collect():
        found.setdefault(row.document, {})[row.subscriber] = list(row.subscriptions)
    judges = {name: LxmlOracle(rows) for name, rows in versions.items()}
    wrong = []
    deliveries = 0
    for document, body in bodies.items():
        wanted = judges[version_of[document]].readers(body) if document in version_of else {}
        deliveries += len(wanted)
        if wanted != found.get(document, {}):
            wrong.append(f"{document}: lxml says {wanted}, delivered was {found.get(document)}")
        for subscriber in wanted:
            file = out / "outboxes" / file_name(subscriber) / file_name(document)
            if not (file.is_file() and file.read_bytes() == body):
                wrong.append(f"{file} is not the document")
    return AuditResult(len(bodies), deliveries, tuple(wrong))


class LxmlOracle:
    """What libxml2 says to subscriptions.

    >>> both = [Subscription("x", "//b", subscriber="ann"), Subscription("y", "b")]
    >>> LxmlOracle(both).readers(b"<a><b/></a>")
    {'ann': ['x'], 'y': ['y']}
    """

    def __init__(self, subscriptions: Iterable[Subscription]) -> None:
        self._known = [(one, _expression(one)) for one in subscriptions]

    def readers(self, body: bytes) -> dict[str, list[str]]:
        """Which subscribers a document is for, each with the subscriptions that say so, sorted."""
        try:
            tree = etree.fromstring(body).getroottree()
        except etree.XMLSyntaxError:
            return {}
        found: dict[str, list[str]] = {}
        for one, holds in self._known:
            if holds(tree):
                found.setdefault(str(one.subscriber), []).append(str(one.id))
        return {subscriber: sorted(ids) for subscriber, ids in found.items()}


def _expression(one: Subscription) -> etree.XPath:
    xpath = one.xpath if one.xpath.startswith(("/", "(")) else f"//{one.xpath}"
    return etree.XPath(f"boolean({xpath})", namespaces=dict(one.namespaces or {}), regexp=False)
