"""Subscriptions as they travel: files that never change, named by what is in them.

A version is compiled once, by the driver: a snapshot for the engine, and the routes of its subscriptions. Workers load the
snapshot (a microsecond or so for each subscription) and keep it for all batches that name it. The same subscriptions
in the same order are the same version, whoever compiled them: its name is a hash of both. So a batch that is run again
finds exactly the subscriptions it had.

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
from pathcast.formats import Subscription
from pathcast.helper import ProcessRunner
from pathcast.matching import Matcher
from pathcast.pipeline.routes import Route, save_routes
from pathcast.pipeline.storage import Storage

__all__ = ["OnError", "Version", "Versions", "compiled"]

OnError = Callable[[Subscription, SubscriptionError], None]

_SNAPSHOT = ".subscriptions"
_ROUTES = ".routes.parquet"
_RECORD = ".json"
_FOLDER = "versions"
_LENGTH = 16  # characters of the hash: no two of a lifetime have the same


@dataclass(frozen=True, slots=True)
class Version:
    """A set of subscriptions, by its name; `path` and `routes` are the driver's copies."""

    name: str
    path: Path
    routes: Path
    subscriptions: int

    @property
    def file(self) -> str:
        """The name of the snapshot, by which workers find theirs."""
        return self.path.name

    def ship(self, context: SparkContext) -> None:
        """Let every worker have the snapshot."""
        context.addFile(str(self.path))


def compiled(
    subscriptions: Iterable[Subscription],
    folder: Path,
    *,
    allow_expensive: bool = False,
    on_error: OnError | None = None,
) -> Version:
    """Compile a version and put its files into a folder, if they are not there already.

    A subscription that is none goes to `on_error` and is left out, or, without one, its error is raised.
    """
    matcher = Matcher(runner=ProcessRunner() if allow_expensive else None)  # it runs nothing here
    routes: list[Route] = []
    seen: set[str] = set()
    for one in subscriptions:
        text = str(one.id)
        try:
            if text in seen:  # 7 and "7" are two to the matcher, and one in a table
                raise SubscriptionError("duplicate", f"another subscription has the id {text!r}")
            matcher.add(one.id, one.xpath, one.namespaces, allow_expensive=allow_expensive)
        except SubscriptionError as error:
            if on_error is None:
                raise
            on_error(one, error)
            continue
        seen.add(text)
        routes.append(Route(text, str(one.subscriber)))
    del seen
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".draft-{os.getpid()}"
    try:
        matcher.save(draft)
        digest = hashlib.sha256(draft.read_bytes())
        for route in routes:
            digest.update(f"{route.subscription}\0{route.subscriber}\0".encode())
        version = _version(digest.hexdigest()[:_LENGTH], folder, len(routes))
        draft.replace(version.path)
    finally:
        draft.unlink(missing_ok=True)
    save_routes(routes, version.routes)
    return version


def _version(name: str, folder: Path, subscriptions: int) -> Version:
    return Version(name, folder / f"{name}{_SNAPSHOT}", folder / f"{name}{_ROUTES}", subscriptions)


class Versions:
    """The versions of a run: kept with its results, and brought to this machine when they are asked for."""

    def __init__(self, storage: Storage, cache: Path) -> None:
        self._storage = storage
        self._cache = cache
        self._known: dict[str, Version] = {}

    def add(
        self,
        subscriptions: Iterable[Subscription],
        *,
        allow_expensive: bool = False,
        on_error: OnError | None = None,
    ) -> Version:
        """Compile a version, and keep it; when this returns, a later run can have it again."""
        version = compiled(
            subscriptions, self._cache, allow_expensive=allow_expensive, on_error=on_error
        )
        if self._storage.read(self._place(version.name, _RECORD)) is None:
            self._storage.keep(version.path, self._place(version.name, _SNAPSHOT))
            self._storage.keep(version.routes, self._place(version.name, _ROUTES))
            record = json.dumps({"subscriptions": version.subscriptions}).encode()
            self._storage.write(self._place(version.name, _RECORD), record)
        self._known[version.name] = version
        return version

    def get(self, name: str) -> Version:
        """A version that was added, by this run or an earlier one; PipelineError if its files are gone."""
        if name not in self._known:
            record = self._storage.read(self._place(name, _RECORD))
            snapshot = self._storage.fetch(self._place(name, _SNAPSHOT))
            routes = self._storage.fetch(self._place(name, _ROUTES))
            if record is None or snapshot is None or routes is None:
                raise PipelineError(
                    "version",
                    f"the subscriptions of version {name} are not in {self._storage.path(_FOLDER)}",
                    hint="versions that an unfinished batch names must be kept",
                )
            count = int(json.loads(record)["subscriptions"])
            self._known[name] = Version(name, snapshot, routes, count)
        return self._known[name]

    def routes(self, version: Version) -> str:
        """The routes of a version, where Spark reads them."""
        return self._storage.path(self._place(version.name, _ROUTES))

    def _place(self, name: str, ending: str) -> str:
        return f"{_FOLDER}/{name}{ending}"
