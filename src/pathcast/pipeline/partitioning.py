"""Matching by the strategy chosen for a version: partition the documents or the subscriptions.

The strategy is chosen once per version, from the memory that the version needs and that a worker
has (`partition_strategy`). Small versions are not measured: no measured version needed more than
`MEMO_BYTES` plus 200 times its file size. A hop version is never split, because several fragments
could report the same hop.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from pathcast.pipeline.fragment_matching import match_in_fragments
from pathcast.pipeline.fragments import split_version
from pathcast.pipeline.matching import match_documents
from pathcast.pipeline.partition_strategy import (
    MEMO_BYTES,
    PartitionMode,
    PartitionStrategy,
    choose_strategy,
    measure_version,
    worker_memory,
)
from pathcast.pipeline.versions import Version
from pathcast.pipeline.worker import MatchTask

__all__ = ["PartitionedMatcher"]

_MAX_BYTES_PER_FILE_BYTE: Final = 200


class PartitionedMatcher:
    """Matches documents under any version; calls `on_choice` once for each version.

    Fragments are written to `cache`, or beside the version.
    """

    def __init__(
        self,
        session: SparkSession,
        mode: PartitionMode,
        on_choice: Callable[[Version, PartitionStrategy], None],
        cache: Path | None = None,
    ) -> None:
        self._session = session
        self._cache = cache
        self._mode = mode
        self._on_choice = on_choice
        self._strategies: dict[str, PartitionStrategy] = {}
        self._worker_memory: int | None = None

    def match(self, documents: DataFrame, version: Version, task: MatchTask) -> DataFrame:
        """Return the result rows of documents under a version (see `rows`)."""
        strategy = self._strategies.get(version.name)
        if strategy is None:
            strategy = self._strategies[version.name] = self._choose(version)
            self._on_choice(version, strategy)
        if strategy.name == "documents":
            version.ship(self._session.sparkContext)
            return match_documents(documents, task)
        fragments = split_version(version, strategy.fragments, self._cache)
        fragments.ship(self._session.sparkContext)
        return match_in_fragments(documents, fragments, task)

    def _choose(self, version: Version) -> PartitionStrategy:
        if version.hops is not None:
            return PartitionStrategy("documents", 1, "a table of hops is in every worker")
        if self._mode == "documents":
            return PartitionStrategy("documents", 1, "as asked")
        if self._worker_memory is None:
            self._worker_memory = worker_memory(self._session)
        if self._mode == "auto":
            upper_bound = MEMO_BYTES + _MAX_BYTES_PER_FILE_BYTE * version.path.stat().st_size
            if upper_bound <= self._worker_memory:
                return choose_strategy("auto", upper_bound, self._worker_memory)
        return choose_strategy(self._mode, measure_version(version), self._worker_memory)
