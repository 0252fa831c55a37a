"""All statistics of a run by plain loops: the oracle of both ways to compute them."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame

from pathcast.pipeline.statistics import StatisticsSettings
from tests.pipeline.made_runs import EPOCH, SampleDocument, SampleRun

MICRO = timedelta(microseconds=1)


class LoopStatistics:
    """All statistics of a run by plain loops, for a given window length (seconds or batches)."""

    def __init__(self, run: SampleRun, settings: StatisticsSettings, by: str) -> None:
        assert settings.window is not None
        self.run = run
        self.by = by
        self.length = settings.window
        self.at = {doc.id: self._at(doc) for doc in run.docs}
        self.window = {doc.id: self._window(doc) for doc in run.docs}
        self.newest = max(self.window.values())
        self.windows = self.newest - min(self.window.values()) + 1
        self.settings = settings
        self.weight = {id: self.weight_of(k) for id, k in self.window.items()}
        self.read = [doc for doc in run.docs if doc.matches is not None]

    def _at(self, doc: SampleDocument) -> datetime | None:
        if doc.time is not None or self.by == "batch":
            return doc.time
        latest: dict[int, datetime] = {}
        for other in self.run.docs:
            if other.time is not None:
                latest[other.batch] = max(other.time, latest.get(other.batch, other.time))
        before = [batch for batch in latest if batch <= doc.batch]
        return latest[max(before) if before else min(latest)]

    def _window(self, doc: SampleDocument) -> int:
        if self.by == "batch":
            return doc.batch // int(self.length)
        at = self.at[doc.id]
        assert at is not None
        return ((at - EPOCH) // MICRO) // round(self.length * 1_000_000)

    def weight_of(self, window: int) -> float:
        age = self.newest - window
        kept = self.settings.kept
        return 0.0 if kept is not None and age >= kept else self.settings.decay**age

    def has_subscription(self, subscription: str, doc: SampleDocument) -> bool:
        return not self.run.routes or subscription in self.run.routes[doc.version]

    def selectivity(self) -> dict[str, dict[str, Any]]:
        ids = {subscription for doc in self.read for subscription in doc.matches or ()}
        ids |= {subscription for routes in self.run.routes.values() for subscription in routes}
        rows = {}
        for subscription in ids:
            matched_against = [doc for doc in self.read if self.has_subscription(subscription, doc)]
            hits = [doc for doc in matched_against if subscription in (doc.matches or ())]
            mass = sum(self.weight[doc.id] for doc in matched_against)
            rows[subscription] = {
                "matched": len(hits),
                "documents": len(matched_against),
                "share": len(hits) / len(matched_against) if matched_against else None,
                "selectivity": sum(self.weight[doc.id] for doc in hits) / mass if mass else None,
                "windows": len(self.recent() & {self.window[doc.id] for doc in hits}),
                "since": self._edge(min, matched_against),
                "first": self._edge(min, hits),
                "last": self._edge(max, hits),
            }
        return rows

    def recent(self) -> set[int]:
        return set(range(self.newest - 63, self.newest + 1))

    def _edge(self, choose: Any, docs: list[SampleDocument]) -> datetime | None:
        times = [at for doc in docs if (at := self.at[doc.id]) is not None]
        return choose(times) if times else None

    def overlap(self, subscriptions: set[str]) -> dict[tuple[str, str], dict[str, Any]]:
        rows = {}
        for a in sorted(subscriptions):
            for b in sorted(subscriptions):
                if a >= b:
                    continue
                matched_against = [
                    doc
                    for doc in self.read
                    if self.has_subscription(a, doc) and self.has_subscription(b, doc)
                ]
                of_a = {doc.id for doc in matched_against if a in (doc.matches or ())}
                of_b = {doc.id for doc in matched_against if b in (doc.matches or ())}
                if of_a & of_b:
                    rows[a, b] = {
                        "both": len(of_a & of_b),
                        "documents_a": len(of_a),
                        "documents_b": len(of_b),
                        "jaccard": self._ratio(of_a & of_b, of_a | of_b),
                        "given_a": self._ratio(of_a & of_b, of_a),
                        "given_b": self._ratio(of_a & of_b, of_b),
                    }
        return rows

    def _ratio(self, part: set[str], total: set[str]) -> float | None:
        mass = sum(self.weight[id] for id in total)
        return sum(self.weight[id] for id in part) / mass if mass else None

    def rates(self, groups: dict[str, set[SampleDocument]]) -> dict[str, dict[str, Any]]:
        rows = {}
        length = float(self.length)
        fading = length * sum(self.weight_of(self.newest - age) for age in range(self.windows))
        for group, docs in groups.items():
            per = Counter(self.window[doc.id] for doc in docs)
            peak = min(per, key=lambda k: (-per[k], k))
            total = sum(doc.bytes or 0 for doc in docs)
            rows[group] = {
                "documents": len(docs),
                "bytes": total,
                "windows": len(per),
                "documents_rate": len(docs) / (self.windows * length),
                "bytes_rate": total / (self.windows * length),
                "recent_documents_rate": sum(self.weight[doc.id] for doc in docs) / fading,
                "recent_bytes_rate": sum(self.weight[d.id] * (d.bytes or 0) for d in docs) / fading,
                "peak_window": peak,
                "peak_start": EPOCH + timedelta(seconds=peak * length)
                if self.by == "time"
                else None,
                "peak_documents": per[peak],
                "peak_documents_rate": per[peak] / length,
            }
        return rows

    def totals(self, docs: list[SampleDocument]) -> dict[str, int]:
        return {
            "documents": len(docs),
            "bytes": sum(doc.bytes or 0 for doc in docs),
            "read": sum(doc.matches is not None for doc in docs),
            "matched": sum(bool(doc.matches) for doc in docs),
            "matches": sum(len(doc.matches or ()) for doc in docs),
            "refused": sum(doc.matches is None for doc in docs),
        }


TableRows = list[dict[str, Any]]


def by_key(table: DataFrame | TableRows, *keys: str) -> dict[Any, dict[str, Any]]:
    if isinstance(table, DataFrame):
        table = [row.asDict(recursive=True) for row in table.collect()]
    rows = [
        {
            name: value.astimezone(UTC) if isinstance(value, datetime) else value
            for name, value in row.items()
        }
        for row in table
    ]
    rows_by_key = {
        (row[keys[0]] if len(keys) == 1 else tuple(row[k] for k in keys)): row for row in rows
    }
    assert len(rows_by_key) == len(rows), "a key is there twice"
    return rows_by_key


def assert_rows(
    table: DataFrame | TableRows, keys: str, expected: dict[Any, dict[str, Any]]
) -> None:
    """Check that the table has exactly these keys, with the values of `expected`."""
    rows = by_key(table, *keys.split())
    assert rows.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            message = f"{name} of {key}: {rows[key][name]}, not {value}"
            if isinstance(value, float):
                assert math.isclose(rows[key][name], value, rel_tol=1e-9), message
            else:
                assert rows[key][name] == value, message


Groups = list[tuple[str, str]]


def groups_of(run: SampleRun, group_rows: Groups | None = None) -> dict[str, set[SampleDocument]]:
    groups: dict[str, set[SampleDocument]] = {}
    for doc in run.docs:
        matching_groups = {
            group for subscription, group in group_rows or () if subscription in (doc.matches or ())
        }
        for group in run.deliveries(doc) if group_rows is None else matching_groups:
            groups.setdefault(group, set()).add(doc)
    return groups
