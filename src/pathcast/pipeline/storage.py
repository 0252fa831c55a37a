"""The driver's files: small records that are durable and complete once written.

`write` returns when the bytes would survive a power failure; a reader sees all of them or none.
`move` is atomic and overwrites nothing. There are two implementations: a folder that this process
sees, and a folder that only Hadoop file systems reach.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import file_system, hadoop_path, is_local, qualify

__all__ = ["HadoopStorage", "LocalStorage", "Storage", "local_path", "open_storage"]


class Storage(Protocol):
    """A folder; names are relative to it, with `/` as separator."""

    def path(self, name: str) -> str:
        """Return the path of a name in Spark's notation."""

    def local_folder(self, name: str) -> str | None:
        """Return the path of a folder for processes on this machine; None if they have none."""

    def read(self, name: str) -> bytes | None:
        """Return the content, or None if the file does not exist."""

    def write(self, name: str, content: bytes) -> None:
        """Write durably and atomically."""

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; empty if it does not exist."""

    def move(self, old: str, new: str) -> None:
        """Move a file or folder to a free name; no error if an earlier call already moved it."""

    def move_all(self, moves: Sequence[tuple[str, str]]) -> None:
        """Move files, as `move` does, in this order."""

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""

    def put_file(self, file: Path, name: str) -> None:
        """Copy a local file here, durably and atomically."""

    def get_file(self, name: str) -> Path | None:
        """Return a local file with the content of a name, or None if it does not exist."""

    def count_rows(self, table: str) -> int | None:
        """Return the rows of a parquet table visible here; None where all machines see the same
        files.
        """

    def sync(self) -> None:
        """Return when everything that other processes wrote here is on disk."""

    def lock(self) -> None:
        """Lock the folder until `close` or process end; PipelineError if another run has it."""

    def close(self) -> None:
        """Release the lock."""


def open_storage(session: SparkSession, path: str, cache: Path) -> Storage:
    """Open the folder, creating it if necessary; `cache` holds local copies of remote files."""
    try:
        if is_local(session, path):
            folder = local_path(path)
            folder.mkdir(parents=True, exist_ok=True)
            return LocalStorage(folder.resolve())
        return HadoopStorage(session, qualify(session, path), cache)
    except OSError as error:
        raise PipelineError("output", f"{path}: {error.strerror or error}") from None
    except Exception as error:  # any Java exception  # noqa: BLE001
        raise PipelineError(
            "output",
            f"{path}: {_first_line(error)}",
            hint="a folder, or an address that Spark knows",
        ) from None


def local_path(path: str) -> Path:
    """Return the local path of a path or file: URL; PipelineError if it is remote."""
    if not path.startswith("file:"):
        if "://" in path:
            raise PipelineError("output", f"{path} is not a folder that this machine sees")
        return Path(path)
    return Path("/" + path.removeprefix("file:").lstrip("/"))


class LocalStorage:
    """A folder on a local or mounted disk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock: IO[bytes] | None = None

    def path(self, name: str) -> str:
        return f"file:{self.root / name}"  # unescaped: Hadoop paths have no escapes

    def local_folder(self, name: str) -> str | None:
        return str(self.root / name)

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
        self.move_all([(old, new)])

    def move_all(self, moves: Sequence[tuple[str, str]]) -> None:
        folders = dict.fromkeys((self.root / new).parent for _, new in moves)
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        for old, new in moves:
            try:
                (self.root / old).rename(self.root / new)
            except FileNotFoundError:
                if not (self.root / new).exists():
                    raise
        for folder in folders:
            _sync_folder(folder)

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

    def local_folder(self, name: str) -> str | None:  # noqa: ARG002 - part of the protocol
        return None

    def _hadoop_path(self, name: str) -> Any:
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
        target = self._hadoop_path(name)
        draft = self._hadoop_path(f"{name}._draft")
        self._system.mkdirs(target.getParent())
        self._system.copyFromLocalFile(
            False, True, hadoop_path(self._session, f"file:{file}"), draft
        )
        self._system.delete(target, False)
        if not self._system.rename(draft, target):
            raise PipelineError("output", f"cannot write {self.path(name)}")

    def names(self, folder: str) -> list[str]:
        target = self._hadoop_path(folder)
        if not self._system.exists(target):
            return []
        return sorted(str(status.getPath().getName()) for status in self._system.listStatus(target))

    def move(self, old: str, new: str) -> None:
        source, target = self._hadoop_path(old), self._hadoop_path(new)
        if self._system.exists(source):
            self._system.mkdirs(target.getParent())
            if self._system.exists(target) or not self._system.rename(source, target):
                raise PipelineError("output", f"cannot move {self.path(old)} to {self.path(new)}")
        elif not self._system.exists(target):
            raise PipelineError("output", f"{self.path(old)} is gone")

    def move_all(self, moves: Sequence[tuple[str, str]]) -> None:
        for old, new in moves:
            self.move(old, new)

    def remove(self, name: str) -> None:
        self._system.delete(self._hadoop_path(name), True)

    def get_file(self, name: str) -> Path | None:
        remote = self._hadoop_path(name)
        if not self._system.exists(remote):
            return None
        local = self._cache / f"read-{secrets.token_hex(4)}" / Path(name).name
        local.parent.mkdir(parents=True)
        self._system.copyToLocalFile(
            False, remote, hadoop_path(self._session, f"file:{local}"), True
        )
        return local

    def count_rows(self, table: str) -> int | None:  # noqa: ARG002 - part of the protocol
        return None

    def sync(self) -> None:
        """Spark's writers close their files, and these systems require no more."""

    def lock(self) -> None:
        """These systems have no locks: the caller must ensure that no other run writes here."""

    def close(self) -> None: ...


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
