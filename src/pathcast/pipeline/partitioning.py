"""A version -> the strategy for it -> rows: documents are spread, or subscriptions.

The strategy is chosen once for each version, from what an engine of it needs and what a worker has room for (`strategy`). A small version
is not measured: no engine that was seen needs more than two hundred times its file besides what all need. A version of hops is not
spread, whatever was wanted: several fragments would find the same hop.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from pathcast.pipeline.fragment_matching import matched_spread
from pathcast.pipeline.fragments import fragmented
from pathcast.pipeline.matching import matched
from pathcast.pipeline.strategy import MEMO, Strategy, Wanted, choose, measured, room_for_worker
from pathcast.pipeline.versions import Version
from pathcast.pipeline.worker import Task

__all__ = ["Assignment"]

_FILE: Final = 200


class Assignment:
    """Matches documents under whichever version, by the strategy that was wanted; `tell` hears what was chosen.

    Fragments are made in the `cache`, or where the version is.
    """

    def __init__(
        self,
        session: SparkSession,
        wanted: Wanted,
        tell: Callable[[Version, Strategy], None],
        cache: Path | None = None,
    ) -> None:
        self._session = session
        self._cache = cache
        self._wanted = wanted
        self._tell = tell
        self._chosen: dict[str, Strategy] = {}
        self._room: int | None = None

    def matched(self, documents: DataFrame, version: Version, task: Task) -> DataFrame:
        """All that is known of documents under a version, as `rows` has it."""
        strategy = self._chosen.get(version.name)
        if strategy is None:
            strategy = self._chosen[version.name] = self._choose(version)
            self._tell(version, strategy)
        if strategy.name == "documents":
            version.ship(self._session.sparkContext)
            return matched(documents, task)
        fragments = fragmented(version, strategy.fragments, self._cache)
        fragments.ship(self._session.sparkContext)
        return matched_spread(documents, fragments, task)

    def _choose(self, version: Version) -> Strategy:
        if version.hops is not None:
            return Strategy("documents", 1, "a table of hops is in every worker")
        if self._wanted == "documents":
            return Strategy("documents", 1, "as asked")
        if self._room is None:
            self._room = room_for_worker(self._session)
        if self._wanted == "auto":
            most = MEMO + _FILE * version.path.stat().st_size
            if most <= self._room:
                return choose("auto", most, self._room)
        return choose(self._wanted, measured(version), self._room)
