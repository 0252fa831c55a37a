"""The container format of a snapshot.

    magic line, version, length of every section      104 bytes
    labels, ends, hops, entries, plans                int32, little-endian
    ids, names, values, patterns                      JSON in UTF-8
    checksum                                          blake2b (32 bytes) of all bytes before it

The container does not interpret its sections. The reader loads them into one buffer and returns
views of it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from io import SEEK_END
from itertools import accumulate, pairwise
from typing import BinaryIO, Final, NoReturn

from pathcast.errors import FormatError

__all__ = ["read_sections", "write_sections"]

_MAGIC: Final = b"pathcast subscriptions\n\0"
_VERSION: Final = 1
_START: Final = struct.Struct("<24sQ")  # magic and version: the same in every version
_LENGTHS: Final = struct.Struct("<9Q")
_CHECKSUM_BYTES: Final = 32


def write_sections(sections: Sequence[memoryview], stream: BinaryIO) -> None:
    """Write the sections to a stream."""
    start = _START.pack(_MAGIC, _VERSION) + _LENGTHS.pack(*map(len, sections))
    checksum = hashlib.blake2b(start, digest_size=_CHECKSUM_BYTES)
    stream.write(start)
    for section in sections:
        checksum.update(section)
        stream.write(section)
    stream.write(checksum.digest())


def read_sections(stream: BinaryIO) -> list[memoryview]:
    """Return the sections in a seekable stream; raise FormatError if they are damaged."""
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    start = stream.read(_START.size)
    _check_start(start)
    start += stream.read(_LENGTHS.size)
    lengths = _lengths(start, size)
    # Read, not mapped: truncating a mapped file kills its readers with SIGBUS.
    body = stream.read(size - len(start))
    if len(start) + len(body) < size:  # truncated meanwhile
        _raise_truncation(len(start) + len(body), size)
    view = memoryview(body)
    checksum = hashlib.blake2b(start, digest_size=_CHECKSUM_BYTES)
    checksum.update(view[:-_CHECKSUM_BYTES])
    if checksum.digest() != view[-_CHECKSUM_BYTES:]:
        raise FormatError(
            "checksum",
            "the checksum is wrong: the file was changed or damaged after it was written",
            hint="copy it again, or save the subscriptions again",
        )
    bounds = pairwise(accumulate(lengths, initial=0))
    return [view[first:end] for first, end in bounds]


def _check_start(start: bytes) -> None:
    """Reject a file with another magic line or of another version."""
    if not start or not _MAGIC.startswith(start[: len(_MAGIC)]):
        hint = "subscriptions that Matcher.save wrote are expected here"
        if start.startswith(b"\x1f\x8b"):
            hint = "it looks like gzip: unpack it first"
        problem = "is not one of saved subscriptions" if start else "is empty"
        raise FormatError("format", f"the file {problem}", hint=hint)
    if len(start) < _START.size:
        _raise_truncation(len(start), None)
    _, version = _START.unpack(start)
    if version != _VERSION:
        raise FormatError(
            "version",
            f"the file is of version {version}, and only version {_VERSION} is known here",
            hint="use the pathcast that wrote it, or add the subscriptions here anew and save them",
        )


def _lengths(start: bytes, size: int) -> tuple[int, ...]:
    """Return the lengths of the sections; reject them unless they add up to the file's size."""
    if len(start) < _START.size + _LENGTHS.size:
        _raise_truncation(len(start), None)
    lengths: tuple[int, ...] = _LENGTHS.unpack_from(start, _START.size)
    expected = len(start) + sum(lengths) + _CHECKSUM_BYTES
    if size < expected:
        _raise_truncation(size, expected)
    if size > expected:
        raise FormatError(
            "trailing",
            f"{size - expected} bytes follow after the end of the subscriptions",
            hint="copy it again, or save the subscriptions again",
        )
    return lengths


def _raise_truncation(size: int, expected: int | None) -> NoReturn:
    of = "" if expected is None else f" of {expected}"
    raise FormatError(
        "truncated",
        f"the file ends after {size}{of} bytes",
        hint="copy it again, or save the subscriptions again",
    )
