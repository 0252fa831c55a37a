"""The driver's files: small records that must be there, whole, once they are said to be.

`write` returns when the bytes would survive a power failure, and a reader sees all of them or nothing. `move` is one step
and replaces nothing. Two kinds: a folder that this process sees, and one that only Hadoop's file systems reach.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import file_system, hadoop_path, is_local, qualify

__all__ = ["HadoopStorage", "LocalStorage", "Storage", "local_path", "open_storage"]


class Storage(Protocol):
    """A folder; names are relative to it, with `/` between their parts."""

    def path(self, name: str) -> str:
        """As Spark is told it."""

    def read(self, name: str) -> bytes | None:
        """What was written; None if nothing was."""

    def write(self, name: str, content: bytes) -> None:
        """Durably, and all or nothing."""

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted; nothing if it is not there."""

    def move(self, old: str, new: str) -> None:
        """A file or a folder to a place that is free; no error if it is gone and stands there already."""

    def remove(self, name: str) -> None:
        """A file or a folder with all that is in it, if it is there."""

    def put_file(self, file: Path, name: str) -> None:
        """Copy a local file here, durably, and all or nothing."""

    def get_file(self, name: str) -> Path | None:
        """A local file with what was kept; None if nothing was."""

    def count_rows(self, table: str) -> int | None:
        """How many rows of a table of parquet files are here; None where machines cannot but see the same."""

    def sync(self) -> None:
        """Return when all that others wrote here is on the disk."""

    def lock(self) -> None:
        """Have the folder alone until `close`, or the end of this process; PipelineError if another has it."""

    def close(self) -> None:
        """Let others have the folder."""


def open_storage(session: SparkSession, path: str, cache: Path) -> Storage:
    """The folder of this name, made if need be; `cache` is for local copies of what is elsewhere."""
    try:
        if is_local(session, path):
            folder = local_path(path)
            folder.mkdir(parents=True, exist_ok=True)
            return LocalStorage(folder.resolve())
        return HadoopStorage(session, qualify(session, path), cache)
    except OSError as error:
        raise PipelineError("output", f"{path}: {error.strerror or error}") from None
    except Exception as error:  # whatever Java says  # noqa: BLE001
        raise PipelineError(
            "output",
            f"{path}: {_first_line(error)}",
            hint="a folder, or an address that Spark knows",
        ) from None


def local_path(path: str) -> Path:
    """A path on this machine, which may be written as an address; PipelineError if it is on another."""
    if not path.startswith("file:"):
        if "://" in path:
            raise PipelineError("output", f"{path} is not a folder that this machine sees")
        return Path(path)
    return Path("/" + path.removeprefix("file:").lstrip("/"))


class LocalStorage:
    """A folder on a disk of this machine, or mounted on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock: IO[bytes] | None = None

    def path(self, name: str) -> str:
        return f"file:{self.root / name}"  # as it is: Hadoop reads no escapes in a path

    def read(self, name: str) -> bytes | None:
        try:
            return (self.root / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        with self._draft(name) as draft, draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def put_file(self, file: Path, name: str) -> None:
        with self._draft(name) as draft:
            shutil.copyfile(file, draft)
            with draft.open("rb") as copy:
                os.fsync(copy.fileno())

    @contextlib.contextmanager
    def _draft(self, name: str) -> Iterator[Path]:
        target = self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            yield draft
            draft.replace(target)
            _sync_folder(target.parent)
        finally:
            draft.unlink(missing_ok=True)

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(self.root / folder))
        except FileNotFoundError:
            return []

    def move(self, old: str, new: str) -> None:
        target = self.root / new
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            (self.root / old).rename(target)
        except FileNotFoundError:
            if not target.exists():
                raise
        _sync_folder(target.parent)

    def remove(self, name: str) -> None:
        target = self.root / name
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target, ignore_errors=True)
        else:
            target.unlink(missing_ok=True)

    def get_file(self, name: str) -> Path | None:
        target = self.root / name
        return target if target.exists() else None

    def count_rows(self, table: str) -> int | None:
        files = (self.root / table).glob("part-*")
        return sum(int(pq.read_metadata(file).num_rows) for file in files)

    def sync(self) -> None:
        os.sync()

    def lock(self) -> None:
        if self._lock is not None:
            return
        file = (self.root / ".lock").open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise PipelineError(
                "output",
                f"another run has {self.root}",
                hint="end it first, or choose another folder",
            ) from None
        self._lock = file

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class HadoopStorage:
    """A folder that Spark reaches and this process does not: HDFS, an object store."""

    def __init__(self, session: SparkSession, root: str, cache: Path) -> None:
        self._session = session
        self._root = root.rstrip("/")
        self._cache = cache
        self._system = file_system(session, root)

    def path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _place(self, name: str) -> Any:
        return hadoop_path(self._session, self.path(name))

    def read(self, name: str) -> bytes | None:
        local = self.get_file(name)
        return None if local is None else local.read_bytes()

    def write(self, name: str, content: bytes) -> None:
        draft = self._cache / f"write-{secrets.token_hex(4)}"
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        try:
            self.put_file(draft, name)
        finally:
            draft.unlink()

    def put_file(self, file: Path, name: str) -> None:
        target = self._place(name)
        draft = self._place(f"{name}._draft")
        self._system.mkdirs(target.getParent())
        self._system.copyFromLocalFile(
            False, True, hadoop_path(self._session, f"file:{file}"), draft
        )
        self._system.delete(target, False)
        if not self._system.rename(draft, target):
            raise PipelineError("output", f"cannot write {self.path(name)}")

    def names(self, folder: str) -> list[str]:
        target = self._place(folder)
        if not self._system.exists(target):
            return []
        return sorted(str(status.getPath().getName()) for status in self._system.listStatus(target))

    def move(self, old: str, new: str) -> None:
        source, target = self._place(old), self._place(new)
        if self._system.exists(source):
            self._system.mkdirs(target.getParent())
            if self._system.exists(target) or not self._system.rename(source, target):
                raise PipelineError("output", f"cannot move {self.path(old)} to {self.path(new)}")
        elif not self._system.exists(target):
            raise PipelineError("output", f"{self.path(old)} is gone")

    def remove(self, name: str) -> None:
        self._system.delete(self._place(name), True)

    def get_file(self, name: str) -> Path | None:
        remote = self._place(name)
        if not self._system.exists(remote):
            return None
        local = self._cache / f"read-{secrets.token_hex(4)}" / Path(name).name
        local.parent.mkdir(parents=True)
        self._system.copyToLocalFile(
            False, remote, hadoop_path(self._session, f"file:{local}"), True
        )
        return local

    def count_rows(self, table: str) -> int | None:  # noqa: ARG002 - a folder asks for it
        return None

    def sync(self) -> None:
        """Spark's writers close what they write, which is all that such systems ask for."""

    def lock(self) -> None:
        """Such systems have no locks: that nobody else writes here is up to the caller."""

    def close(self) -> None: ...


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
