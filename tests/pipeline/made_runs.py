"""Result folders without a run: tables in a store's layout, and the same data as plain values."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.pipeline.table_schemas import TABLE_SCHEMAS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = datetime(2024, 2, 28, 23, 40, tzinfo=UTC)


@dataclass(frozen=True)
class SampleDocument:
    """A document and its outcome; `matches` is None if it was refused."""

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
class SampleRun:
    """Documents, and the routes of versions: subscription -> subscriber."""

    docs: list[SampleDocument]
    routes: dict[str, dict[str, str]] = field(default_factory=dict)

    def write(self, out: Path, *, part: int = 2, deliveries: bool = True) -> str:
        """Write the tables to a folder; a row of matches has at most `part` subscriptions."""
        rows: dict[tuple[str, int], list[tuple[object, ...]]] = {}
        for doc in self.docs:
            facts = (doc.id, doc.source, doc.time, doc.bytes, doc.structure)
            rows.setdefault(("documents", doc.batch), []).append(facts)
            errors = rows.setdefault(("errors", doc.batch), [])
            if doc.matches is None:
                errors.append((doc.id, None, doc.kind, "line 1", doc.message, doc.version))
            for id in doc.undecided:
                errors.append((doc.id, [id], "deadline", None, "1 s", doc.version))
            if doc.matches is not None:
                ids = doc.matches
                for number, at in enumerate(range(0, len(ids), part) or (0,)):
                    rows.setdefault(("matches", doc.batch), []).append(
                        (doc.id, number, list(ids[at : at + part]), doc.version)
                    )
                for subscriber, subscriptions in self.deliveries(doc).items() if deliveries else ():
                    rows.setdefault(("deliveries", doc.batch), []).append(
                        (doc.id, subscriber, subscriptions, len(subscriptions), doc.version)
                    )
        for (table, batch), values in rows.items():
            schema = TABLE_SCHEMAS[table]
            numbered = [(*row, batch) for row in values]
            columns = list(zip(*numbered, strict=True)) or [() for _ in schema]
            (out / table).mkdir(parents=True, exist_ok=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            file = out / table / f"{batch:010}-part-0.parquet"
            pq.write_table(pa.table(arrays, schema=schema), file)
        versions = out / "versions"
        versions.mkdir(parents=True, exist_ok=True)
        for version, routes in self.routes.items():
            pq.write_table(
                pa.table(
                    {
                        "subscription": pa.array(routes.keys(), pa.string()),
                        "subscriber": pa.array(routes.values(), pa.string()),
                        "xpath": pa.array([f"//{id}" for id in routes], pa.string()),
                    }
                ),
                versions / f"{version}.routes.parquet",
            )
        return str(out)

    def deliveries(self, doc: SampleDocument) -> dict[str, list[str]]:
        deliveries: dict[str, list[str]] = {}
        for id in doc.matches or ():
            deliveries.setdefault(self.routes.get(doc.version, {}).get(id, id), []).append(id)
        return deliveries


def random_run(seed: int, *, documents: int = 120, timed: float = 0.8) -> SampleRun:
    """Generate two versions in sequence, with added, removed and silent subscriptions."""
    random_ = random.Random(seed)
    ids = [f"s{n}" for n in range(12)]
    routes = {
        "v1": {id: f"u{n % 4}" for n, id in enumerate(ids[:9])},
        "v2": {id: f"u{n % 3}" for n, id in enumerate(ids[3:])},
    }
    liked = {id: random_.random() ** 2 for id in ids}
    liked["s4"] = liked["s11"] = 0.0
    docs = []
    for n in range(documents):
        batch = n * 6 // documents + 1
        version = "v1" if batch <= 3 else "v2"
        time = START + timedelta(seconds=n * 10 + random_.uniform(0, 30), hours=3 * (n > 90))
        refused = random_.random() < 0.1
        docs.append(
            SampleDocument(
                batch=batch,
                id=f"d{n}",
                version=version,
                time=time if random_.random() < timed else None,
                matches=None
                if refused
                else tuple(id for id in routes[version] if random_.random() < liked[id]),
                bytes=None if refused else random_.randrange(50, 5_000),
                source=random_.choice(["press", "weather"]),
                structure=random_.choice(["x", "x", "x", "y", "z", f"only-{n}", None]),
                undecided=("s5", "s6") if random_.random() < 0.05 else (),
                kind=random_.choice(["malformed", "depth"]),
            )
        )
    return SampleRun(docs, routes)
