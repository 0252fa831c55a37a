"""Sections of bytes <-> a file that says what it is, how long it should be, and whether it was damaged.

    magic line, version, length of every section      104 bytes
    labels, ends, hops, entries, plans                int32, little-endian
    ids, names, values, patterns                      JSON in UTF-8
    checksum                                          blake2b (32 bytes) of everything before it

What the sections mean is not known here. All are read into one buffer, of which each is a part.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, NoReturn

from pathcast.errors import FormatError
from pathcast.files.atomic_write import atomic_file

__all__ = ["read_sections", "write_sections"]

_MAGIC: Final = b"pathcast subscriptions\n\0"
_VERSION: Final = 1
_START: Final = struct.Struct("<24sQ")  # so much is the same in every version
_LENGTHS: Final = struct.Struct("<9Q")
_CHECKSUM: Final = 32


def write_sections(sections: Sequence[memoryview], place: Path) -> None:
    """Write all sections or nothing; FormatError if they cannot be written."""
    start = _START.pack(_MAGIC, _VERSION) + _LENGTHS.pack(*map(len, sections))
    checksum = hashlib.blake2b(start, digest_size=_CHECKSUM)
    with atomic_file(place) as stream:
        stream.write(start)
        for section in sections:
            checksum.update(section)
            stream.write(section)
        stream.write(checksum.digest())


def read_sections(path: str | os.PathLike[str]) -> list[memoryview]:
    """The sections of a file, as they were written; FormatError if there is none, or it was damaged."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened: a pipe would wait
            hint = "name the file that Matcher.save wrote"
            raise FormatError("file", f"cannot read {os.fspath(path)}: it is no file", hint=hint)
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            start = stream.read(_START.size)
            _check_start(start)
            start += stream.read(_LENGTHS.size)
            lengths = _lengths(start, size)
            # Read, not mapped: whoever shortens a mapped file kills those who look at it.
            rest = stream.read(size - len(start))
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        said = (isinstance(error, OSError) and error.strerror) or str(error)
        raise FormatError("file", f"cannot read {os.fspath(path)}: {said}") from None
    if len(start) + len(rest) < size:  # it was shortened this very moment
        _truncated(len(start) + len(rest), size)
    body = memoryview(rest)
    checksum = hashlib.blake2b(start, digest_size=_CHECKSUM)
    checksum.update(body[:-_CHECKSUM])
    if checksum.digest() != body[-_CHECKSUM:]:
        raise FormatError(
            "checksum",
            "the checksum is wrong: the file was changed or damaged after it was written",
            hint="copy it again, or save the subscriptions again",
        )
    bounds = pairwise(accumulate(lengths, initial=0))
    return [body[first:end] for first, end in bounds]


def _check_start(start: bytes) -> None:
    """Refuse what is no such file, or of a version that is not known here."""
    if not start or not _MAGIC.startswith(start[: len(_MAGIC)]):
        hint = "subscriptions that Matcher.save wrote are expected here"
        if start.startswith(b"\x1f\x8b"):
            hint = "it looks like gzip: unpack it first"
        found = "is not one of saved subscriptions" if start else "is empty"
        raise FormatError("format", f"the file {found}", hint=hint)
    if len(start) < _START.size:
        _truncated(len(start), None)
    _, version = _START.unpack(start)
    if version != _VERSION:
        raise FormatError(
            "version",
            f"the file is of version {version}, and only version {_VERSION} is known here",
            hint="use the pathcast that wrote it, or add the subscriptions here anew and save them",
        )


def _lengths(start: bytes, size: int) -> tuple[int, ...]:
    """The lengths of the sections, which fill the file."""
    if len(start) < _START.size + _LENGTHS.size:
        _truncated(len(start), None)
    lengths: tuple[int, ...] = _LENGTHS.unpack_from(start, _START.size)
    wanted = len(start) + sum(lengths) + _CHECKSUM
    if size < wanted:
        _truncated(size, wanted)
    if size > wanted:
        raise FormatError(
            "trailing",
            f"{size - wanted} bytes follow after the end of the subscriptions",
            hint="copy it again, or save the subscriptions again",
        )
    return lengths


def _truncated(size: int, wanted: int | None) -> NoReturn:
    of = "" if wanted is None else f" of {wanted}"
    raise FormatError(
        "truncated",
        f"the file ends after {size}{of} bytes",
        hint="copy it again, or save the subscriptions again",
    )
