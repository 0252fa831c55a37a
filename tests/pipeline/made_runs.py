"""Folders of runs, made without a run: tables as a store lays them out, and the same facts as plain values for twins."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = datetime(2024, 2, 28, 23, 40, tzinfo=UTC)

_TEXTS = pa.list_(pa.string())
_SCHEMAS = {
    "documents": pa.schema(
        {
            "document": pa.string(),
            "source": pa.string(),
            "time": pa.timestamp("us", tz="UTC"),
            "bytes": pa.int64(),
            "structure": pa.string(),
        }
    ),
    "matches": pa.schema(
        {
            "document": pa.string(),
            "part": pa.int32(),
            "subscriptions": _TEXTS,
            "version": pa.string(),
        }
    ),
    "errors": pa.schema(
        {
            "document": pa.string(),
            "subscriptions": _TEXTS,
            "kind": pa.string(),
            "place": pa.string(),
            "message": pa.string(),
            "version": pa.string(),
        }
    ),
    "deliveries": pa.schema(
        {
            "document": pa.string(),
            "subscriber": pa.string(),
            "subscriptions": _TEXTS,
            "count": pa.int32(),
            "version": pa.string(),
        }
    ),
}


@dataclass(frozen=True)
class Doc:
    """A document and what became of it; `matches` is None if it was refused."""

    batch: int
    id: str
    version: str = "v"
    time: datetime | None = None
    matches: tuple[str, ...] | None = ()
    bytes: int | None = 100
    source: str = "here"
    structure: str | None = None
    undecided: tuple[str, ...] = ()
    kind: str = "malformed"
    message: str = "no end"


@dataclass(frozen=True)
class Run:
    """Documents, and the routes of versions: subscription -> subscriber."""

    docs: list[Doc]
    routes: dict[str, dict[str, str]] = field(default_factory=dict)

    def write(self, out: Path, *, part: int = 2, deliveries: bool = True) -> str:
        """Put the tables into a folder; a row of matches has at most `part` subscriptions."""
        rows: dict[tuple[str, int], list[tuple[object, ...]]] = {}
        for doc in self.docs:
            facts = (doc.id, doc.source, doc.time, doc.bytes, doc.structure)
            rows.setdefault(("documents", doc.batch), []).append(facts)
            errors = rows.setdefault(("errors", doc.batch), [])
            if doc.matches is None:
                errors.append((doc.id, None, doc.kind, "line 1", doc.message, doc.version))
            for one in doc.undecided:
                errors.append((doc.id, [one], "deadline", None, "1 s", doc.version))
            if doc.matches is not None:
                ids = doc.matches
                for number, at in enumerate(range(0, len(ids), part) or (0,)):
                    rows.setdefault(("matches", doc.batch), []).append(
                        (doc.id, number, list(ids[at : at + part]), doc.version)
                    )
                for subscriber, those in self.deliveries(doc).items() if deliveries else ():
                    rows.setdefault(("deliveries", doc.batch), []).append(
                        (doc.id, subscriber, those, len(those), doc.version)
                    )
        for (table, batch), values in rows.items():
            schema = _SCHEMAS[table]
            columns = list(zip(*values, strict=True)) or [() for _ in schema]
            folder = out / table / f"batch={batch}"
            folder.mkdir(parents=True, exist_ok=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            pq.write_table(pa.table(arrays, schema=schema), folder / "part-0.parquet")
        versions = out / "versions"
        versions.mkdir(parents=True, exist_ok=True)
        for version, routes in self.routes.items():
            pq.write_table(
                pa.table(
                    {
                        "subscription": pa.array(routes.keys(), pa.string()),
                        "subscriber": pa.array(routes.values(), pa.string()),
                    }
                ),
                versions / f"{version}.routes.parquet",
            )
        return str(out)

    def deliveries(self, doc: Doc) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in doc.matches or ():
            found.setdefault(self.routes.get(doc.version, {}).get(one, one), []).append(one)
        return found


def random_run(seed: int, *, documents: int = 120, timed: float = 0.8) -> Run:
    """Two versions, one after the other; subscriptions that come, go and never match; refused documents."""
    random_ = random.Random(seed)
    ids = [f"s{n}" for n in range(12)]
    routes = {
        "v1": {one: f"u{n % 4}" for n, one in enumerate(ids[:9])},
        "v2": {one: f"u{n % 3}" for n, one in enumerate(ids[3:])},
    }
    liked = {one: random_.random() ** 2 for one in ids}
    liked["s4"] = liked["s11"] = 0.0
    docs = []
    for n in range(documents):
        batch = n * 6 // documents + 1
        version = "v1" if batch <= 3 else "v2"
        time = START + timedelta(seconds=n * 10 + random_.uniform(0, 30), hours=3 * (n > 90))
        refused = random_.random() < 0.1
        docs.append(
            Doc(
                batch=batch,
                id=f"d{n}",
                version=version,
                time=time if random_.random() < timed else None,
                matches=None
                if refused
                else tuple(one for one in routes[version] if random_.random() < liked[one]),
                bytes=None if refused else random_.randrange(50, 5_000),
                source=random_.choice(["press", "weather"]),
                structure=random_.choice(["x", "x", "x", "y", "z", f"only-{n}", None]),
                undecided=("s5", "s6") if random_.random() < 0.05 else (),
                kind=random_.choice(["malformed", "depth"]),
            )
        )
    return Run(docs, routes)
