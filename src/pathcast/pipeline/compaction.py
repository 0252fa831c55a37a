"""Compaction of a result folder: few large files and records instead of some per batch.

    done batches, by age -> drop those beyond the limit
                         -> merge neighbours until a table fills a file -> the next ones
                         -> drop versions that no record names

A merge stages its files, records a `CompactionStep` and performs it. The outcome of merged batches
is one record under the number of the last; `first` is the number of the first. The rows stay the
same: each has its batch as a column. Batches of different days (UTC) are not merged, so that old
days can be dropped. A record whose largest table fills a file is left alone, so a second compaction
of the same folder changes nothing.

The newest record is never dropped: a stream that restarts may ask for its last batch. The plans of
merged batches are removed, because only unfinished batches need theirs.

The folder is locked meanwhile. A process that is killed leaves staged files, which the next
compaction removes, or a recorded step, which the next owner of the lock performs. The memory does
not grow with the folder, apart from a record of some hundred bytes per batch.

A folder of format 1 (a folder `batch=N` per batch, without the column) becomes one of format 2.
"""

from __future__ import annotations

import errno
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Final

import pyarrow as pa

from pathcast.errors import PipelineError
from pathcast.files.outboxes import SEGMENTS_FOLDER
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome, done_record
from pathcast.pipeline.compaction_step import CompactionStep, perform_step
from pathcast.pipeline.hash_times import HashTimes, merge_times
from pathcast.pipeline.merged_tables import MergedTables
from pathcast.pipeline.storage import LocalStorage

__all__ = ["FILE_BYTES", "CompactionSettings", "CompactionSummary", "compact"]

FILE_BYTES: Final = 128 << 20
_STAGING: Final = "_staging/compaction"
_DAY_SECONDS: Final = 86_400
_FULL_DISK: Final = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """What to merge and to drop."""

    keep: float | None = None
    """The days whose batches are kept, by the start of the batch; None keeps all."""
    outboxes: bool = False
    """Whether to drop the segments of dropped batches too."""
    file_bytes: int = FILE_BYTES
    dry_run: bool = False


@dataclass(slots=True)
class CompactionSummary:
    """The folder before and after, and what was done to its batches."""

    batches: int = 0
    merged: int = 0
    dropped: int = 0
    versions_dropped: int = 0
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


@dataclass(frozen=True, slots=True)
class _DoneBatches:
    """A record of done batches, and its files by table, relative to the result folder."""

    batch: int
    outcome: BatchOutcome
    started: float
    files: dict[str, tuple[str, ...]]
    sizes: dict[str, int]
    has_column: bool
    """Whether the files have the column `batch`; those of format 1 do not."""
    old_names: tuple[str, ...] = field(default=())
    """Folders of format 1."""

    @property
    def first(self) -> int:
        return self.batch if self.outcome.first is None else self.outcome.first

    @property
    def day(self) -> int:
        return int(self.started // _DAY_SECONDS)

    @property
    def file_count(self) -> int:
        return sum(map(len, self.files.values()))

    def fills_file(self, file_bytes: int) -> bool:
        return max(self.sizes.values(), default=0) >= file_bytes

    def is_compact(self, file_bytes: int) -> bool:
        """Return whether a merge of these batches alone would gain nothing."""
        return self.has_column and all(
            len(names) <= max(1, ceil(self.sizes[table] / file_bytes))
            for table, names in self.files.items()
        )


def compact(
    folder: Path,
    settings: CompactionSettings,
    *,
    now: float | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> CompactionSummary:
    """Compact the result folder of a run; `on_progress` gets batches done and all batches."""
    storage = LocalStorage(folder.resolve())
    if storage.read("pathcast.json") is None:
        raise PipelineError(
            "output",
            f"{folder} holds no run",
            hint="name the folder of a run (--out of pathcast run)",
        )
    store = BatchLog(storage)
    try:
        return _Compaction(store, storage, settings).run(
            store.lock_any(), now or time.time(), on_progress
        )
    except OSError as error:
        kind = "disk" if error.errno in _FULL_DISK else "output"
        raise PipelineError(kind, f"{folder}: {error}", hint="start it again") from error
    except pa.ArrowException as error:
        raise PipelineError("output", f"{folder} has an unreadable table: {error}") from error
    finally:
        storage.close()


class _Compaction:
    def __init__(
        self, store: BatchLog, storage: LocalStorage, settings: CompactionSettings
    ) -> None:
        self._store = store
        self._storage = storage
        self._settings = settings

    def run(
        self, old_format: int, now: float, on_progress: Callable[[int, int], None]
    ) -> CompactionSummary:
        settings, summary = self._settings, CompactionSummary()
        if old_format == 1:
            self._check_no_staged_batch()
        entries = [self._entry(*item) for item in sorted(self._store.outcomes().items())]
        summary.batches = sum(entry.outcome.batches for entry in entries)
        summary.files_before, summary.bytes_before = _measure(entries)
        old, kept = self._split_by_age(entries, now)
        summary.dropped = sum(entry.outcome.batches for entry in old)
        runs = list(_merge_candidates(kept, settings.file_bytes))
        summary.merged = sum(entry.outcome.batches for run in runs for entry in run)
        if settings.dry_run:
            summary.files_after, summary.bytes_after = summary.files_before, summary.bytes_before
            return summary
        self._storage.remove(_STAGING)
        for entry in old:
            self._drop(entry)
        merged = 0
        for run in runs:
            remaining = run
            while remaining and not _is_finished(remaining, settings.file_bytes):
                count = self._merge(remaining)
                merged += sum(entry.outcome.batches for entry in remaining[:count])
                remaining = remaining[count:]
                on_progress(merged, summary.merged)
        summary.merged = merged
        summary.versions_dropped = self._drop_versions()
        self._store.write_format()
        kept = [self._entry(*item) for item in sorted(self._store.outcomes().items())]
        summary.files_after, summary.bytes_after = _measure(kept)
        return summary

    def _check_no_staged_batch(self) -> None:
        for name in self._storage.names("_staging"):
            if self._storage.read(f"_staging/{name}/staged.json") is not None:
                raise PipelineError(
                    "checkpoint",
                    f"{name} is staged in format 1 and not published",
                    hint="let the version of pathcast that wrote it finish this batch first",
                )

    def _entry(self, batch: int, outcome: BatchOutcome) -> _DoneBatches:
        root = self._storage.root
        started = outcome.started
        if not started and (plan := self._store.plan(batch)) is not None:
            started = plan.started
        old_names: tuple[str, ...] = ()
        if outcome.files:
            files = {
                table: tuple(f"{table}/{name}" for name in names)
                for table, names in outcome.files.items()
            }
        else:
            folders = {
                table: f"{table}/batch={batch}" for table in (*outcome.tables, "undelivered")
            }
            files = {
                table: tuple(
                    f"{name}/{file}" for file in self._storage.names(name) if file[0] not in "._"
                )
                for table, name in folders.items()
                if (root / name).is_dir()
            }
            old_names = tuple(folders.values())
        if "hashes" in files and outcome.hashes is None:  # a record of format 1
            newest = max(outcome.latest or 0.0, started)
            outcome = replace(outcome, hashes=HashTimes(0.0, newest, newest))
        sizes = {
            table: sum((root / name).stat().st_size for name in names)
            for table, names in files.items()
        }
        return _DoneBatches(batch, outcome, started, files, sizes, bool(outcome.files), old_names)

    def _split_by_age(
        self, entries: list[_DoneBatches], now: float
    ) -> tuple[list[_DoneBatches], list[_DoneBatches]]:
        """Return the batches beyond the limit, and the others."""
        if self._settings.keep is None:
            return [], entries
        limit = now - self._settings.keep * _DAY_SECONDS
        is_old = [entry.started < limit for entry in entries[:-1]] + [False] * bool(entries)
        return (
            [entry for entry, drop in zip(entries, is_old, strict=True) if drop],
            [entry for entry, drop in zip(entries, is_old, strict=True) if not drop],
        )

    def _drop(self, entry: _DoneBatches) -> None:
        outboxes: Iterable[str] = ()
        if self._settings.outboxes:
            outboxes = (
                f"{SEGMENTS_FOLDER}/batch={batch}" for batch in range(entry.first, entry.batch + 1)
            )
        perform_step(self._storage, CompactionStep(removals=(*self._old_names([entry]), *outboxes)))

    def _merge(self, entries: list[_DoneBatches]) -> int:
        """Merge batches from the first on, until a table fills a file; return how many records."""
        self._storage.remove(_STAGING)
        tables = MergedTables(self._storage.root / _STAGING, self._settings.file_bytes)
        count = 0
        for entry in entries:
            for table, names in entry.files.items():
                for name in names:
                    tables.append(table, self._storage.root / name, entry.batch)
            count += 1
            if tables.written_bytes() >= self._settings.file_bytes:
                break
        merged = entries[:count]
        last, token = merged[-1].batch, secrets.token_hex(4)
        moves, files = [], {}
        for table, paths in tables.close().items():
            names = tuple(f"{last:010}-{token}-{path.name}" for path in paths)
            files[table] = names
            moves += [
                (f"{_STAGING}/{table}/{path.name}", f"{table}/{name}")
                for path, name in zip(paths, names, strict=True)
            ]
        outcome = _merge_outcomes(merged, files)
        step = CompactionStep(
            tuple(moves),
            done_record(last),
            {"batch": last, **asdict(outcome)},
            (*(name for name in self._old_names(merged) if name != done_record(last)), _STAGING),
        )
        perform_step(self._storage, step)
        return count

    def _old_names(self, entries: list[_DoneBatches]) -> Iterator[str]:
        """Yield the records of batches, and then their files."""
        for entry in entries:
            yield done_record(entry.batch)
            yield f"log/{entry.batch:010}.json"
        for entry in entries:
            yield from (name for names in entry.files.values() for name in names)
            yield from entry.old_names

    def _drop_versions(self) -> int:
        """Remove the versions that neither a done batch nor an unfinished one names."""
        named = {
            version
            for outcome in self._store.outcomes().values()
            for version in outcome.all_versions
        } | self._store.planned_versions()
        files = self._storage.names("versions")
        unnamed = sorted({name.split(".")[0] for name in files} - named - {""})
        for version in unnamed:
            self._storage.remove(f"versions/{version}.json")  # first: it says that the others exist
            for name in files:
                if name.startswith(f"{version}."):
                    self._storage.remove(f"versions/{name}")
        return len(unnamed)


def _merge_candidates(entries: list[_DoneBatches], file_bytes: int) -> Iterator[list[_DoneBatches]]:
    """Yield consecutive batches of one day whose merge gains something."""
    run: list[_DoneBatches] = []
    for entry in [*entries, None]:
        joins = (
            entry is not None
            and run
            and entry.day == run[-1].day
            and not entry.fills_file(file_bytes)
            and not run[-1].fills_file(file_bytes)
        )
        if run and not joins:
            if not _is_finished(run, file_bytes):
                yield run
            run = []
        if entry is not None:
            run.append(entry)


def _is_finished(run: list[_DoneBatches], file_bytes: int) -> bool:
    return len(run) == 1 and run[0].is_compact(file_bytes)


def _merge_outcomes(entries: list[_DoneBatches], files: dict[str, tuple[str, ...]]) -> BatchOutcome:
    """Return the sum of outcomes, as the outcome of the last."""
    outcomes = [entry.outcome for entry in entries]
    refusals, steps = Counter[str](), dict[str, float]()
    for outcome in outcomes:
        refusals.update(outcome.refusals)
        for step, seconds in outcome.steps.items():
            steps[step] = round(steps.get(step, 0.0) + seconds, 4)
    times = [outcome.latest for outcome in outcomes if outcome.latest is not None]
    versions = dict.fromkeys(version for outcome in outcomes for version in outcome.all_versions)
    sums = {
        name: sum(getattr(outcome, name) for outcome in outcomes)
        for name in (
            *("documents", "matched", "unmatched", "refused", "repeated", "undecided", "bytes"),
            *("matches", "undelivered", "batches"),
        )
    }
    counted = [outcome.deliveries for outcome in outcomes if outcome.deliveries is not None]
    return replace(
        outcomes[-1],
        **sums,
        deliveries=sum(counted) if counted else None,
        refusals=dict(refusals),
        seconds=round(sum(outcome.seconds for outcome in outcomes), 3),
        steps=steps,
        latest=max(times, default=None),
        tables=tuple(files),
        staging="",
        files=files,
        started=entries[-1].started,
        first=entries[0].first if len(entries) > 1 else outcomes[-1].first,
        hashes=merge_times(outcome.hashes for outcome in outcomes),
        versions=tuple(versions) if len(versions) > 1 else (),
    )


def _measure(entries: list[_DoneBatches]) -> tuple[int, int]:
    """Return the number of table files, and their bytes."""
    return (
        sum(entry.file_count for entry in entries),
        sum(sum(entry.sizes.values()) for entry in entries),
    )
