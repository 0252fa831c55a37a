"""Compiled subscriptions as a value that travels to workers in the closure of a task.

A snapshot of up to 16 MB (some 200,000 paths) is part of the closure, which works in every session.
A larger one is a file that all executors see: in `folder`, or in a temporary folder if Spark runs
on this machine. Workers keep it by its name, so equal subscriptions are loaded once per worker.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import Row

from pathcast.documents import Limits
from pathcast.errors import FormatError, PipelineError, SubscriptionError
from pathcast.files import Subscription
from pathcast.files.subscription import validate
from pathcast.pipeline.subscriptions import SubscriptionSource
from pathcast.pipeline.versions import Version, VersionCompiler
from pathcast.pipeline.worker import MatchTask
from pathcast.pipeline.worker_files import MAX_INLINE_BYTES, InlineFile, SharedFile, WorkerFile

__all__ = ["Compiled", "SubscriptionsLike", "compile_once", "subscriptions"]

SubscriptionsLike = str | Path | Mapping[str, str] | Iterable[Subscription] | DataFrame
"""A file or folder; expressions by id; subscriptions; or a table of them."""

DEADLINE_SECONDS: Final = 1.0
_NO_LIMITS_GIVEN: Final = Limits()
_TABLE_COLUMNS: Final = ("id", "xpath", "namespaces", "subscriber")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A set of subscriptions, ready for workers; `len` is their number."""

    version: str
    """A hash of the subscriptions: equal sets have the same version."""
    count: int
    snapshot: WorkerFile = field(repr=False)
    routes: WorkerFile = field(repr=False)
    limits: Limits = field(repr=False)
    deadline: float | None = field(repr=False)
    hops: tuple[str, ...] | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return self.count

    def task(self, *, routes: bool = False) -> MatchTask:
        """Return what workers need for matching, with the subscribers only on request."""
        return MatchTask(
            self.version,
            self.snapshot,
            self.limits,
            deadline=self.deadline,
            hops=self.hops,
            routes=self.routes if routes else None,
        )


def subscriptions(
    source: SubscriptionsLike,
    *,
    namespaces: Mapping[str, str] | None = None,
    allow_expensive: bool = False,
    hops: bool = False,
    limits: Limits = _NO_LIMITS_GIVEN,
    deadline: float = DEADLINE_SECONDS,
    folder: str | Path | None = None,
) -> Compiled:
    """Compile subscriptions for the functions of this package.

    `source` is a file or folder (docs/reference/files.md), a mapping from ids to expressions,
    `Subscription` values, or a table with the columns id, xpath and perhaps namespaces and
    subscriber. `namespaces` are prefixes for all of them. An expensive expression must be allowed,
    and is undecided on a document after `deadline` seconds. `hops` compiles a broker's table, whose
    subscribers are hops. More than 16 MB of compiled subscriptions are written to `folder`, which
    all executors must see under the same path.

    Raise PipelineError or SubscriptionError for an invalid subscription.

    >>> subscriptions({"sport": "//item[@topic = 'sport']", "all": "//item"})
    Compiled(version='...', count=2)
    """
    with tempfile.TemporaryDirectory(prefix="pathcast-") as draft:
        compiler = VersionCompiler(Path(draft), allow_expensive=allow_expensive, hops=hops)
        if isinstance(source, str | Path):
            files = SubscriptionSource(
                Path(source), namespaces=namespaces, allow_expensive=allow_expensive, hops=hops
            )
            version, _ = files.compile(compiler.compile)
        else:
            version = _compile_rows(compiler, source, namespaces or {})
        snapshot, routes = _worker_files(version, None if folder is None else Path(folder))
    return Compiled(
        version.name,
        version.subscriptions,
        snapshot,
        routes,
        limits,
        deadline if allow_expensive else None,
        version.hops,
    )


def compile_once(source: Compiled | SubscriptionsLike, *, hops: bool = False) -> Compiled:
    """Return compiled subscriptions as they are, and compile others."""
    if not isinstance(source, Compiled):
        return subscriptions(source, hops=hops)
    if (source.hops is not None) is not hops:
        raise PipelineError(
            "subscriptions",
            "these subscriptions were compiled "
            + ("for matches, not for hops" if hops else "as a table of hops"),
            hint=f"compile them with subscriptions(..., hops={hops})",
        )
    return source


def _compile_rows(
    compiler: VersionCompiler,
    source: Mapping[str, str] | Iterable[Subscription] | DataFrame,
    namespaces: Mapping[str, str],
) -> Version:
    current: Subscription | None = None

    def rows() -> Iterator[Subscription]:
        nonlocal current
        for row in _read_rows(source):
            current = row
            if namespaces:
                row = replace(row, namespaces={**namespaces, **(row.namespaces or {})})
            yield row

    try:
        return compiler.compile(rows())
    except SubscriptionError as error:
        if current is not None:
            error.add_note(f"in subscription {current.id!r}")
        raise
    except FormatError as error:
        raise PipelineError("subscriptions", str(error)) from error


def _read_rows(
    source: Mapping[str, str] | Iterable[Subscription] | DataFrame,
) -> Iterator[Subscription]:
    if isinstance(source, DataFrame):
        yield from _read_table(source)
    elif isinstance(source, Mapping):
        for number, (id, xpath) in enumerate(source.items(), 1):
            yield validate(id, xpath, None, None, number)
    else:
        for number, row in enumerate(source, 1):
            if not isinstance(row, Subscription):
                raise PipelineError(
                    "subscriptions",
                    f"entry {number} is a {type(row).__name__}, not a Subscription",
                    hint="pass {id: xpath}, pathcast.files.Subscription values, a path or a table",
                )
            yield validate(row.id, row.xpath, row.namespaces, row.subscriber, number)


def _read_table(table: DataFrame) -> Iterator[Subscription]:
    for name in ("id", "xpath"):
        if table.columns.count(name) != 1:
            raise PipelineError(
                "subscriptions",
                f"the table of subscriptions has no column {name!r}",
                hint=f"its columns are: {', '.join(table.columns)}",
            )
    names = [name for name in _TABLE_COLUMNS if name in table.columns]
    for number, row in enumerate(table.select(*names).collect(), 1):
        fields = row.asDict()
        prefixes = fields.get("namespaces")
        yield validate(
            fields["id"],
            fields["xpath"],
            prefixes.asDict() if isinstance(prefixes, Row) else prefixes,
            fields.get("subscriber"),
            number,
        )


def _worker_files(version: Version, folder: Path | None) -> tuple[WorkerFile, WorkerFile]:
    """Return the snapshot and the routes of a version as files that workers can read."""
    paths = version.path, version.routes
    size = sum(path.stat().st_size for path in paths)
    if size <= MAX_INLINE_BYTES:
        snapshot, routes = (InlineFile(path.name, path.read_bytes()) for path in paths)
        return snapshot, routes
    if folder is None:
        folder = _temporary_folder(size)
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        if not (folder / path.name).exists():  # named by content
            draft = Path(shutil.copy(path, folder / f".{path.name}.draft"))
            draft.replace(folder / path.name)
    shared_snapshot, shared_routes = (
        SharedFile(path.name, str((folder / path.name).absolute())) for path in paths
    )
    return shared_snapshot, shared_routes


def _temporary_folder(size: int) -> Path:
    """Return a folder of this process, if workers run on this machine."""
    session = SparkSession.getActiveSession()
    is_local = (
        session is not None
        and type(session).__module__ == "pyspark.sql.session"  # not a client of Spark Connect
        and str(session.conf.get("spark.master", "")).startswith("local")
    )
    if not is_local:
        raise PipelineError(
            "subscriptions",
            f"{size / 1e6:,.0f} MB of compiled subscriptions are too many to travel with each task",
            hint="name a folder that all executors see: subscriptions(source, folder='/shared/x')",
        )
    folder = tempfile.mkdtemp(prefix="pathcast-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
