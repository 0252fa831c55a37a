"""Subscriptions as they travel: files that never change, named by what is in them.

A version is compiled once, by the driver: a snapshot for the engine, and the routes of its subscriptions. Workers load the
snapshot (a microsecond or so for each subscription) and keep it for all batches that name it. The same subscriptions
in the same order are the same version, whoever compiled them: its name is a hash of them. So a batch that is run again
finds exactly the subscriptions it had, in the file it had.

A version may be one of hops: then its subscribers are hops, at most `MAX_HOPS`, numbered in the order in which they are first named, and documents are matched for these
alone. Its routes say of every hop that it is its own subscriber.

To compile an expression with predicates takes some hundred microseconds, so a `Compiler` takes over what it had compiled before: a change in a
large set takes the time of reading the set, and of compiling what is new.

The files are kept with the results (`Versions`), and the snapshot goes to workers through Spark's own files (`ship`): in a cluster
they need not see the driver's disk.
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
from pathcast.sandbox import ProcessRunner

__all__ = ["OnError", "Version", "VersionCompiler", "VersionStore", "compile_version"]

OnError = Callable[[Subscription, SubscriptionError], None]
SubscriptionId = str | int
_CompiledEntry = tuple[str, tuple[tuple[str, str], ...], int | None]  # expression, namespaces, hop

_SNAPSHOT = ".subscriptions"
_ROUTES = ".routes.parquet"
_RECORD = ".json"
_FOLDER = "versions"
_HASH_LENGTH = 16  # characters of the hash: no two of a lifetime have the same


@dataclass(frozen=True, slots=True)
class Version:
    """A set of subscriptions, by its name; `path` and `routes` are the driver's copies."""

    name: str
    path: Path
    routes: Path
    subscriptions: int
    hops: tuple[str, ...] | None = None
    """The names of hops by their numbers, if documents are matched for these alone."""

    @property
    def file(self) -> str:
        """The name of the snapshot, by which workers find theirs."""
        return self.path.name

    def ship(self, context: SparkContext) -> None:
        """Let every worker have the snapshot."""
        context.addFile(str(self.path))


def compile_version(
    subscriptions: Iterable[Subscription],
    folder: Path,
    *,
    allow_expensive: bool = False,
    hops: bool = False,
    on_error: OnError | None = None,
) -> Version:
    """Compile a single version and put its files into a folder, if they are not there already."""
    compiler = VersionCompiler(folder, allow_expensive=allow_expensive, hops=hops)
    return compiler.compile(subscriptions, on_error)


class VersionCompiler:
    """Compiles one version after the other; what a version has in common with the one before is not compiled again."""

    def __init__(self, folder: Path, *, allow_expensive: bool = False, hops: bool = False) -> None:
        self._folder = folder
        self._allow_expensive = allow_expensive
        self._hops = hops
        self.expressions_compiled = 0
        """Expressions that were compiled, in all."""
        self.reset()

    def reset(self) -> None:
        """Let go what was compiled: the next version is compiled as a whole."""
        runner = ProcessRunner() if self._allow_expensive else None  # it runs nothing here
        self._matcher = Matcher(runner=runner)
        self._entries: dict[SubscriptionId, _CompiledEntry] = {}

    def compile(
        self, subscriptions: Iterable[Subscription], on_error: OnError | None = None
    ) -> Version:
        """The version of these subscriptions, its files made if they are not there.

        A subscription that is none goes to `on_error` and is left out, or, without one, its error is raised.
        """
        try:
            routes, name, count = self._load(subscriptions, on_error)
        except BaseException:
            self.reset()  # it has some of the new ones, and some of the old
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
        """Have the matcher hold these subscriptions and no others; their routes, the name of the version, and how many there are."""
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
                if id_text in ids_seen:  # 7 and "7" are two to the matcher, and one in a table
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
                routes.append(SubscriptionRoute(id_text, subscriber))
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
    """The versions of a run: kept with its results, and brought to this machine when they are asked for."""

    def __init__(self, storage: Storage, compiler: VersionCompiler) -> None:
        self._storage = storage
        self._compiler = compiler
        self._entries: dict[str, Version] = {}

    def add(
        self, subscriptions: Iterable[Subscription], on_error: OnError | None = None
    ) -> Version:
        """Compile a version, and keep it; when this returns, a later run can have it again."""
        version = self._compiler.compile(subscriptions, on_error)
        if self._storage.read(self._place(version.name, _RECORD)) is None:
            self._storage.put_file(version.path, self._place(version.name, _SNAPSHOT))
            self._storage.put_file(version.routes, self._place(version.name, _ROUTES))
            record = {"subscriptions": version.subscriptions, "hops": version.hops}
            self._storage.write(self._place(version.name, _RECORD), json.dumps(record).encode())
        # As it is kept: a file of the same subscriptions may number them otherwise, and answers go by the number.
        return self.get(version.name)

    def close(self) -> None:
        """No more will be added: let go what was kept for the next one."""
        self._compiler.reset()

    def get(self, name: str) -> Version:
        """A version that was added, by this run or an earlier one; PipelineError if its files are gone."""
        if name not in self._entries:
            record = self._storage.read(self._place(name, _RECORD))
            snapshot = self._storage.get_file(self._place(name, _SNAPSHOT))
            routes = self._storage.get_file(self._place(name, _ROUTES))
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
        """The routes of a version, where Spark reads them."""
        return self._storage.path(self._place(version.name, _ROUTES))

    def _place(self, name: str, ending: str) -> str:
        return f"{_FOLDER}/{name}{ending}"
