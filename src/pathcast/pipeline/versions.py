"""Versions: immutable sets of subscriptions, compiled to files that are named by their content.

The driver compiles a version once, to a snapshot for the matcher and the routes of its
subscriptions. Workers load the snapshot (about a microsecond per subscription) and keep it for all
batches of that version. The name is a hash of the subscriptions in their order, so equal sets have
equal names, whichever run compiled them. A retried batch finds exactly its subscriptions, in the
same file.

A hop version matches for hops only: its subscribers are hops, at most `MAX_HOPS`, numbered in the
order of first occurrence. In its routes every hop is its own subscriber.

Compiling an expression with predicates takes some hundred microseconds. A `VersionCompiler`
therefore reuses its previous version: a change to a large set costs reading the set and compiling
the new expressions.

Files are stored with the results (`VersionStore`). The snapshot reaches workers through Spark's
file distribution (`ship`), so workers need not see the driver's disk.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkContext

from pathcast.errors import PipelineError, SubscriptionError
from pathcast.files import Subscription
from pathcast.matching import Matcher
from pathcast.matching.matcher import MAX_HOPS
from pathcast.pipeline.routes import SubscriptionRoute, save_routes
from pathcast.pipeline.storage import Storage
from pathcast.pipeline.worker_files import DistributedFile
from pathcast.sandbox import ProcessRunner

__all__ = ["OnError", "Version", "VersionCompiler", "VersionStore", "compile_version"]

OnError = Callable[[Subscription, SubscriptionError], None]
SubscriptionId = str | int
_CompiledEntry = tuple[str, tuple[tuple[str, str], ...], int | None]  # expression, namespaces, hop

_SNAPSHOT = ".subscriptions"
_ROUTES = ".routes.parquet"
_RECORD = ".json"
_FOLDER = "versions"
_HASH_LENGTH = 16  # characters of the hash: enough to exclude collisions


@dataclass(frozen=True, slots=True)
class Version:
    """A set of subscriptions; `path` and `routes` are the driver's copies."""

    name: str
    path: Path
    routes: Path
    subscriptions: int
    hops: tuple[str, ...] | None = None
    """Hop names by number, for a hop version."""

    @property
    def file(self) -> DistributedFile:
        """The snapshot in the workers, once it is shipped."""
        return DistributedFile(self.path.name)

    @property
    def routes_file(self) -> DistributedFile:
        """The routes in the workers, once they are shipped."""
        return DistributedFile(self.routes.name)

    def ship(self, context: SparkContext) -> None:
        """Distribute the snapshot and the routes to all workers."""
        context.addFile(str(self.path))
        context.addFile(str(self.routes))


def compile_version(
    subscriptions: Iterable[Subscription],
    folder: Path,
    *,
    allow_expensive: bool = False,
    hops: bool = False,
    on_error: OnError | None = None,
) -> Version:
    """Compile a single version into a folder, unless its files exist."""
    compiler = VersionCompiler(folder, allow_expensive=allow_expensive, hops=hops)
    return compiler.compile(subscriptions, on_error)


class VersionCompiler:
    """Compiles successive versions incrementally, reusing unchanged subscriptions."""

    def __init__(self, folder: Path, *, allow_expensive: bool = False, hops: bool = False) -> None:
        self._folder = folder
        self._allow_expensive = allow_expensive
        self._hops = hops
        self.expressions_compiled = 0
        """Expressions compiled so far."""
        self.reset()

    def reset(self) -> None:
        """Discard the previous version: the next one is compiled from scratch."""
        runner = ProcessRunner() if self._allow_expensive else None  # nothing is evaluated here
        self._matcher = Matcher(runner=runner)
        self._entries: dict[SubscriptionId, _CompiledEntry] = {}

    def compile(
        self, subscriptions: Iterable[Subscription], on_error: OnError | None = None
    ) -> Version:
        """Return the version of these subscriptions; write its files if they do not exist.

        An invalid subscription is passed to `on_error` and left out; without `on_error`, raise its
        error.
        """
        try:
            routes, name, count = self._load(subscriptions, on_error)
        except BaseException:
            self.reset()  # the matcher holds a mixture of old and new
            raise
        hops = tuple(route.subscriber for route in routes) if self._hops else None
        version = _version(name, self._folder, count, hops)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not version.path.exists():
            self._save(version.path)
        if not version.routes.exists():
            save_routes(routes, version.routes)
        return version

    def _load(
        self, subscriptions: Iterable[Subscription], on_error: OnError | None
    ) -> tuple[list[SubscriptionRoute], str, int]:
        """Make the matcher hold exactly these subscriptions; return routes, name and count."""
        kind = b" hops" if self._hops else b""
        digest = hashlib.sha256(b"pathcast 1 %d%b\n" % (self._allow_expensive, kind))
        routes: list[SubscriptionRoute] = []
        hops: dict[str, int] = {}
        ids_seen: set[str] = set()
        entries: dict[SubscriptionId, _CompiledEntry] = {}
        for subscription in subscriptions:
            id_text, subscriber = str(subscription.id), str(subscription.subscriber)
            hop = hops.get(subscriber, len(hops)) if self._hops else None
            if hop == MAX_HOPS:
                raise _too_many_hops()
            entry = (
                subscription.xpath,
                tuple(sorted((subscription.namespaces or {}).items())),
                hop,
            )
            try:
                if id_text in ids_seen:  # 7 and "7" differ in the matcher, but not in a table
                    raise SubscriptionError(
                        "duplicate", f"another subscription has the id {id_text!r}"
                    )
                self._add(subscription, entry)
            except SubscriptionError as error:
                if on_error is None:
                    raise
                on_error(subscription, error)
                continue
            ids_seen.add(id_text)
            entries[subscription.id] = entry
            if hop is None:
                routes.append(SubscriptionRoute(id_text, subscriber, subscription.xpath))
            elif hop == len(hops):
                hops[subscriber] = hop
                routes.append(SubscriptionRoute(subscriber, subscriber))
            digest.update(json.dumps([subscription.id, entry[:2], subscriber]).encode() + b"\n")
        for id in self._entries.keys() - entries.keys():
            self._matcher.remove(id)
        self._entries = entries
        return routes, digest.hexdigest()[:_HASH_LENGTH], len(entries)

    def _add(self, subscription: Subscription, entry: _CompiledEntry) -> None:
        previous = self._entries.get(subscription.id)
        if previous == entry:
            return
        if previous is not None:
            self._matcher.remove(subscription.id)
            del self._entries[subscription.id]
        self._matcher.add(
            subscription.id,
            subscription.xpath,
            subscription.namespaces,
            hop=entry[2],
            allow_expensive=self._allow_expensive,
        )
        self.expressions_compiled += 1

    def _save(self, path: Path) -> None:
        draft = path.with_name(f".draft-{os.getpid()}")
        try:
            self._matcher.save(draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def _version(name: str, folder: Path, subscriptions: int, hops: tuple[str, ...] | None) -> Version:
    snapshot, routes = (folder / f"{name}{ending}" for ending in (_SNAPSHOT, _ROUTES))
    return Version(name, snapshot, routes, subscriptions, hops)


def _too_many_hops() -> PipelineError:
    return PipelineError(
        "subscriptions",
        f"a document has at most {MAX_HOPS:,} hops to go to, and here are more",
        hint="the subscriber of an entry is its hop; for many subscribers there is --subscriptions",
    )


class VersionStore:
    """The versions of a run: stored with its results, and copied to this machine on demand."""

    def __init__(self, storage: Storage, compiler: VersionCompiler) -> None:
        self._storage = storage
        self._compiler = compiler
        self._entries: dict[str, Version] = {}

    def add(
        self, subscriptions: Iterable[Subscription], on_error: OnError | None = None
    ) -> Version:
        """Compile and store a version; when this returns, later runs can load it."""
        return self.put(self._compiler.compile(subscriptions, on_error))

    def put(self, version: Version) -> Version:
        """Store a compiled version; return it with the stored files.

        Another file of the same subscriptions may number them differently, and matches are numbers.
        """
        if self._storage.read(self._storage_name(version.name, _RECORD)) is None:
            self._storage.put_file(version.path, self._storage_name(version.name, _SNAPSHOT))
            self._storage.put_file(version.routes, self._storage_name(version.name, _ROUTES))
            record = {"subscriptions": version.subscriptions, "hops": version.hops}
            self._storage.write(
                self._storage_name(version.name, _RECORD), json.dumps(record).encode()
            )
        return self.get(version.name)

    def close(self) -> None:
        """Free the compiler's memory: no more versions will be added."""
        self._compiler.reset()

    def get(self, name: str) -> Version:
        """Return a version stored by this run or an earlier one; PipelineError if its files are
        gone.
        """
        if name not in self._entries:
            record = self._storage.read(self._storage_name(name, _RECORD))
            snapshot = self._storage.get_file(self._storage_name(name, _SNAPSHOT))
            routes = self._storage.get_file(self._storage_name(name, _ROUTES))
            if record is None or snapshot is None or routes is None:
                raise PipelineError(
                    "version",
                    f"the subscriptions of version {name} are not in {self._storage.path(_FOLDER)}",
                    hint="versions that an unfinished batch names must be kept",
                )
            fields = json.loads(record)
            hops = fields.get("hops")
            self._entries[name] = Version(
                name,
                snapshot,
                routes,
                int(fields["subscriptions"]),
                None if hops is None else tuple(hops),
            )
        return self._entries[name]

    def routes(self, version: Version) -> str:
        """Return the path of a version's routes, for Spark."""
        return self._storage.path(self._storage_name(version.name, _ROUTES))

    def _storage_name(self, name: str, ending: str) -> str:
        return f"{_FOLDER}/{name}{ending}"
