"""The source of subscriptions: a file, a folder or a table, read again when it changes.

In a folder, every file with a known suffix counts (`.txt`, `.tsv`, `.jsonl`, `.parquet`, and these
with `.gz`), in the order of the names. Ids are those of the subscriptions; for `.txt`, whose ids
are line numbers, the file name is prefixed. To change several files atomically, write a new folder
and switch a symbolic link.

A source may also be a broker's table, whose subscribers are hops.

All rejected rows are collected and reported together. One rejected row rejects the whole set,
unless bad rows are to be skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pathcast.errors import FormatError, PathcastError, PipelineError, SubscriptionError
from pathcast.files import Format, Subscription, format_of, read_subscriptions
from pathcast.pipeline.versions import OnError, Version, VersionCompiler

__all__ = ["FilesState", "RejectedRow", "SubscriptionSource"]

Compile = Callable[[Iterable[Subscription], OnError], Version]
FilesState = tuple[tuple[str, int, int, int], ...]
"""(name, modification time, change time, size) of each file; the change time covers permissions."""
_MAX_LISTED_ROWS: Final = 10
"""Rejected rows that a message lists."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that is no valid subscription."""

    file: str
    line: int | None
    error: PathcastError

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.error}"


@dataclass(frozen=True, slots=True)
class SubscriptionSource:
    """Where the subscriptions are, and how to read them."""

    path: Path
    file_format: Format | None = None
    namespaces: Mapping[str, str] | None = None
    allow_expensive: bool = False
    skip_bad: bool = False
    hops: bool = False
    """Whether documents are matched for the subscribers only, as hops."""

    def read_state(self) -> FilesState:
        """Return the state of the files; PipelineError if there are none."""
        states = []
        for file in self._files():
            for path in sorted(file.rglob("*")) if file.is_dir() else [file]:
                try:
                    status = path.stat()
                except OSError as error:
                    raise _unreadable_error(path, error) from None
                states.append((str(path), status.st_mtime_ns, status.st_ctime_ns, status.st_size))
        return tuple(states)

    def compiler(self, folder: Path) -> VersionCompiler:
        """Return a compiler for these subscriptions that writes to a folder."""
        return VersionCompiler(folder, allow_expensive=self.allow_expensive, hops=self.hops)

    def compile(self, compile: Compile) -> tuple[Version, list[RejectedRow]]:
        """Compile the subscriptions; return the version and the skipped rows.

        Raise PipelineError for rejected rows, unless they are to be skipped.
        """
        rejected: list[RejectedRow] = []
        file = self.path

        def rows() -> Iterator[Subscription]:
            nonlocal file
            accepted = 0
            for file in self._files():
                for row in self._rows(file, rejected):
                    rejected_before = len(rejected)
                    yield row
                    accepted += len(rejected) == rejected_before
            # The consumer requests a row only after it reported the previous one, so `rejected` is
            # complete.
            if rejected and not self.skip_bad:
                raise _rejected_rows_error(rejected, accepted + len(rejected))

        def reject(subscription: Subscription, error: SubscriptionError) -> None:
            rejected.append(RejectedRow(str(file), subscription.line, error))

        return compile(rows(), reject), rejected

    def _rows(self, file: Path, rejected: list[RejectedRow]) -> Iterator[Subscription]:
        has_line_ids = self.path.is_dir() and format_of(file) == "txt"
        try:
            for row in read_subscriptions(
                file,
                file_format=self.file_format,
                namespaces=self.namespaces,
                on_error=lambda error: rejected.append(RejectedRow(str(file), error.line, error)),
            ):
                id = f"{file.name}:{row.id}"
                yield replace(row, id=id, subscriber=id) if has_line_ids else row
        except FormatError as error:
            raise PipelineError(
                "subscriptions", f"{file}: {error.message}", hint=error.hint
            ) from None

    def _files(self) -> list[Path]:
        if not self.path.is_dir() or format_of(self.path) == "parquet":
            return [self.path]
        try:
            names = sorted(os.listdir(self.path))
        except OSError as error:
            raise _unreadable_error(self.path, error) from None
        files = [
            self.path / name
            for name in names
            if not name.startswith((".", "_")) and format_of(name) is not None
        ]
        if not files:
            raise PipelineError(
                "subscriptions",
                f"{self.path} has no file of subscriptions",
                hint="files end with .txt, .tsv, .jsonl or .parquet, and perhaps .gz",
            )
        return files


def _rejected_rows_error(rejected: list[RejectedRow], count: int) -> PipelineError:
    lines = [str(row) for row in rejected[:_MAX_LISTED_ROWS]]
    if len(rejected) > _MAX_LISTED_ROWS:
        lines.append(f"and {len(rejected) - _MAX_LISTED_ROWS:,} more")
    return PipelineError(
        "subscriptions",
        f"{len(rejected):,} of {count:,} are bad\n" + "\n".join(lines),
        hint="correct them, or skip them with --skip-bad",
    )


def _unreadable_error(path: Path, error: OSError) -> PipelineError:
    return PipelineError("subscriptions", f"{path}: {error.strerror or error}")
