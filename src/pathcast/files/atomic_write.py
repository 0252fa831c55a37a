"""All or nothing: a file or a folder is written beside its place and moved there when it is complete.

An error or an interruption removes the draft, so that nothing half-written ever stands under the final name and
whatever was there before is not harmed. A file that was there is replaced. A folder is never merged into:
its place must be free or an empty folder, because documents of an earlier run would pass for those of this one.

What the system refuses (no such folder, no permission, a full disk) is a `FormatError` of kind `file`.
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
    """A stream whose bytes become the file's when the block ends well, and vanish if it does not.

    They are packed if the name ends with `.gz`; the header has no date, so that equal bytes give equal files.
    """
    with _told(path):
        place = Path(os.path.realpath(path))  # a link to a file stays a link
        if place.exists() and not place.is_file():
            with (
                path.open("wb") as raw,
                _packed(path, raw) as stream,
            ):  # a device, a pipe: never replaced
                yield stream
            return
        draft = _beside(place)
        try:
            with draft.open("xb") as raw, _packed(path, raw) as stream:
                yield stream
            if place.exists():
                shutil.copymode(place, draft)
            draft.replace(place)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _packed(path: Path, raw: BinaryIO) -> Iterator[BinaryIO]:
    if path.name.lower().endswith(".gz"):
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
            yield cast(BinaryIO, packed)
    else:
        yield raw


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder that gets its place when the block ends well, and vanishes with its files if it does not."""
    with _told(path):
        place = Path(os.path.realpath(path))  # a link to an empty folder stays a link
        old = place.exists()
        if old:
            _refuse_taken(path, place)
        draft = _beside(place)
        try:
            draft.mkdir()
            yield draft
            if old:
                shutil.copymode(place, draft)
            draft.replace(place)  # the system refuses if somebody filled it in the meantime
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def _refuse_taken(path: Path, place: Path) -> None:
    hint = "name a folder that is not there yet, or an empty one"
    if not place.is_dir():
        raise FormatError("exists", f"{path} is not a folder", hint=hint)
    with os.scandir(place) as entries:
        if next(entries, None) is not None:
            raise FormatError("exists", f"the folder {path} is not empty", hint=hint)
    if place == Path.cwd():  # it would be replaced under the feet of whoever is in it
        raise FormatError("exists", f"{path} is the working folder", hint=hint)


def _beside(path: Path) -> Path:
    # A name has a longest length, which the additions must not break: little of it is repeated.
    return path.with_name(f".{path.name[:32]}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """An OSError of the block, as the FormatError that it is to the caller."""
    if "\0" in str(path):
        raise FormatError("file", f"{str(path)!r} is no name to write to")
    try:
        yield
    except OSError as error:
        raise FormatError("file", f"cannot write {path}: {error.strerror or error}") from None
