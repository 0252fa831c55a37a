"""The DOCUMENT arguments of a command -> documents to read, one after the other.

A file is itself, `-` is standard input, and a folder is every file below it:

* in the order of their names, folder by folder, so that two runs give the same order everywhere;
* hidden files too: what lies in a folder of documents is a document, and one that is not gets its
  error instead of being passed over in silence;
* links to files are followed, links to folders below the argument are not (they may lead in circles);
* pipes, sockets and devices below a folder are no files. Given as arguments of their own they are read.

Only names are held, of one folder at each level; bytes are read when `read` is called and belong to the
caller. An argument that does not exist is a `FormatError` before anything is read. A file that cannot
be read (no permission, gone since) is a `DocumentError` from its own `read`: one bad document among many.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pathcast.errors import DocumentError, FormatError

__all__ = ["DocumentFile", "iter_documents"]


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A document that can be read: `name` is what the command was given, or leads from it."""

    name: str
    read: Callable[[], bytes]


def iter_documents(
    arguments: Iterable[str | os.PathLike[str]],
    *,
    limit: int | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[DocumentFile]:
    """The documents that the arguments name; FormatError at once if one does not exist.

    With a `limit`, no more than one byte over it is read of a document: enough for whoever checks
    sizes to see that it is too large, without holding a file of any size.
    """
    names = [os.fspath(argument) for argument in arguments]
    if names.count("-") > 1:
        raise FormatError("file", "standard input (-) is given twice")
    for name in names:
        try:
            if name != "-":
                Path(name).stat()
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise FormatError("file", f"{name}: {said}") from None
    return _documents(names, limit, stdin)


def _documents(
    names: list[str], limit: int | None, stdin: BinaryIO | None
) -> Iterator[DocumentFile]:
    for name in names:
        if name == "-":
            yield DocumentFile("-", functools.partial(_read_stdin, stdin, limit))
        elif Path(name).is_dir():
            yield from _below(name, limit)
        else:
            yield DocumentFile(name, functools.partial(_read, name, limit))


def _below(top: str, limit: int | None) -> Iterator[DocumentFile]:
    waiting: list[str | os.DirEntry[str]] = [top]  # a stack: a folder's entries, the first on top
    while waiting:
        entry = waiting.pop()
        name = os.fspath(entry)
        if isinstance(entry, str) or entry.is_dir(follow_symlinks=False):
            try:
                with os.scandir(name) as entries:
                    found = sorted(entries, key=lambda one: os.fsencode(one.name), reverse=True)
            except OSError as error:
                yield DocumentFile(name, functools.partial(_fail, error))
            else:
                waiting += found
        elif _is_document(entry):
            yield DocumentFile(name, functools.partial(_read, name, limit))


def _is_document(entry: os.DirEntry[str]) -> bool:
    """A file, or a link that leads nowhere, which is worth an error."""
    try:
        return entry.is_file() or not Path(entry).exists()
    except OSError:  # a link to itself, or into a folder that is closed to us
        return True


def _read(name: str, limit: int | None) -> bytes:
    try:
        with Path(name).open("rb") as stream:
            return stream.read(-1 if limit is None else limit + 1)
    except OSError as error:
        return _fail(error)


def _read_stdin(stdin: BinaryIO | None, limit: int | None) -> bytes:
    try:
        if stdin is None and sys.stdin is None:  # `pathcast ... <&-`
            raise OSError("standard input is closed")
        return (stdin or sys.stdin.buffer).read(-1 if limit is None else limit + 1)
    except OSError as error:
        return _fail(error)


def _fail(error: OSError) -> bytes:
    raise DocumentError("unreadable", error.strerror or str(error)) from None
