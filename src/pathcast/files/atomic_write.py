"""Atomic writes: a file or folder is written under a temporary name, then renamed.

An error or an interruption removes the temporary file. So no partial file ever has the final name,
and an existing file stays intact. A complete file replaces an existing one. A folder is never
merged: the target must not exist or be an empty folder, because documents of an earlier run would
mix with the new ones.

An error of the system (no such folder, no permission, a full disk) is a `FormatError` of kind
`file`.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pathcast.errors import FormatError

__all__ = ["atomic_file", "atomic_folder"]


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a stream to a file that is replaced when the block succeeds, and unchanged if it fails.

    The bytes are gzipped if the name ends with `.gz`. The gzip header has no date, so that equal
    bytes give equal files.
    """
    with _errors_as_format_error(path):
        target = Path(os.path.realpath(path))  # a link to a file stays a link
        if target.exists() and not target.is_file():  # a device or a pipe: never replaced
            with path.open("wb") as raw, _compress(path, raw) as stream:
                yield stream
            return
        temporary = _temporary_name(target)
        try:
            with temporary.open("xb") as raw, _compress(path, raw) as stream:
                yield stream
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _compress(path: Path, raw: BinaryIO) -> Iterator[BinaryIO]:
    if path.name.lower().endswith(".gz"):
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
            yield cast(BinaryIO, packed)
    else:
        yield raw


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Create a folder that appears under its name only if the block succeeds."""
    with _errors_as_format_error(path):
        target = Path(os.path.realpath(path))  # a link to an empty folder stays a link
        replaces_folder = target.exists()
        if replaces_folder:
            _refuse_nonempty(path, target)
        temporary = _temporary_name(target)
        try:
            temporary.mkdir()
            yield temporary
            if replaces_folder:
                shutil.copymode(target, temporary)
            temporary.replace(target)  # fails if another process has filled it
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _refuse_nonempty(path: Path, target: Path) -> None:
    hint = "name a folder that is not there yet, or an empty one"
    if not target.is_dir():
        raise FormatError("exists", f"{path} is not a folder", hint=hint)
    with os.scandir(target) as entries:
        if next(entries, None) is not None:
            raise FormatError("exists", f"the folder {path} is not empty", hint=hint)
    if target == Path.cwd():  # the process would keep the deleted folder as its working folder
        raise FormatError("exists", f"{path} is the working folder", hint=hint)


def _temporary_name(path: Path) -> Path:
    # File names have a maximum length, so only a part of the name is repeated.
    return path.with_name(f".{path.name[:32]}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def _errors_as_format_error(path: Path) -> Iterator[None]:
    """Re-raise an OSError of the block as FormatError."""
    if "\0" in str(path):
        raise FormatError("file", f"{str(path)!r} is no name to write to")
    try:
        yield
    except OSError as error:
        raise FormatError("file", f"cannot write {path}: {error.strerror or error}") from None
