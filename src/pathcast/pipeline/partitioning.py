"""Matching by the strategy chosen for a version: partition the documents or the subscriptions.

The strategy is chosen once per version, from the memory that the version needs and that a worker
has (`partition_strategy`). Small versions are not measured: no measured version needed more than
`_BASE_BYTES`, the memo and 30 times its file size. A larger one is measured with a sample of the
documents of its first batch. A hop version is never split, because several fragments
could report the same hop.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.pipeline.fragment_matching import match_in_fragments
from pathcast.pipeline.fragments import split_version
from pathcast.pipeline.matching import match_documents
from pathcast.pipeline.partition_strategy import (
    MEMO_BYTES,
    MEMO_OVERHEAD,
    SAMPLE_DOCUMENTS,
    PartitionMode,
    PartitionStrategy,
    VersionMemory,
    choose_strategy,
    measure_version,
    worker_memory,
)
from pathcast.pipeline.versions import Version
from pathcast.pipeline.worker import MatchTask

__all__ = ["PartitionedMatcher"]

_BASE_BYTES: Final = 64_000_000  # what the modules of an engine take, without subscriptions
_MAX_BYTES_PER_FILE_BYTE: Final = 30
_MAX_SAMPLED_BYTES: Final = 1 << 16  # of a sampled document: the sample is collected in the driver


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

    def strategy(self, version: Version, documents: DataFrame) -> PartitionStrategy:
        """Return the strategy of a version, chosen at the first call for these documents."""
        strategy = self._strategies.get(version.name)
        if strategy is None:
            strategy = self._strategies[version.name] = self._choose(version, documents)
            self._on_choice(version, strategy)
        return strategy

    def match(self, documents: DataFrame, version: Version, task: MatchTask) -> DataFrame:
        """Return the result rows of documents under a version (see `rows`)."""
        strategy = self.strategy(version, documents)
        if strategy.name == "documents":
            version.ship(self._session.sparkContext)
            return match_documents(documents, task)
        fragments = split_version(version, strategy.fragments, self._cache)
        fragments.ship(self._session.sparkContext)
        return match_in_fragments(documents, fragments, task, strategy.budget)

    def _choose(self, version: Version, documents: DataFrame) -> PartitionStrategy:
        if version.hops is not None:
            return PartitionStrategy("documents", 1, "a table of hops is in every worker")
        if self._mode == "documents":
            return PartitionStrategy("documents", 1, "as asked")
        if self._worker_memory is None:
            self._worker_memory = worker_memory(self._session)
        if self._mode == "auto":
            bound = VersionMemory(
                _BASE_BYTES
                + round(MEMO_OVERHEAD * MEMO_BYTES)
                + _MAX_BYTES_PER_FILE_BYTE * version.path.stat().st_size
            )
            if bound.bytes <= self._worker_memory:
                return choose_strategy("auto", bound, self._worker_memory)
        memory = measure_version(version, _sample(documents))
        return choose_strategy(self._mode, memory, self._worker_memory)


def _sample(documents: DataFrame) -> list[bytes]:
    small = documents.where(F.length("body") <= _MAX_SAMPLED_BYTES)
    return [bytes(row.body) for row in small.select("body").limit(SAMPLE_DOCUMENTS).collect()]
